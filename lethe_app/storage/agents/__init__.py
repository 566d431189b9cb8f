"""Runs of background tasks and the log of what they changed."""
