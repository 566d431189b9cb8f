"""Mood, goals, journal and reminders of a persona."""
