"""Widgets beside the transcript: composer, memory panel, cards."""
