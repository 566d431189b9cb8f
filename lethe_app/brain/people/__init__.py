"""People and pets of a speaker: who is introduced, and to whom a pronoun refers."""
