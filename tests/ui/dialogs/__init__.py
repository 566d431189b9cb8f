"""Tests of `lethe_app.ui.dialogs`."""
