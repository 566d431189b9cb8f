"""Detection of the language of messages, and of requests for another language."""
