"""Notebooks of personas: entries, recall and undo."""
