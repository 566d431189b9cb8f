"""Tests of `lethe_app.services.scheduling`."""
