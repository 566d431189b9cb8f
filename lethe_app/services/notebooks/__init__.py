"""Writing, recalling and undoing notebook entries."""
