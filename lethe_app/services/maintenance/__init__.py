"""Checks, backups, trash, and a second start of the program."""
