"""Page “Settings”."""
