"""Answers completed by the questions they answer."""
