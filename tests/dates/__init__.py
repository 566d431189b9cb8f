"""Tests of `lethe_app.dates`."""
