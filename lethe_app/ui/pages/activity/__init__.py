"""What ran in the background, and when."""
