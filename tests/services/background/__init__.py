"""Tests of `lethe_app.services.background`."""
