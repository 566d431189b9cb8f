"""Speech: recognition of what the user says."""
