"""Tests of `lethe_app.ui.pages`."""
