"""Worlds as the user edits, checks and tries them."""
