"""Lethe: persona-driven roleplay chat with local models, whose personas truly remember."""
