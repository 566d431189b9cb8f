"""World Info engine: which entries a text activates."""
