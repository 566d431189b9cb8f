"""Reusable widgets that know no service."""
