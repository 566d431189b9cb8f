"""Recall for a turn, and editing of memories and facts by the user, tasks and tools."""
