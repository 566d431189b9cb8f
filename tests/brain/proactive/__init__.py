"""Tests of `lethe_app.brain.proactive`."""
