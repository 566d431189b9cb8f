"""Runs of background tasks, and the log of the changes they made."""
