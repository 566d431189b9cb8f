"""Token accounting of a prompt by part, and the explanation of a prompt that cannot be made to fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import CutReason, PartTokens, PromptCut, PromptPart, Receipt
from lethe_app.prompt.budget import CAPS, BudgetPlan


class ReceiptInputs(Protocol):
    """Properties of a request that a receipt needs."""

    @property
    def context(self) -> int: ...
    @property
    def reply_reserve(self) -> int: ...
    @property
    def template_source(self) -> str: ...
    @property
    def layout(self) -> PromptLayout: ...


def write_receipt(shares: Iterable[PartTokens], prompt_tokens: int, dropped_messages: int, request: ReceiptInputs) -> Receipt:
    """Return a receipt with one share per part and earlier session, in layout order; tokens that no part accounts for belong
    to the template.
    """
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
    return Receipt(
        shares=(*lines, PartTokens(PromptPart.TEMPLATE, max(unassigned, 0))),
        prompt_tokens=prompt_tokens,
        context=request.context,
        reply_reserve=request.reply_reserve,
        template_source=request.template_source,
        dropped_messages=dropped_messages,
        layout=request.layout,
    )


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


def explain_overflow(
    sizes: Iterable[tuple[PromptPart, int]], tokens: int, limit: int, request: ReceiptInputs
) -> tuple[str, str]:
    """Return message and remedy for a prompt whose fixed parts do not fit, the largest part first."""
    summed: dict[PromptPart, int] = {}
    for part, size in sizes:
        summed[part] = summed.get(part, 0) + size
    ordered = sorted(((size, part) for part, size in summed.items() if size), key=lambda entry: -entry[0])
    listed = ", ".join(f"{part} {size}" for size, part in ordered)
    message = (
        f"The prompt needs {tokens} tokens even without history and memories, but only {max(limit, 0)} of the context's "
        f"{request.context} are free beside the {request.reply_reserve} kept for the reply ({listed})."
    )
    largest = ordered[0][1] if ordered else PromptPart.TEMPLATE
    return message, f"Shorten the {largest}, or choose a larger context size in the settings."
