"""Page “Activity”: history of background tasks, their cost and their results."""
