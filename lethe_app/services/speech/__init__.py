"""Speech of replies: voices, queue of sentences, and the spoken style."""
