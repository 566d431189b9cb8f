"""Lorebooks of other programs: reading and writing."""
