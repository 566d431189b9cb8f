"""Page “Facts”: what a persona knows about the user."""
