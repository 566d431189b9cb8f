"""Notebooks: their text format, the assignment of conclusions and messages to a notebook, and the splitting of long ones."""
