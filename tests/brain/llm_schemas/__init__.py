"""Tests of `lethe_app.brain.llm_schemas`."""
