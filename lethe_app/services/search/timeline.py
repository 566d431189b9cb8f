"""“What do you remember about me?”: all that is known of the user, in the order in which it came up, and as a text to keep."""

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
    """One thing that is known."""

    fact: ExtractedFact
    when: datetime
    """When it was first said, in the local zone."""
    session: UUID | None
    """The conversation in which it was first said; None where it is gone, or where the user wrote it down."""
    title: str
    """Of that conversation; its first words where it has no title, empty where there is none."""
    about_user: bool

    @property
    def by_user(self) -> bool:
        """Did the user write it down, in no conversation?"""
        return self.session is None and self.fact.made_by is MadeBy.USER

    @property
    def month(self) -> tuple[int, int]:
        return self.when.year, self.when.month


@dataclass(frozen=True)
class TimelineConversation:
    """What was said in one conversation of a month."""

    session: UUID | None
    by_user: bool
    """Did the user write it down, so that there is no conversation?"""
    title: str
    known: tuple[TimelineItem, ...]


@dataclass(frozen=True)
class Month:
    """What came up in one month."""

    year: int
    month: int
    talks: tuple[TimelineConversation, ...]


@dataclass(frozen=True)
class Timeline:
    """All of it, oldest first."""

    persona: str
    user: str
    known: tuple[TimelineItem, ...]

    def pinned(self, *, everybody: bool) -> tuple[TimelineItem, ...]:
        """What the user wants remembered whatever comes."""
        return tuple(one for one in self.known if one.fact.pinned and (everybody or one.about_user))

    def months(self, *, everybody: bool, newest_first: bool = True) -> tuple[Month, ...]:
        """What is not pinned by month and conversation; only of the user, or with `everybody` of all she heard of."""
        left = [one for one in self.known if not one.fact.pinned and (everybody or one.about_user)]
        if newest_first:
            left.reverse()
        by_month = groupby(left, key=lambda one: one.month)
        return tuple(Month(year, month, tuple(_talks(known))) for (year, month), known in by_month)


def facts_about(facts: Iterable[ExtractedFact], sessions: Mapping[UUID, SessionSummary], persona: str, user: str) -> Timeline:
    """The facts that hold. `persona` and `user` are names; a fact is about the user if it names them."""
    names = {word.casefold() for word in WORD.findall(user)}
    known = [_known(fact, sessions, names) for fact in facts if not fact.superseded]
    return Timeline(persona, user, tuple(sorted(known, key=lambda one: (one.when, one.fact.guid))))


@dataclass(frozen=True)
class Headings:
    """What stands above the parts of the text, in the user's language."""

    title: str
    pinned: str
    month: Callable[[Month], str]
    talk: Callable[[TimelineConversation], str]


def as_markdown(line: Timeline, headings: Headings, *, everybody: bool) -> str:
    """A text for a file or the clipboard, oldest first."""
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
    """Conversations in the order in which something first came up in them."""
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
