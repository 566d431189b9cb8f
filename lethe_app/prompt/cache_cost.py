"""Cost of a prompt in tokens evaluated again, and the reason, found at the first difference from the previous prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from os.path import commonprefix

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import CacheMiss, Cost, PromptPart, PromptSpan
from lethe_app.prompt.spans import joined

SEAM = 16
"""Tokens that do not count as cost: turn ends, and words tokenised differently where texts meet."""
_MEMORIES = {
    PromptLayout.LATE: CacheMiss.MEMORIES_MOVED,
    PromptLayout.SYSTEM: CacheMiss.MEMORIES_IN_SYSTEM,
    PromptLayout.DEPTH: CacheMiss.MEMORIES_AMONG_MESSAGES,
}
_CHANGED = {
    PromptPart.SPEAKER: CacheMiss.SPEAKER,
    PromptPart.WORLD: CacheMiss.WORLD,
    PromptPart.SUMMARIES: CacheMiss.SUMMARIES,
    PromptPart.FACTS: CacheMiss.FACTS,
    PromptPart.HISTORY: CacheMiss.MESSAGE_EDITED,
    PromptPart.MESSAGE: CacheMiss.NEWEST_MESSAGE,
}
_MOVED_BY_A_CUT = {PromptPart.SUMMARIES, PromptPart.FACTS, PromptPart.HISTORY}
"""Parts in which a prompt first differs when messages were cut."""


def new_in(before: Sequence[PromptSpan], said: str, after: Sequence[PromptSpan]) -> list[PromptSpan]:
    """Return the spans of `after` that were neither in the previous prompt nor in the model's reply `said`."""
    known = Counter(span.text.strip() for span in before)
    said = said.strip()
    fresh: list[PromptSpan] = []
    for span in after:
        text = span.text.strip()
        if known[text] > 0:
            known[text] -= 1
        elif said and text.endswith(said):
            said = ""
        else:
            fresh.append(span)
    return fresh


def work_out(
    before: Sequence[PromptSpan],
    after: Sequence[PromptSpan],
    fresh: int,
    evaluated: int,
    tokens: int,
    drift: int,
    layout: PromptLayout,
) -> Cost:
    """Return the cost. `fresh` is the number of new tokens, `evaluated` the number computed, out of `tokens` in total."""
    again = max(evaluated - fresh, 0)
    if again <= SEAM:
        return Cost(evaluated, tokens - evaluated, drift)
    reason, part = why(before, after, layout)
    return Cost(evaluated, tokens - evaluated, drift, again, reason, part)


def why(before: Sequence[PromptSpan], after: Sequence[PromptSpan], layout: PromptLayout) -> tuple[CacheMiss, str]:
    """Return why part of `after` that was in the previous prompt must be evaluated again, and for `PART` which part changed."""
    place = len(commonprefix([joined(before), joined(after)]))  # noqa: RUF071 - these are no paths
    old, new = _from(before, place), _from(after, place)
    if not old:
        return CacheMiss.REPLY, ""
    parts = {span.part for span in (*old[:1], *new[:1])}
    if PromptPart.MEMORIES in parts:
        return _MEMORIES[layout], ""
    if parts & _MOVED_BY_A_CUT and _has_left(before, after):
        return CacheMiss.MESSAGES_LEFT, ""
    for part, reason in _CHANGED.items():
        if part in parts:
            return reason, ""
    return (CacheMiss.TEMPLATE, "") if old[0].part is PromptPart.TEMPLATE else (CacheMiss.PART, old[0].part.value)


def _has_left(before: Sequence[PromptSpan], after: Sequence[PromptSpan]) -> bool:
    """Return whether the conversation continues as before but without its first messages."""
    old, new = (
        [span.text for span in spans if span.part in {PromptPart.HISTORY, PromptPart.MESSAGE}] for spans in (before, after)
    )
    stays = old == new[: len(old)]
    return not stays and any(old[cut:] == new[: len(old) - cut] for cut in range(1, len(old)))


def _from(spans: Sequence[PromptSpan], place: int) -> list[PromptSpan]:
    """Return the spans at and behind a place; template spans only if there are no others."""
    ends = accumulate(len(span.text) for span in spans)
    behind = [span for span, end in zip(spans, ends, strict=True) if end > place]
    return [span for span in behind if span.part is not PromptPart.TEMPLATE] or behind
