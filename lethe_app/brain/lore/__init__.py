"""World Info engine: activation of entries by the keywords in a text."""
