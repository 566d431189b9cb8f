"""Background tasks of personas: what runs while the user is away."""
