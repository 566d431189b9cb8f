"""Backups of a whole data folder: what belongs to one, its file, its contents, and restoring it."""
