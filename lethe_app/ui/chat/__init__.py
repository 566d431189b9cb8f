"""Widgets around the transcript: composer, memory panel and cards."""
