"""Token counts in the main process."""
