"""Structured answers of a language model, and whether a model qualifies for them."""
