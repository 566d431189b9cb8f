"""Tasks that run while the user is away, their log and their undo."""
