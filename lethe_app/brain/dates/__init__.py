"""Dates of sentences that are stored: relative ones are replaced by absolute ones."""
