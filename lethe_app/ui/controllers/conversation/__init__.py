"""Controllers of the session on display: its messages, replies and drafts."""
