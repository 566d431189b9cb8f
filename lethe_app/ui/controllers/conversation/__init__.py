"""Controllers of the conversation on display: its messages, replies and drafts."""
