"""Pages that cover the conversation: their frame, registry and undo commands."""
