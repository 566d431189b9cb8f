"""The same wishes from a terminal."""
