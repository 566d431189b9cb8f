"""Checks that a fact written by a model is supported by the messages that it quotes."""
