"""Tests of `lethe_app.brain.facts`."""
