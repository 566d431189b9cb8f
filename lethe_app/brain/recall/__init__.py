"""Selection of memories for recall, and their text form in a prompt."""
