"""Tests of `lethe_app.services.tools`."""
