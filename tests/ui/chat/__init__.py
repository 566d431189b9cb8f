"""Tests of `lethe_app.ui.chat`."""
