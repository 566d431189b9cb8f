"""Tests of `lethe_app.services.chat`."""
