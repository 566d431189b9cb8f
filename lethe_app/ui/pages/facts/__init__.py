"""What a persona knows about the user."""
