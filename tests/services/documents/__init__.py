"""Tests of `lethe_app.services.documents`."""
