"""Markdown, actions and dialogue of a message."""
