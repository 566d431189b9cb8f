"""Tests of `lethe_app.llm.tokenizer`."""
