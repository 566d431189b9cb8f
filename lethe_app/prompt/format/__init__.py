"""Chat templates, instruct presets, and parsing of thinking and tool calls in replies."""
