"""Chat templates, instruct presets, and parsing of replies."""
