"""Web access: the gate for all requests, look-ups during a conversation, and research."""
