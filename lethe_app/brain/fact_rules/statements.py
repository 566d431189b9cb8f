"""Statements of speakers about themselves, and their collection while a session is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from lethe_app.brain.fact_rules.pronouns import Referent
from lethe_app.brain.people.known_people import KnownPeople, is_run_on, is_same_without_name, makes_redundant
from lethe_app.brain.vocabulary.phrases import RELATIVE_OR_ANIMAL
from lethe_app.domain.facts import FactKind
from lethe_app.retrieval.query_terms import fold, split_words

_NAMED_RELATION = re.compile(
    rf"(?:'s|their| an?) (?P<who>(?:[a-z-]+ )?{RELATIVE_OR_ANIMAL}),?(?: is)?(?: (?:called|named))?,? "
    rf"(?P<name>[A-Z][^\W\d_]+)\b"
)
"""Name with a relation, as in “Tomas's daughter Emma …”, “… a dog called Max”."""


@dataclass(frozen=True)
class SpeakerStatement:
    """Lasting statement of a speaker about themselves, as a third-person sentence that is understood alone."""

    text: str
    """One third-person sentence with a full stop."""
    subject: str
    """Name of the speaker."""
    message_ids: tuple[UUID, ...]
    """Ids of the messages that state it; for an answer the question comes first."""
    time: datetime
    key: str = ""
    """Attribute key such as “home”: a newer statement of the same subject and key supersedes it. Empty if statements do not
    exclude each other.
    """
    kind: FactKind = FactKind.OTHER
    in_story: bool = False
    """True if it was made in character; it then belongs to the story of this session only."""
    ended_statements: tuple[str, ...] = ()
    """Sentences in the third person that no longer hold because of it, such as “Tomas wants to run Berlin.” The caller that
    stores facts supersedes the known ones with these texts.
    """


@dataclass
class StatementCollection:
    """Statements found in one pass over the messages, and whom and what they have mentioned so far."""

    speakers: frozenset[str]
    """Names of the speakers, which are not accepted as names of anybody else."""
    statements: dict[str, SpeakerStatement] = field(default_factory=dict)
    last_mentions: dict[str, tuple[int, list[Referent]]] = field(default_factory=dict)
    """By speaker: the index of their last message and whom they mentioned in it."""
    relations_by_name: dict[tuple[str, str], str] = field(default_factory=dict)
    """Relation by speaker and name, such as “daughter”."""
    people_by_speaker: dict[str, KnownPeople] = field(default_factory=dict)

    def add(self, statement: SpeakerStatement) -> None:
        """Add a statement. If it is repeated, the first wording stays and gets the ids of both messages."""
        if statement.key == "name" and any(statement.text.endswith(f" is {name}.") for name in self.speakers):
            return
        if statement.key.endswith(" name") and any(statement.text.endswith(f" called {name}.") for name in self.speakers):
            return
        normalized = " ".join(sorted(map(fold, split_words(statement.text))))
        if normalized in self.statements:
            earlier = self.statements[normalized]
            self.statements[normalized] = replace(
                earlier, message_ids=tuple(dict.fromkeys((*earlier.message_ids, *statement.message_ids)))
            )
        elif statement.subject:
            self.statements[normalized] = statement
        if relation_match := _NAMED_RELATION.search(statement.text):
            self.relations_by_name[statement.subject, relation_match["name"]] = relation_match["who"]
            if relation_match.start() == len(statement.subject):
                self.people_by_speaker.setdefault(statement.subject, KnownPeople()).add_person(
                    relation_match["name"], relation_match["who"], statement.message_ids[-1]
                )

    def merge(self, statement: SpeakerStatement, names: Sequence[str]) -> None:
        """Add a statement about people of these names in place of worse wordings from the same message."""
        for key, earlier in [
            (key, one) for key, one in self.statements.items() if one.message_ids[-1] == statement.message_ids[-1]
        ]:
            if is_run_on(earlier.text, names) or is_same_without_name(earlier.text, statement.text, names):
                del self.statements[key]
            elif makes_redundant(earlier.text, statement.text, names):
                return
        self.add(statement)

    def is_possession_known(self, name: str, noun: str) -> bool:
        """Return whether a statement of this speaker already mentions such a thing of theirs."""
        possession = re.compile(rf"(?:'s|their|\ban?|\d|two|three|four) (?:[\w-]+ )*{re.escape(noun)}", re.IGNORECASE)
        return any(statement.subject == name and possession.search(statement.text) for statement in self.statements.values())
