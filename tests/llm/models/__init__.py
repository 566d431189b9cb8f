"""Tests of `lethe_app.llm.models`."""
