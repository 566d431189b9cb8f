"""Tests of `lethe_app.brain.lore`."""
