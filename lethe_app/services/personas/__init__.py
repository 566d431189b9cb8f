"""Personas as they are edited, bundled and scheduled."""
