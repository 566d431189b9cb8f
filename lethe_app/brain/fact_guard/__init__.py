"""Checks that a fact written by a model is said by the lines it quotes."""
