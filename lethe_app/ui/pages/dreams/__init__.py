"""What was consolidated while the user was away."""
