"""Layout and painting of messages."""
