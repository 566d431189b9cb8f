"""Schema of the tables added since version 3, by subject."""
