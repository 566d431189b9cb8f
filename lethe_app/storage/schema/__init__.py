"""SQL of the tables, by subject."""
