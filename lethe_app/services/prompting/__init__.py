"""Assembly of prompts, with a prefix that stays in the KV cache from turn to turn."""
