"""Reusable widgets without dependency on services."""
