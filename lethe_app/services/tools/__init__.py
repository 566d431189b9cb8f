"""Tool calls of a model: registry, permission and execution."""
