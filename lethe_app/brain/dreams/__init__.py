"""Consolidation of memories and inference of preferences while the user is away."""
