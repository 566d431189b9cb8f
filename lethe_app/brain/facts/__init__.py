"""Comparison, updating, merging and ranking of facts."""
