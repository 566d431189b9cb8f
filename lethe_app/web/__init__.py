"""Reaching the internet, when it is allowed."""
