"""Tests of `lethe_app.services.sessions`."""
