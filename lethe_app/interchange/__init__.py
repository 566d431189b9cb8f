"""Files that people hand to each other: bytes in, our values out."""
