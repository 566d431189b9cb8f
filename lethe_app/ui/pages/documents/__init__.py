"""Page “Documents”."""
