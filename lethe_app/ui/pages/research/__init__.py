"""Page “Research”: web research in several rounds, and its reports."""
