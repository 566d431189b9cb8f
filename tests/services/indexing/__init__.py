"""Tests of `lethe_app.services.indexing`."""
