"""Every setting with its default, bounds and description."""
