"""Lethe: roleplay chat with personas that have a long-term memory, on local language models."""
