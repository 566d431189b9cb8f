"""Tests of `lethe_app.services.search`."""
