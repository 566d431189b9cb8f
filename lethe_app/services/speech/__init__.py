"""Speech: what the user says, as text."""
