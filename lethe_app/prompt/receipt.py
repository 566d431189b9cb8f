"""Token accounting of a prompt by part, and the explanation of a prompt that cannot be made to fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import CutKind, PromptCut, PromptPart, Receipt, Share
from lethe_app.prompt.budget import CAPS, BudgetPlan


class Room(Protocol):
    """Properties of a request that a receipt needs."""

    @property
    def context(self) -> int: ...
    @property
    def reply_reserve(self) -> int: ...
    @property
    def template_source(self) -> str: ...
    @property
    def layout(self) -> PromptLayout: ...


def write_receipt(shares: Iterable[Share], prompt_tokens: int, dropped_messages: int, room: Room) -> Receipt:
    """Return a receipt with one share per part, in layout order; tokens that no part accounts for belong to the template."""
    summed: dict[PromptPart, Share] = {}
    for share in shares:
        old = summed.get(share.part, Share(share.part, 0))
        tokens, cut = old.tokens + share.tokens, old.cut_tokens + share.cut_tokens
        summed[share.part] = Share(share.part, tokens, cut, share.cuts or old.cuts)
    lines = [summed[part] for part in PromptPart if part in summed and _is_worth_a_line(summed[part])]
    rest = prompt_tokens - sum(line.tokens for line in lines)
    return Receipt(
        shares=(*_balanced(lines, rest), Share(PromptPart.TEMPLATE, max(rest, 0))),
        prompt_tokens=prompt_tokens,
        context=room.context,
        reply_reserve=room.reply_reserve,
        template_source=room.template_source,
        dropped_messages=dropped_messages,
        layout=room.layout,
    )


def _is_worth_a_line(share: Share) -> bool:
    return bool(share.tokens or share.cut_tokens or share.cuts)


def left_out(part: PromptPart, pieces: int, chosen: BudgetPlan) -> tuple[PromptCut, ...]:
    """Return what was cut from an optional part and why; empty if nothing was."""
    lost = pieces - len(chosen.kept.get(part, ()))
    if not lost:
        return ()
    over = min(chosen.capped.get(part, 0), lost)
    if not over:
        return (PromptCut(CutKind.NO_SPACE, lost, pieces),)
    return (PromptCut(CutKind.CAPPED, lost, pieces, CAPS[part], lost - over),)


def history_cuts(cut: int, messages: int, earlier: int) -> tuple[PromptCut, ...]:
    """Return which messages are not in the prompt verbatim, and why."""
    oldest = (PromptCut(CutKind.OLDEST, cut, messages),) if cut else ()
    return (*oldest, PromptCut(CutKind.SUMMARISED, earlier)) if earlier else oldest


def _balanced(lines: Sequence[Share], rest: int) -> list[Share]:
    """Return the shares with a negative rest subtracted from the largest one.

    Texts tokenised one by one can have a token more than together; without the correction the sum would be wrong.
    """
    lines = list(lines)
    if rest < 0 and lines:
        place = max(range(len(lines)), key=lambda index: lines[index].tokens)
        largest = lines[place]
        lines[place] = Share(largest.part, largest.tokens + rest, largest.cut_tokens, largest.cuts)
    return lines


def explain(sizes: Iterable[tuple[PromptPart, int]], tokens: int, limit: int, room: Room) -> tuple[str, str]:
    """Return message and remedy for a prompt whose fixed parts do not fit, the largest part first."""
    summed: dict[PromptPart, int] = {}
    for part, size in sizes:
        summed[part] = summed.get(part, 0) + size
    ordered = sorted(((size, part) for part, size in summed.items() if size), key=lambda entry: -entry[0])
    listed = ", ".join(f"{part} {size}" for size, part in ordered)
    message = (
        f"The prompt needs {tokens} tokens even without history and memories, but only {max(limit, 0)} of the context's "
        f"{room.context} are free beside the {room.reply_reserve} kept for the reply ({listed})."
    )
    largest = ordered[0][1] if ordered else PromptPart.TEMPLATE
    return message, f"Shorten the {largest}, or choose a larger context size in the settings."
