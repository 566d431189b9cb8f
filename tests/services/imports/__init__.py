"""Import of files of other programs."""
