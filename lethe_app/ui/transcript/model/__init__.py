"""Qt model of the messages of a session."""
