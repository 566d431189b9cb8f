"""Settings with their defaults, bounds and descriptions."""
