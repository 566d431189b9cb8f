"""Passages with vectors and full-text index, and the queue of records to index."""
