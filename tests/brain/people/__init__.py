"""Tests of `lethe_app.brain.people`."""
