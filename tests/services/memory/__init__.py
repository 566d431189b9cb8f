"""Tests of `lethe_app.services.memory`."""
