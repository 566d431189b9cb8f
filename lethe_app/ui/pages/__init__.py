"""Pages over the conversation: their frame, registry and undo commands."""
