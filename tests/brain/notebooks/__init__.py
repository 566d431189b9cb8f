"""Tests of `lethe_app.brain.notebooks`."""
