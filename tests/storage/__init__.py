"""Tests of what survives a restart."""
