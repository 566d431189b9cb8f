"""Import of files of other programs: reading, preview, storing and undo."""
