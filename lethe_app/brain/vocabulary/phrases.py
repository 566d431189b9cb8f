"""Phrases of `word_classes.toml` as regular expressions: numbers, times, relations, likings."""

from __future__ import annotations

from lethe_app.language_tables import word_class


def __getattr__(name: str) -> str:
    """Return a phrase when it is first asked for."""
    if not name.isupper() or name.startswith("_"):
        raise AttributeError(name)
    return word_class({"RELATIVE_OR_ANIMAL": "RELATION"}.get(name, name))
