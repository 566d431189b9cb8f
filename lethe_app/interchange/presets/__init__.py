"""Presets of SillyTavern: reading and writing."""
