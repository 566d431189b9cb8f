"""Tests of `lethe_app.prompt.format`."""
