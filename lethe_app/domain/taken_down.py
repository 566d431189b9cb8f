"""What was taken down of conversations before the user changed them, so that all of it can be taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from lethe_app.domain.archive import SessionPart

Value = str | int | float | None
Row = Mapping[str, Value]


class Place(NamedTuple):
    """Where a message stood."""

    id: str
    session: str
    parent: str | None
    seq: int


@dataclass(frozen=True)
class Before:
    """Conversations before they were split or joined."""

    kept: UUID
    """The first of the conversations that there were."""
    sessions: tuple[UUID, ...]
    """All that there were, in the order in which they began."""
    made: tuple[UUID, ...]
    """Those that were not there yet."""
    rows: Mapping[str, Sequence[Row]]
    """Their records, by where they lie."""
    places: Sequence[Place]
    sources: Mapping[str, str]
    """The conversations each fact was taken from, as JSON."""

    @property
    def after(self) -> tuple[UUID, ...]:
        """The conversations that there are since then."""
        return (self.kept, *self.made)


@dataclass(frozen=True)
class Told:
    """One part of what is told of a conversation, and who had made it."""

    session: UUID
    part: SessionPart
    values: Mapping[str, Row]
    """By where they lie."""
    record: Row | None
    """None where nobody had made it."""
