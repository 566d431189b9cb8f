"""One date grammar: the times that a text names, days to come, and calendar ranges; its words are tables of a language."""
