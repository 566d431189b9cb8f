"""Tests of `lethe_app.brain.text`."""
