"""Extractive titles, summaries, keywords and goals of a session, without a model."""
