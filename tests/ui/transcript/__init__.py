"""Tests of `lethe_app.ui.transcript`."""
