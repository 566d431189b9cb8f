"""Reuse, editing and saving of the KV cache."""
