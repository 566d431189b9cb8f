"""Who is who in one speaker's life, and what is told of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from uuid import UUID

from lethe_app.brain.vocabulary.kin_words import fits
from lethe_app.retrieval.query_terms import cut, fold

_TITLED = re.compile(r"(?:(?P<man>mr)|mrs|ms|miss)\b", re.IGNORECASE)


@dataclass
class Person:
    """Somebody of the speaker's life: “daughter”, or by way of another “daughter Aoife's partner”."""

    name: str
    who: str
    source: UUID

    @property
    def full(self) -> str:
        """Return such as “my daughter Aoife”."""
        return f"my {self.who} {self.name}".strip()


class PersonStatement:
    """What a message tells of somebody, as a first-person clause, with its attribute and the earlier messages it needs."""

    def __init__(self, clause: str, key: str, sources: tuple[UUID, ...] = (), *names: str) -> None:
        self.clause, self.key, self.sources, self.names = clause, key, sources, names


@dataclass
class Acquaintances:
    """Those whom one speaker has named."""

    known: dict[str, Person] = field(default_factory=dict)
    plural: str = ""
    """Whom “they” may mean, such as “kids”."""

    def learn(self, name: str, who: str, source: UUID) -> Person:
        """Note whose name it is, unless that is known."""
        return self.known.setdefault(fold(name), Person(name, who, source))

    def known_in(self, text: str) -> list[Person]:
        words = {fold(word.removesuffix("'s")) for word in text.replace("’", "'").split()} | set(map(fold, cut(text)))
        return [person for key, person in self.known.items() if key in words]


def pronouns_of(one: Person) -> frozenset[str]:
    """Return which of “he” and “she” may mean this one."""
    if titled := _TITLED.match(one.name):
        return frozenset({"he" if titled["man"] else "she"})
    return fits(one.who.rsplit("'s ", 1)[-1])
