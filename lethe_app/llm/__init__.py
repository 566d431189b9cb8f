"""Talking to a model that lives in another process."""
