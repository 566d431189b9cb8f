"""Statements of speakers about themselves, and their collection while a session is read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from lethe_app.domain.facts import FactKind
from lethe_app.searchable_text import fold, split_words


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
    """Statements found in one pass over the messages."""

    speakers: frozenset[str]
    """Names of the speakers, which are not accepted as names of anybody else."""
    statements: dict[str, SpeakerStatement] = field(default_factory=dict)
    """Statements by their sorted words."""

    def add(self, statement: SpeakerStatement) -> None:
        """Add a statement. If it is repeated, the first wording stays and gets the ids of both messages."""
        ending = " is {}." if statement.key == "name" else " called {}."
        if statement.key.endswith("name") and any(statement.text.endswith(ending.format(name)) for name in self.speakers):
            return
        words = _sorted_words(statement.text)
        if earlier := self.statements.get(words):
            ids = tuple(dict.fromkeys((*earlier.message_ids, *statement.message_ids)))
            self.statements[words] = replace(earlier, message_ids=ids)
        elif statement.subject:
            self.statements[words] = statement

    def remove(self, statement: SpeakerStatement) -> None:
        """Remove a statement, if it is there."""
        self.statements.pop(_sorted_words(statement.text), None)

    def of_message(self, message_id: UUID) -> list[SpeakerStatement]:
        """Return the statements that rest on a message."""
        return [one for one in self.statements.values() if message_id in one.message_ids]


def _sorted_words(text: str) -> str:
    return " ".join(sorted(map(fold, split_words(text))))
