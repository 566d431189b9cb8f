"""Speech: voices, queue of sentences and spoken style of replies, and dictation."""
