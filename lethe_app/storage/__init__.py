"""What survives a restart: the only SQL, and the layout of our own files."""
