"""Memories the user marked as irrelevant."""
