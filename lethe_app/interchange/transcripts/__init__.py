"""Chat transcripts of other programs: reading and writing."""
