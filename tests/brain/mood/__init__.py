"""Tests of `lethe_app.brain.mood`."""
