"""Tests of `lethe_app.ui.shell`."""
