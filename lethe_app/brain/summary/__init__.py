"""Extractive titles, summaries, keywords and plans of a conversation."""
