"""Page “Irrelevant memories”: memories marked as irrelevant, and disliked replies."""
