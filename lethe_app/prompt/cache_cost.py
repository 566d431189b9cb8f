"""Cost of a prompt in tokens evaluated again, and the reason, found at the first difference from the previous prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from os.path import commonprefix

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import CacheMiss, PrefillCost, PromptPart, PromptSpan, join_spans

IGNORED_TOKENS = 16
"""Tokens that do not count as cost: turn ends, and words tokenised differently where texts meet."""
_MEMORY_REASONS = {
    PromptLayout.LATE: CacheMiss.MEMORIES_MOVED,
    PromptLayout.SYSTEM: CacheMiss.MEMORIES_IN_SYSTEM,
    PromptLayout.DEPTH: CacheMiss.MEMORIES_AMONG_MESSAGES,
}
_REASON_BY_PART = {
    PromptPart.SPEAKER: CacheMiss.SPEAKER,
    PromptPart.WORLD: CacheMiss.WORLD,
    PromptPart.SUMMARIES: CacheMiss.SUMMARIES,
    PromptPart.FACTS: CacheMiss.FACTS,
    PromptPart.EARLIER: CacheMiss.MESSAGE_EDITED,
    PromptPart.HISTORY: CacheMiss.MESSAGE_EDITED,
    PromptPart.MESSAGE: CacheMiss.NEWEST_MESSAGE,
}
_MESSAGES = {PromptPart.EARLIER, PromptPart.HISTORY, PromptPart.MESSAGE}
_PARTS_MOVED_BY_CUT = {PromptPart.SUMMARIES, PromptPart.FACTS, PromptPart.EARLIER, PromptPart.HISTORY}
"""Parts in which a prompt first differs when messages were cut."""


def find_new_spans(before: Sequence[PromptSpan], reply: str, after: Sequence[PromptSpan]) -> list[PromptSpan]:
    """Return the spans of `after` that were neither in the previous prompt nor in the model's reply `reply`."""
    known = Counter(span.text.strip() for span in before)
    reply = reply.strip()
    new_spans: list[PromptSpan] = []
    for span in after:
        text = span.text.strip()
        if known[text] > 0:
            known[text] -= 1
        elif reply and text.endswith(reply):
            reply = ""
        else:
            new_spans.append(span)
    return new_spans


def compute_cost(
    before: Sequence[PromptSpan],
    after: Sequence[PromptSpan],
    new_tokens: int,
    evaluated: int,
    tokens: int,
    drift: int,
    layout: PromptLayout,
) -> PrefillCost:
    """Return the cost: `new_tokens` were not in the previous prompt, and `evaluated` of all `tokens` were computed."""
    reevaluated = max(evaluated - new_tokens, 0)
    if reevaluated <= IGNORED_TOKENS:
        return PrefillCost(evaluated, tokens - evaluated, drift)
    reason, part = find_cache_miss(before, after, layout)
    return PrefillCost(evaluated, tokens - evaluated, drift, reevaluated, reason, part)


def find_cache_miss(before: Sequence[PromptSpan], after: Sequence[PromptSpan], layout: PromptLayout) -> tuple[CacheMiss, str]:
    """Return why part of `after` that was in the previous prompt must be evaluated again, and for `PART` which part changed."""
    position = len(commonprefix([join_spans(before), join_spans(after)]))  # noqa: RUF071 - these are no paths
    old, new = _spans_from(before, position), _spans_from(after, position)
    if not old:
        return CacheMiss.REPLY, ""
    parts = {span.part for span in (*old[:1], *new[:1])}
    if PromptPart.MEMORIES in parts:
        return _MEMORY_REASONS[layout], ""
    if parts & _PARTS_MOVED_BY_CUT and _has_dropped_messages(before, after):
        return CacheMiss.MESSAGES_LEFT, ""
    if PromptPart.STYLE in parts:  # the instruction behind the newest message, which has moved with it
        return CacheMiss.PART, PromptPart.STYLE.value
    for part, reason in _REASON_BY_PART.items():
        if part in parts:
            return reason, ""
    return (CacheMiss.TEMPLATE, "") if old[0].part is PromptPart.TEMPLATE else (CacheMiss.PART, old[0].part.value)


def _has_dropped_messages(before: Sequence[PromptSpan], after: Sequence[PromptSpan]) -> bool:
    """Return whether the conversation continues as before but without its first messages."""
    old, new = ([span.text for span in spans if span.part in _MESSAGES] for spans in (before, after))
    is_continued = old == new[: len(old)]
    return not is_continued and any(old[cut:] == new[: len(old) - cut] for cut in range(1, len(old)))


def _spans_from(spans: Sequence[PromptSpan], position: int) -> list[PromptSpan]:
    """Return the spans at and after a position; template spans only if there are no others."""
    ends = accumulate(len(span.text) for span in spans)
    later_spans = [span for span, end in zip(spans, ends, strict=True) if end > position]
    return [span for span in later_spans if span.part is not PromptPart.TEMPLATE] or later_spans
