"""Sampler and instruct presets."""
