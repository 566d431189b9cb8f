"""Mood model: moodlets, the events that change them, and their decay."""
