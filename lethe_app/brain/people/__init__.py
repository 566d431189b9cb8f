"""People and pets of a speaker: who is introduced, and whom a pronoun means."""
