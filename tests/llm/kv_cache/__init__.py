"""Tests of `lethe_app.llm.kv_cache`."""
