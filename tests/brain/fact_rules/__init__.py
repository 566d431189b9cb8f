"""Tests of `lethe_app.brain.fact_rules`."""
