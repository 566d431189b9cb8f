"""Tests of `lethe_app.services.web`."""
