"""Page “Prompt inspector”: the prompt of a reply by section, and how it differs from the previous prompt."""
