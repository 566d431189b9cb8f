"""Composition root: builds every service once and defines the order in which they are closed."""
