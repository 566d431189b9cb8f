"""Character cards of other programs: reading and writing."""
