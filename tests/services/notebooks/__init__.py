"""Tests of `lethe_app.services.notebooks`."""
