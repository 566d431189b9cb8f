"""What the persona does while you are away."""
