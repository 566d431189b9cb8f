"""Sessions: creation, editing, timeout, archiving and summaries."""
