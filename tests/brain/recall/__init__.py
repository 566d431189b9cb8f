"""Tests of `lethe_app.brain.recall`."""
