"""Tests of `lethe_app.brain.languages`."""
