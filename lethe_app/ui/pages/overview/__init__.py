"""Page “Overview”: facts by month and conversation."""
