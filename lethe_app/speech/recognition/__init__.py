"""Speech recognition: sound in, text out, in a process of its own."""
