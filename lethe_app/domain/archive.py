"""What an archived session is to get, part by part, and how far each part has come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from lethe_app.domain.facts import MadeBy


class SessionPart(StrEnum):
    """Filled in this order; each is a call of its own, so that one that fails spoils no other."""

    TITLE = "title"
    SUMMARY = "summary"
    KEYWORDS = "keywords"
    GOALS = "goals"
    RELEVANCE = "relevance"
    ROLEPLAY = "roleplay"
    FACTS = "facts"


class PartState(StrEnum):
    """How far a part has come."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"
    """The model could not, however often it was asked; what the rules made of it stands."""


@dataclass(frozen=True)
class PartRecord:
    """One part of one session."""

    session: UUID
    part: SessionPart
    state: PartState = PartState.PENDING
    made_by: MadeBy = MadeBy.RULES
    """Who made what stands there now; meaningless before anything does."""
    maker: str = ""
    """The model's name, empty for rules and people."""
    tries: int = 0
    trouble: str = ""
    """Why it failed the last time."""
