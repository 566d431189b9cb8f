"""Sentences, quotations and spelling of chat messages."""
