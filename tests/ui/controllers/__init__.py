"""Tests of `lethe_app.ui.controllers`."""
