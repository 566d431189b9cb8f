"""What a persona brings up unasked."""
