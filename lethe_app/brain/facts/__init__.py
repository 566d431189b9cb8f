"""Comparison, updating, merging and ranking of known facts."""
