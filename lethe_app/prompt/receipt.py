"""Says where the tokens of a prompt went, and when it cannot be made to fit, which part is how large."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import PromptPart, Receipt, Share
from lethe_app.prompt.budget import CAPS, BudgetPlan


class Room(Protocol):
    """What a receipt needs to know of the request."""

    @property
    def context(self) -> int: ...
    @property
    def reply_reserve(self) -> int: ...
    @property
    def template_source(self) -> str: ...
    @property
    def layout(self) -> PromptLayout: ...


def write_receipt(shares: Iterable[Share], prompt_tokens: int, dropped_messages: int, room: Room) -> Receipt:
    """One line for each part, in layout order; what the parts do not account for is the template's."""
    summed: dict[PromptPart, Share] = {}
    for share in shares:
        old = summed.get(share.part, Share(share.part, 0))
        tokens, cut = old.tokens + share.tokens, old.cut_tokens + share.cut_tokens
        summed[share.part] = Share(share.part, tokens, cut, share.note or old.note)
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
    return bool(share.tokens or share.cut_tokens or share.note)


def left_out(part: PromptPart, pieces: int, chosen: BudgetPlan) -> str:
    """What of an optional part was cut and why; nothing where all of it is there."""
    lost = pieces - len(chosen.kept.get(part, ()))
    if not lost:
        return ""
    over = min(chosen.capped.get(part, 0), lost)
    reasons = [f"the part may have at most {CAPS[part]:.0%} of the context"] if over else []
    if lost > over:
        reasons.append("there is no room beside the conversation" if not over else f"for {lost - over} there was no room")
    return f"{lost} of {pieces} left out: {', and '.join(reasons)}"


def history_note(cut: int, messages: int, earlier: int) -> str:
    """What of the conversation is not there word for word, and why."""
    notes = [f"the oldest {cut} of {messages} messages left out: there is no room for all"] if cut else []
    if earlier:
        notes.append(f"the first {earlier} messages of the conversation had no room any more and are told in a summary")
    return "; ".join(notes)


def _balanced(lines: Sequence[Share], rest: int) -> list[Share]:
    """Texts counted one by one can have a token more than together; the largest part gives it back, so that sums are right."""
    lines = list(lines)
    if rest < 0 and lines:
        place = max(range(len(lines)), key=lambda index: lines[index].tokens)
        largest = lines[place]
        lines[place] = Share(largest.part, largest.tokens + rest, largest.cut_tokens, largest.note)
    return lines


def explain(sizes: Iterable[tuple[PromptPart, int]], tokens: int, limit: int, room: Room) -> tuple[str, str]:
    """Message and remedy for a prompt whose fixed parts do not fit, the largest part first."""
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
    return message, f"Shorten the {largest}, or give the model a larger context in the settings."
