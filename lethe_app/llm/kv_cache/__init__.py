"""Reuse, editing and saving of the KV cache of a chat context."""
