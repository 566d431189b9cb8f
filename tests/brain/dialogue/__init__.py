"""Tests of `lethe_app.brain.dialogue`."""
