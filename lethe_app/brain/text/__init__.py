"""Text processing of chat messages: sentences, quotations, spelling and fingerprints."""
