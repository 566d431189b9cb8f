"""Preference part of a dream: turn remarks of several sessions into lasting preferences or anti-patterns."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection, Sequence
from typing import Protocol
from uuid import UUID

from lethe_app.agents.task import TaskContext
from lethe_app.brain.dreams.consolidation import normalize_category
from lethe_app.brain.dreams.corrections import Strength
from lethe_app.brain.dreams.preferences import (
    PreferenceRemarks,
    Remark,
    build_anti_pattern_change,
    build_preference_change,
    build_worded_anti_pattern,
    group_remarks,
)
from lethe_app.brain.fact_guard.grounding import is_grounded
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.llm_schemas.dreams import Avoided, StatedPreferences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.errors import ModelError

WISHING = ("wants", "prefers", "likes", "asks", "wishes", "be", "being")
"""Words of a preference sentence that need not occur in the user's message."""
_DENYING = re.compile(r"\b(?:stop|quit|hate|dislike|enough(?: with)?|less|fewer)\b", re.IGNORECASE)
"""Words that express a negation without “not”."""
BECAUSE = "objected"
"""Placeholder reason of a model that found none; it is left out of the grounding check."""


class Listening(Protocol):
    """Inputs of the preference part of a dream."""

    def may_write(self) -> bool:
        """Return whether a model is loaded that is qualified to write text of its own."""

    async def unheard(self, persona_id: str) -> list[list[Utterance]]:
        """Return the user's messages to the persona since the last evaluation, grouped by session."""

    async def store_remarks(self, persona_id: str, remarks: Sequence[Remark]) -> list[Remark]:
        """Store these remarks and return all remarks from which nothing was concluded yet."""

    async def session_of(self, message: UUID) -> UUID:
        """Return the session of a message."""

    async def conclude(self, persona_id: str, messages: Collection[UUID]) -> None:
        """Mark the remarks of these messages as concluded."""


async def understand(scene: TaskContext, desk: Listening) -> AsyncIterator[tuple[RecordedChange, list[UUID]]]:
    """Yield each proposed change with the messages it was concluded from."""
    persona_id, told = scene.persona.unique_name, list[Remark]()
    if desk.may_write():
        for lines in await desk.unheard(persona_id):
            told += await _read(scene, desk, lines)
    for wish in group_remarks(await desk.store_remarks(persona_id, told)):
        if wish.is_frequent_enough:
            change = await _concluded(scene, desk, wish)
            yield change, [one.message for one in wish.remarks]


async def _read(scene: TaskContext, desk: Listening, lines: Sequence[Utterance]) -> list[Remark]:
    """Let a model extract preferences. One that is not grounded in the line it refers to is discarded."""
    found: list[Remark] = []
    names = {"user": scene.user.name, "name": scene.persona.name}
    for part in await scene.portions("infer", StatedPreferences, lines, **names):
        heard = await scene.ask("infer", StatedPreferences, conversation=format_lines(part, numbered=True), **names)
        for one in heard.wishes:
            line = part[one.line - 1] if one.line <= len(part) else None
            # “Stop”, “hate” and similar words become “not”, so that the grounding check sees equal polarity.
            if line is not None and is_grounded(one.wish, [_DENYING.sub("not", line.text)], [*names.values(), *WISHING]):
                session, values = await desk.session_of(line.id), {"words": line.text, "strength": one.strength}
                found.append(Remark(message=line.id, session=session, at=line.time, wish=one.wish, **values))
    return found


async def _concluded(scene: TaskContext, desk: Listening, wish: PreferenceRemarks) -> RecordedChange:
    frame = (scene.persona.unique_name, scene.run_id, scene.moment)
    fails_clearly = any(one.unwanted and one.strength is Strength.STRONG for one in wish.remarks)
    if not fails_clearly:
        return build_preference_change(wish, scene.user.name, *frame)
    told = await _avoided(scene, wish) if desk.may_write() else None
    if told is None:
        return build_anti_pattern_change(wish, scene.user.name, *frame)
    domain = normalize_category(told.domain).replace("/", "-")
    return build_worded_anti_pattern(told.avoid, told.because, told.instead, domain, wish, frame)


async def _avoided(scene: TaskContext, wish: PreferenceRemarks) -> Avoided | None:
    """Let a model word an anti-pattern. Return None if the answer contains words that the user did not use."""
    words, names = [one.words for one in wish.distinct_remarks], (scene.user.name, scene.persona.name)
    try:
        told = await scene.ask("avoid", Avoided, words="\n".join(words), user=names[0], name=names[1])
    except ModelError:
        return None
    parts = [f"Don't {told.avoid}.", *([f"{told.because}."] if BECAUSE not in told.because else [])]
    if not told.is_clear or not told.avoid.strip() or not told.because.strip():
        return None
    if told.instead.strip():
        parts.append(f"{told.instead}.")
    return told if all(_is_said(part, words, names) for part in parts) else None


def _is_said(part: str, words: Sequence[str], names: Collection[str]) -> bool:
    """Return whether a part of the answer is grounded, with or without its negation: an objection often states the opposite
    of what the user wants.
    """
    bare = part.removeprefix("Don't ")
    return any(is_grounded(way, words, names) for way in (bare, f"Not {bare}"))
