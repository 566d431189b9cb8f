"""Tests of `lethe_app.retrieval.vectors`."""
