"""Tests of `lethe_app.services.extraction`."""
