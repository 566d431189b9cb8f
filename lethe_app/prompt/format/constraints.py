"""What a format accepts as a conversation, and how ours is fitted to it without losing a word or moving earlier ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lethe_app.domain.prompt import PromptTurn

SCENE_START = "[The scene begins.]"
"""Stands before a greeting where a format insists that the user speaks first."""
SCENE_GOES_ON = "[The scene goes on.]"
"""Stands between two replies in a row where a format insists that the user speaks in between."""


NOTES = frozenset({"system", "tool", "calls"})
"""What nobody says aloud."""


@dataclass(frozen=True)
class Manners:
    """What a format accepts."""

    system: bool = True
    """A system turn at the beginning."""
    mid_system: bool = True
    """System turns later on."""
    assistant_first: bool = True
    """A conversation that the assistant opens."""
    consecutive: bool = True
    """Two turns of the same role in a row, and a reply after a reply."""
    needs_user: bool = False
    """At least one user turn."""
    tools: bool = False
    """Calls of tools and their results; else both are told as lines from behind the scenes."""
    empty_system: bool = False
    """Without a system turn it invents its own, and an empty one prevents that."""
    system_start: str = ""
    system_end: str = "\n\n"
    """Around the system text where it is put into the first user turn."""


def fit(turns: Sequence[PromptTurn], manners: Manners, *, continue_last: bool = False) -> list[PromptTurn]:
    """The same conversation, as `manners` allow it.

    Decided turn by turn from the front and never by what comes later, so that appending a turn changes nothing before it.
    """
    head, body = _split_system(turns)
    body = [_as_note(turn) if turn.role in NOTES and not _may_stay(turn, manners) else turn for turn in body]
    to_merge = head is not None and not manners.system
    if _wants_opening(body, manners, to_merge=to_merge):
        body.insert(0, PromptTurn("user", "" if to_merge else SCENE_START))
    if not manners.consecutive:
        body = _join_neighbours(body)
        if body and body[-1].role == "assistant" and not continue_last:
            body.append(PromptTurn("user", SCENE_GOES_ON))
    if head is None:
        return [PromptTurn("system", ""), *body] if manners.empty_system else body
    return [_merged(head, body[0], manners), *body[1:]] if to_merge else [head, *body]


def _may_stay(turn: PromptTurn, manners: Manners) -> bool:
    if turn.role != "system":
        return manners.tools
    return manners.system and manners.mid_system


def _split_system(turns: Sequence[PromptTurn]) -> tuple[PromptTurn | None, list[PromptTurn]]:
    """All leading system turns as one, and the rest."""
    count = next((index for index, turn in enumerate(turns) if turn.role != "system"), len(turns))
    texts = [turn.content for turn in turns[:count] if turn.content]
    return (PromptTurn("system", "\n\n".join(texts)) if texts else None), list(turns[count:])


def _as_note(turn: PromptTurn) -> PromptTurn:
    """A line from behind the scenes, on the user's side because the format knows nobody else."""
    text = turn.content.strip()
    if turn.role == "calls":
        text = f"{turn.name} uses {_calls_in_words(text)}"
    return PromptTurn("user", text if text.startswith("[") and text.endswith("]") else f"[{text}]")


def _wants_opening(body: Sequence[PromptTurn], manners: Manners, *, to_merge: bool) -> bool:
    """Must a user turn be put first? It also carries the system text where that has no turn of its own."""
    if not body:
        return to_merge or manners.needs_user or not manners.assistant_first
    return body[0].role == "assistant" and (to_merge or manners.needs_user or not manners.assistant_first)


def _calls_in_words(spelled: str) -> str:
    """“dice_roll (dice: 2d6)”: small models repeat whatever looks like a form."""
    try:
        calls = [call["function"] for call in json.loads(spelled)]
    except (ValueError, TypeError, KeyError):
        return spelled
    told = [(call["name"], ", ".join(f"{name}: {value}" for name, value in call["arguments"].items())) for call in calls]
    return "; ".join(f"{name} ({given})" if given else str(name) for name, given in told)


def _join_neighbours(turns: Sequence[PromptTurn]) -> list[PromptTurn]:
    joined: list[PromptTurn] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role and turn.role not in {"calls", "tool"}:
            content = "\n\n".join(text for text in (joined[-1].content, turn.content) if text)
            joined[-1] = replace(joined[-1], content=content)
        else:
            joined.append(turn)
    return joined


def _merged(head: PromptTurn, first: PromptTurn, manners: Manners) -> PromptTurn:
    text = f"{manners.system_start}{head.content}{manners.system_end}"
    return replace(first, content=text + first.content if first.content else text.rstrip("\n"))
