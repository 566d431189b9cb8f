"""Timeline of the facts a persona knows about the user, by month and session, and of the key moments of each month."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from uuid import UUID

from lethe_app.brain.facts.updates import FactReplacement, find_replacement, is_stated, list_replacements
from lethe_app.domain.chat import SessionSummary
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy
from lethe_app.domain.memory import MemoryUnit
from lethe_app.searchable_text import WORD


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
    items: tuple[TimelineItem, ...]


@dataclass(frozen=True)
class TimelineMonth:
    """Facts of one month, grouped by session."""

    year: int
    month: int
    conversations: tuple[TimelineConversation, ...]
    moments: tuple[MemoryUnit, ...] = ()


@dataclass(frozen=True)
class Timeline:
    """Facts and key moments of a persona, oldest first."""

    persona: str
    user: str
    items: tuple[TimelineItem, ...]
    moments: tuple[MemoryUnit, ...] = ()
    replacements: tuple[FactReplacement, ...] = ()
    """Facts that no longer hold, with their successors."""

    def with_moments(self, memories: Iterable[MemoryUnit]) -> Timeline:
        """Return the timeline with the key moments among these memories."""
        moments = [memory for memory in memories if memory.is_key_moment]
        return replace(self, moments=tuple(sorted(moments, key=lambda memory: memory.added)))

    def end_of(self, moment: MemoryUnit) -> datetime | None:
        """Return when a newer fact replaced what a key moment states, in the local time zone; None if it still holds."""
        successor = find_replacement(moment.content, moment.source_messages, self.replacements)
        return successor.first_seen.astimezone() if successor is not None else None

    def listed_moments(self, *, include_others: bool, newest_first: bool = True) -> tuple[MemoryUnit, ...]:
        """Return the key moments in order of time, without those that a listed fact states as well."""
        listed = [item.fact for item in self.items if include_others or item.about_user or item.fact.made_by is MadeBy.USER]
        moments = [moment for moment in self.moments if not is_stated(moment.content, moment.source_messages, listed)]
        return tuple(reversed(moments) if newest_first else moments)

    def pinned_items(self, *, include_others: bool) -> tuple[TimelineItem, ...]:
        """Return the pinned facts; without `include_others`, only those about the user."""
        return tuple(item for item in self.items if item.fact.pinned and (include_others or item.about_user))

    def _unpinned_items(self, *, include_others: bool, newest_first: bool) -> list[TimelineItem]:
        items = [item for item in self.items if not item.fact.pinned and (include_others or item.about_user)]
        return items[::-1] if newest_first else items

    def group_by_kind(self, *, include_others: bool, newest_first: bool = True) -> dict[FactKind, tuple[TimelineItem, ...]]:
        """Return the facts that are not pinned by their topic, in the order of the topics; without `include_others`, only those
        about the user.
        """
        unpinned = self._unpinned_items(include_others=include_others, newest_first=newest_first)
        by_kind = {kind: tuple(item for item in unpinned if item.fact.kind is kind) for kind in FactKind}
        return {kind: items for kind, items in by_kind.items() if items}

    def group_by_month(self, *, include_others: bool, newest_first: bool = True) -> tuple[TimelineMonth, ...]:
        """Return the facts that are not pinned, by month and session; without `include_others`, only those about the user."""
        unpinned = self._unpinned_items(include_others=include_others, newest_first=newest_first)
        by_month = {month: tuple(items) for month, items in groupby(unpinned, key=lambda item: item.month)}
        moments: dict[tuple[int, int], list[MemoryUnit]] = {}
        for moment in self.listed_moments(include_others=include_others, newest_first=newest_first):
            local = moment.added.astimezone()
            moments.setdefault((local.year, local.month), []).append(moment)
        return tuple(
            TimelineMonth(month[0], month[1], tuple(_group_by_session(by_month.get(month, ()))), tuple(moments.get(month, ())))
            for month in sorted(by_month.keys() | moments.keys(), reverse=newest_first)
        )


def build_timeline(
    facts: Iterable[ExtractedFact], sessions: Mapping[UUID, SessionSummary], persona: str, user: str
) -> Timeline:
    """Build a timeline of the facts that are not superseded. A fact is about the user if it contains a word of the user's
    name.
    """
    all_facts, names = list(facts), {word.casefold() for word in WORD.findall(user)}
    items = [_build_item(fact, sessions, names) for fact in all_facts if not fact.superseded]
    items.sort(key=lambda item: (item.when, item.fact.guid))
    return Timeline(persona, user, tuple(items), replacements=tuple(list_replacements(all_facts)))


def _group_by_session(items: Iterable[TimelineItem]) -> Iterable[TimelineConversation]:
    """Group facts by session, in the order of each session's first fact."""
    items_by_session: dict[tuple[UUID | None, bool], list[TimelineItem]] = {}
    for item in items:
        items_by_session.setdefault((item.session, item.by_user), []).append(item)
    return [
        TimelineConversation(session, by_user, session_items[0].title, tuple(session_items))
        for (session, by_user), session_items in items_by_session.items()
    ]


def _build_item(fact: ExtractedFact, sessions: Mapping[UUID, SessionSummary], names: set[str]) -> TimelineItem:
    source_sessions = sorted(
        (sessions[guid] for guid in fact.source_memories if guid in sessions), key=lambda session: session.started
    )
    # The last that had begun when the fact was first stated: earlier ones state what the fact has extended since.
    begun = [session for session in source_sessions if session.started <= fact.first_seen]
    first_session = begun[-1] if begun else next(iter(source_sessions), None)
    title = (first_session.title or first_session.first_words) if first_session is not None else ""
    is_about_user = not names.isdisjoint(word.casefold() for word in WORD.findall(fact.fact))
    return TimelineItem(
        fact, fact.first_seen.astimezone(), first_session.guid if first_session is not None else None, title, is_about_user
    )
