"""Layout and painting of a message."""
