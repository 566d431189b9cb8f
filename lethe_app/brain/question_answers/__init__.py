"""Completion of short answers by the questions they answer."""
