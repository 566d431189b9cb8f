"""Tests of `lethe_app.ui.core`."""
