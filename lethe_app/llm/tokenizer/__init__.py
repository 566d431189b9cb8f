"""Token counting in the main process, without the worker."""
