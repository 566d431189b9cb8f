"""Mood model: how a persona feels, what changes it and how it fades."""
