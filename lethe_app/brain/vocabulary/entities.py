"""Classes of words of `word_classes.toml` as regular expressions: relatives, animals, occupations, health conditions,
possessions, skills, events.
"""

from __future__ import annotations

from lethe_app.language_tables import lazy_words, word_class

NOT_OCCUPATIONS = lazy_words("not_occupations")
"""Words that end like an occupation (-er, -or) and are none."""
_CLASSES = {"LIFE_EVENT_VERBS": "LIFE_EVENT", "RELATIVE_OR_ANIMAL": "RELATION"}


def __getattr__(name: str) -> str:
    """Return a class of words when it is first asked for: `RELATIVES` is the class RELATIVE."""
    if not name.isupper() or name.startswith("_"):
        raise AttributeError(name)
    return word_class(_CLASSES.get(name) or name.removesuffix("S"))
