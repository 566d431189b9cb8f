"""Tests of `lethe_app.storage.index`."""
