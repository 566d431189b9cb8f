"""Page “While you were away”: history of background tasks, their cost and their results."""
