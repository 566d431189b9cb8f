"""Vector index and the columns of the passages it points at."""
