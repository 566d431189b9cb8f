"""Tool calls of a model: their registry, permission and execution."""
