"""The persona editor."""
