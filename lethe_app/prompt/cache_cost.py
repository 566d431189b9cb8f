"""Works out what a prompt had the model read again, and why: where it first differs from the one before says it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from os.path import commonprefix

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import Cost, PromptPart, PromptSpan
from lethe_app.prompt.spans import joined

SEAM = 16
"""Tokens that are no cost: ends of turns, and words that are cut otherwise into tokens where texts meet."""
ELSEWHERE = "another conversation was read in between"
LEFT = "the oldest messages have left the prompt"
_STANDS = {
    PromptLayout.LATE: "what is brought up stands just above the newest message and has moved on with it",
    PromptLayout.SYSTEM: "what is brought up stands in the system prompt",
    PromptLayout.DEPTH: "what is brought up stands among the messages",
}
_CHANGED = {
    PromptPart.SPEAKER: "it is somebody else's turn to speak",
    PromptPart.WORLD: "an entry stands in the system prompt",
    PromptPart.SUMMARIES: "what is told of earlier talk has changed",
    PromptPart.FACTS: "what is known for certain has changed",
    PromptPart.HISTORY: "a message was changed",
    PromptPart.MESSAGE: "the newest message has changed",
}
_MOVED_BY_A_CUT = {PromptPart.SUMMARIES, PromptPart.FACTS, PromptPart.HISTORY}
"""Where a prompt differs first when messages leave it."""


def new_in(before: Sequence[PromptSpan], said: str, after: Sequence[PromptSpan]) -> list[PromptSpan]:
    """Spans of `after` that were neither in the prompt before nor what the model itself `said` to that."""
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
    """`fresh` are the tokens of what is new, `evaluated` those that were computed, of `tokens` in all."""
    again = max(evaluated - fresh, 0)
    if again <= SEAM:
        return Cost(evaluated, tokens - evaluated, drift)
    return Cost(evaluated, tokens - evaluated, drift, again, why(before, after, layout))


def why(before: Sequence[PromptSpan], after: Sequence[PromptSpan], layout: PromptLayout) -> str:
    """Why something in `after` must be read again that was there before."""
    place = len(commonprefix([joined(before), joined(after)]))  # noqa: RUF071 - these are no paths
    old, new = _from(before, place), _from(after, place)
    if not old:
        return "the reply stands there otherwise than the model wrote it"
    parts = {span.part for span in (*old[:1], *new[:1])}
    if PromptPart.MEMORIES in parts:
        return _STANDS[layout]
    if parts & _MOVED_BY_A_CUT and _has_left(before, after):
        return LEFT
    for part, words in _CHANGED.items():
        if part in parts:
            return words
    return f"the {old[0].part} has changed" if old[0].part is not PromptPart.TEMPLATE else "the model's own format has changed"


def _has_left(before: Sequence[PromptSpan], after: Sequence[PromptSpan]) -> bool:
    """Does the conversation go on as it did, without its first messages?"""
    old, new = (
        [span.text for span in spans if span.part in {PromptPart.HISTORY, PromptPart.MESSAGE}] for spans in (before, after)
    )
    stays = old == new[: len(old)]
    return not stays and any(old[cut:] == new[: len(old) - cut] for cut in range(1, len(old)))


def _from(spans: Sequence[PromptSpan], place: int) -> list[PromptSpan]:
    """What stands there and behind it; the template's own words count only where nothing else does."""
    ends = accumulate(len(span.text) for span in spans)
    behind = [span for span, end in zip(spans, ends, strict=True) if end > place]
    return [span for span in behind if span.part is not PromptPart.TEMPLATE] or behind
