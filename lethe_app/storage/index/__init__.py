"""Passages, their full text, and the queue of what is not indexed yet."""
