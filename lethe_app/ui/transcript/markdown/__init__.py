"""Parser of a message: Markdown, actions and dialogue."""
