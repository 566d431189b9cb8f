"""Token accounting of a prompt by part, the explanation of a prompt that cannot be made to fit, and the cost of evaluating a
prompt again, found at its first difference from the one before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from os.path import commonprefix

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import (
    CacheMiss,
    CutReason,
    PartTokens,
    PrefillCost,
    PromptCut,
    PromptPart,
    PromptSpan,
    join_spans,
)
from lethe_app.prompt.budget import CAPS, BudgetPlan

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


def sum_shares(shares: Iterable[PartTokens], prompt_tokens: int) -> tuple[PartTokens, ...]:
    """Return one share per part and earlier session, in layout order; what no part accounts for belongs to the template."""
    summed: dict[tuple[PromptPart, str], PartTokens] = {}
    for share in shares:
        key = (share.part, share.session)
        old = summed.get(key, PartTokens(share.part, 0))
        tokens, cut = old.tokens + share.tokens, old.cut_tokens + share.cut_tokens
        summed[key] = PartTokens(share.part, tokens, cut, share.cuts or old.cuts, share.session)
    order = list(PromptPart)
    parts = sorted(summed.values(), key=lambda share: order.index(share.part))
    lines = [share for share in parts if share.tokens or share.cut_tokens or share.cuts]
    unassigned = prompt_tokens - sum(line.tokens for line in lines)
    if unassigned < 0 and lines:
        # Texts tokenised one by one can have a token more than together; without the correction the sum would be wrong.
        largest = max(lines, key=lambda share: share.tokens)
        lines[lines.index(largest)] = replace(largest, tokens=largest.tokens + unassigned)
    return (*lines, PartTokens(PromptPart.TEMPLATE, max(unassigned, 0)))


def describe_cuts(part: PromptPart, total: int, budget_plan: BudgetPlan) -> tuple[PromptCut, ...]:
    """Return what was cut from an optional part and why; empty if nothing was."""
    dropped = total - len(budget_plan.kept.get(part, ()))
    if not dropped:
        return ()
    over_cap = min(budget_plan.capped.get(part, 0), dropped)
    if not over_cap:
        return (PromptCut(CutReason.NO_SPACE, dropped, total),)
    return (PromptCut(CutReason.CAPPED, dropped, total, CAPS[part], dropped - over_cap),)


def describe_history_cuts(cut: int, messages: int, left_messages: int, *, summarised: bool) -> tuple[PromptCut, ...]:
    """Return which messages are not in the prompt verbatim, and why."""
    oldest = (PromptCut(CutReason.OLDEST, cut, messages),) if cut else ()
    kind = CutReason.SUMMARISED if summarised else CutReason.TRUNCATED
    return (*oldest, PromptCut(kind, left_messages)) if left_messages else oldest


def explain_overflow(sizes: Iterable[tuple[PromptPart, int]], tokens: int, context: int, reply_reserve: int) -> tuple[str, str]:
    """Return message and remedy for a prompt whose fixed parts do not fit, the largest part first."""
    summed: Counter[PromptPart] = Counter()
    for part, size in sizes:
        summed[part] += size
    ordered = [(part, size) for part, size in summed.most_common() if size]
    listed = ", ".join(f"{part} {size}" for part, size in ordered)
    message = (
        f"The prompt needs {tokens} tokens even without history and memories, but only {max(context - reply_reserve, 0)} of"
        f" the context's {context} are free beside the {reply_reserve} kept for the reply ({listed})."
    )
    largest = ordered[0][0] if ordered else PromptPart.TEMPLATE
    return message, f"Shorten the {largest}, or choose a larger context size in the settings."


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
