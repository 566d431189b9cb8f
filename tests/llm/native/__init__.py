"""Tests of `lethe_app.llm.engines`."""
