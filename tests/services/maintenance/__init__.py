"""Tests of `lethe_app.services.maintenance`."""
