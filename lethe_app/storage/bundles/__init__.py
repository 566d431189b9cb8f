"""A persona with everything of hers, out of the database and into it."""
