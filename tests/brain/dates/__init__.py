"""Tests of `lethe_app.brain.dates`."""
