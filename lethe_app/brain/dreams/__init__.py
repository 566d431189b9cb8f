"""Dream runs: consolidation of memories and facts, and inference of preferences, while the user is away."""
