"""Tests of `lethe_app.brain.summary`."""
