"""Page “Deep research”: web research in several rounds, and its reports."""
