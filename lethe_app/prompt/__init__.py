"""Assembly of a turn's prompt: macros, sections, token budget, layout, and text that stays stable for the KV cache."""
