"""Persistent storage: the SQLite database, which only this package accesses by SQL, and the layout of JSON and Markdown
files.
"""
