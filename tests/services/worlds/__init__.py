"""Tests of `lethe_app.services.worlds`."""
