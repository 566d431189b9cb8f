"""Speech: sentences of a reply as they are spoken, the client of Piper, and recognition of what the user says."""
