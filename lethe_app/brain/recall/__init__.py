"""Which memories may be recalled, and how they read in a prompt."""
