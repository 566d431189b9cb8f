"""Tests of `lethe_app.brain.reading`."""
