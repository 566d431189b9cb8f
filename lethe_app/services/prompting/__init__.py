"""Assembles the prompt of a turn so that its prefix stays in the cache."""
