"""Notebooks of a persona."""
