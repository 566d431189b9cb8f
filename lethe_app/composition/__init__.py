"""Builds every service once and owns their life cycle."""
