"""Pydantic schemas of the structured outputs of a language model, and their validation."""
