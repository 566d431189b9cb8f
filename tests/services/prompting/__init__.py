"""Tests of `lethe_app.services.prompting`."""
