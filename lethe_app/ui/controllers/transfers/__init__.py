"""Import and export of files."""
