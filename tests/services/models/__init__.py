"""Tests of `lethe_app.services.models`."""
