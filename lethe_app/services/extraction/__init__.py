"""Structured output of a language model, and its qualification for extraction."""
