"""Tests of `lethe_app.services.personas`."""
