"""Indexing of passages: full text and embeddings, kept up to date."""
