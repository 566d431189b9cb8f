"""Registry of the people and pets one speaker has named, and the statements about them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from uuid import UUID

from lethe_app.brain.vocabulary.kin_words import possible_pronouns
from lethe_app.retrieval.query_terms import fold, split_words

_TITLED = re.compile(r"(?:(?P<man>mr)|mrs|ms|miss)\b", re.IGNORECASE)


@dataclass
class Person:
    """Person or pet of the speaker. `relation` is the relation: “daughter”, or through another person “daughter Aoife's
    partner”.
    """

    name: str
    relation: str
    message_id: UUID

    @property
    def designation(self) -> str:
        """Full designation, such as “my daughter Aoife”."""
        return f"my {self.relation} {self.name}".strip()


class PersonStatement:
    """Statement of a message about a person, as a first-person clause, with its attribute key and the earlier messages it
    needs.
    """

    def __init__(self, clause: str, key: str, sources: tuple[UUID, ...] = (), *names: str) -> None:
        self.clause, self.key, self.sources, self.names = clause, key, sources, names


@dataclass
class Acquaintances:
    """People and pets one speaker has named, by normalised name."""

    people_by_name: dict[str, Person] = field(default_factory=dict)
    plural_group: str = ""
    """To whom “they” may refer, such as “kids”."""

    def add_person(self, name: str, relation: str, message_id: UUID) -> Person:
        """Register the person with this name, unless the name is known, and return the registered person."""
        return self.people_by_name.setdefault(fold(name), Person(name, relation, message_id))

    def find_people(self, text: str) -> list[Person]:
        """Return the registered people whose names occur in a text."""
        words = {fold(word.removesuffix("'s")) for word in text.replace("’", "'").split()} | set(map(fold, split_words(text)))
        return [person for key, person in self.people_by_name.items() if key in words]


def pronouns_of(person: Person) -> frozenset[str]:
    """Return which of “he” and “she” can refer to the person."""
    if title_match := _TITLED.match(person.name):
        return frozenset({"he" if title_match["man"] else "she"})
    return possible_pronouns(person.relation.rsplit("'s ", 1)[-1])
