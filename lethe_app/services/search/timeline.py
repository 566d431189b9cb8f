"""Timeline of the facts a persona knows about the user, by month and session, with export as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from lethe_app.domain.chat import SessionSummary
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.retrieval.query_terms import WORD


@dataclass(frozen=True)
class TimelineItem:
    """A fact in the timeline."""

    fact: ExtractedFact
    when: datetime
    """Time at which the fact was first stated, in the local time zone."""
    session: UUID | None
    """Session in which the fact was first stated; None if it is not stored any more, or if the user entered the fact."""
    title: str
    """Title of the session, or its first words if it has none; empty without a session."""
    about_user: bool

    @property
    def by_user(self) -> bool:
        """Return whether the user entered the fact directly, in no session."""
        return self.session is None and self.fact.made_by is MadeBy.USER

    @property
    def month(self) -> tuple[int, int]:
        return self.when.year, self.when.month


@dataclass(frozen=True)
class TimelineConversation:
    """Facts of one session within a month."""

    session: UUID | None
    by_user: bool
    """True for facts that the user entered directly, which have no session."""
    title: str
    known: tuple[TimelineItem, ...]


@dataclass(frozen=True)
class Month:
    """Facts of one month, grouped by session."""

    year: int
    month: int
    talks: tuple[TimelineConversation, ...]


@dataclass(frozen=True)
class Timeline:
    """Facts of a persona, oldest first."""

    persona: str
    user: str
    known: tuple[TimelineItem, ...]

    def pinned(self, *, everybody: bool) -> tuple[TimelineItem, ...]:
        """Return the pinned facts; without `everybody`, only those about the user."""
        return tuple(one for one in self.known if one.fact.pinned and (everybody or one.about_user))

    def months(self, *, everybody: bool, newest_first: bool = True) -> tuple[Month, ...]:
        """Return the facts that are not pinned, by month and session; without `everybody`, only those about the user."""
        left = [one for one in self.known if not one.fact.pinned and (everybody or one.about_user)]
        if newest_first:
            left.reverse()
        by_month = groupby(left, key=lambda one: one.month)
        return tuple(Month(year, month, tuple(_talks(known))) for (year, month), known in by_month)


def facts_about(facts: Iterable[ExtractedFact], sessions: Mapping[UUID, SessionSummary], persona: str, user: str) -> Timeline:
    """Build a timeline of the facts that are not superseded. A fact is about the user if it contains a word of the user's
    name.
    """
    names = {word.casefold() for word in WORD.findall(user)}
    known = [_known(fact, sessions, names) for fact in facts if not fact.superseded]
    return Timeline(persona, user, tuple(sorted(known, key=lambda one: (one.when, one.fact.guid))))


@dataclass(frozen=True)
class Headings:
    """Translated headings of the exported text."""

    title: str
    pinned: str
    month: Callable[[Month], str]
    talk: Callable[[TimelineConversation], str]


def as_markdown(line: Timeline, headings: Headings, *, everybody: bool) -> str:
    """Return the timeline as Markdown, oldest first."""
    parts = [f"# {headings.title}"]
    if first := line.pinned(everybody=everybody):
        parts.append("\n".join([f"## {headings.pinned}", "", *map(_bullet, first)]))
    for month in line.months(everybody=everybody, newest_first=False):
        parts.append(f"## {headings.month(month)}")
        parts += ["\n".join([f"### {headings.talk(talk)}", "", *map(_bullet, talk.known)]) for talk in month.talks]
    return "\n\n".join(parts) + "\n"


def _bullet(one: TimelineItem) -> str:
    return f"- {' '.join(one.fact.fact.split())} ({one.when:%Y-%m-%d})"


def _talks(known: Iterable[TimelineItem]) -> Iterable[TimelineConversation]:
    """Group facts by session, in the order of each session's first fact."""
    talks: dict[tuple[UUID | None, bool], list[TimelineItem]] = {}
    for one in known:
        talks.setdefault((one.session, one.by_user), []).append(one)
    return [TimelineConversation(session, by_user, those[0].title, tuple(those)) for (session, by_user), those in talks.items()]


def _known(fact: ExtractedFact, sessions: Mapping[UUID, SessionSummary], names: set[str]) -> TimelineItem:
    there = [sessions[guid] for guid in fact.source_memories if guid in sessions]
    first = min(there, key=lambda session: session.started, default=None)
    title = (first.title or first.first_words) if first is not None else ""
    about = not names.isdisjoint(word.casefold() for word in WORD.findall(fact.fact))
    return TimelineItem(fact, fact.first_seen.astimezone(), first.guid if first is not None else None, title, about)
