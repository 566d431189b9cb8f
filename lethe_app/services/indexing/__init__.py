"""Keeps passages, full text and embeddings current."""
