"""Tests of `lethe_app.brain.dreams`."""
