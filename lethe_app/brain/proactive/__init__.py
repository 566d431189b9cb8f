"""Memories that a persona brings up proactively, and the note at the user's return."""
