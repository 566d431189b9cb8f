"""Constraints of a chat format, and adaptation of a conversation to them without losing text or changing earlier turns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lethe_app.domain.prompt import PromptTurn

SCENE_START = "[The scene begins.]"
"""User turn inserted before a greeting where a format requires that the user speaks first."""
SCENE_GOES_ON = "[The scene goes on.]"
"""User turn appended after a reply where roles must alternate and the persona replies again."""


NOTE_ROLES = frozenset({"system", "tool", "calls"})
"""Roles whose turns are not spoken by a participant."""


@dataclass(frozen=True)
class FormatConstraints:
    """What a format accepts."""

    system: bool = True
    """A system turn at the beginning."""
    mid_system: bool = True
    """System turns later in the conversation."""
    assistant_first: bool = True
    """A conversation that begins with an assistant turn."""
    consecutive: bool = True
    """Two consecutive turns of the same role, and a reply after a reply."""
    needs_user: bool = False
    """At least one user turn is required."""
    tools: bool = False
    """Tool calls and results; otherwise both become notes in a user turn."""
    empty_system: bool = False
    """The format invents a system text if there is none, and an empty system turn prevents that."""
    system_start: str = ""
    system_end: str = "\n\n"
    """Text before and after the system text where it is merged into the first user turn."""


def adapt_turns(
    turns: Sequence[PromptTurn], constraints: FormatConstraints, *, continue_last: bool = False
) -> list[PromptTurn]:
    """Return the conversation adapted to what the format accepts.

    Each turn is decided from the front, never by what comes later, so that appending a turn changes nothing before it and
    the KV cache stays valid.
    """
    count = next((index for index, turn in enumerate(turns) if turn.role != "system"), len(turns))
    texts = [turn.content for turn in turns[:count] if turn.content]
    head, body = (PromptTurn("system", "\n\n".join(texts)) if texts else None), turns[count:]
    body = [_as_note(turn) if turn.role in NOTE_ROLES and not _is_accepted(turn, constraints) else turn for turn in body]
    to_merge = head is not None and not constraints.system
    # The user turn that opens the conversation also carries the system text if the format has no system role.
    needs_user = to_merge or constraints.needs_user or not constraints.assistant_first
    if needs_user and (not body or body[0].role == "assistant"):
        body.insert(0, PromptTurn("user", "" if to_merge else SCENE_START))
    if not constraints.consecutive:
        body = _join_neighbours(body)
        if body and body[-1].role == "assistant" and not continue_last:
            body.append(PromptTurn("user", SCENE_GOES_ON))
    if head is None:
        return [PromptTurn("system", ""), *body] if constraints.empty_system else body
    return [_merge_system(head, body[0], constraints), *body[1:]] if to_merge else [head, *body]


def _is_accepted(turn: PromptTurn, constraints: FormatConstraints) -> bool:
    if turn.role != "system":
        return constraints.tools
    return constraints.system and constraints.mid_system


def _as_note(turn: PromptTurn) -> PromptTurn:
    """Return a note as a user turn in brackets, because the format has no other role for it."""
    text = turn.content.strip()
    if turn.role == "calls":
        text = f"{turn.name} uses {_describe_calls(text)}"
    return PromptTurn("user", text if text.startswith("[") and text.endswith("]") else f"[{text}]")


def _describe_calls(calls_json: str) -> str:
    """Return tool calls in words, “dice_roll (dice: 2d6)”, because small models repeat whatever looks like JSON or markup."""
    try:
        calls = [call["function"] for call in json.loads(calls_json)]
    except (ValueError, TypeError, KeyError):
        return calls_json
    descriptions = [
        (call["name"], ", ".join(f"{name}: {value}" for name, value in call["arguments"].items())) for call in calls
    ]
    return "; ".join(f"{name} ({arguments})" if arguments else str(name) for name, arguments in descriptions)


def _join_neighbours(turns: Sequence[PromptTurn]) -> list[PromptTurn]:
    """Merge consecutive turns of the same role, except tool turns, with a blank line between them."""
    joined: list[PromptTurn] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role and turn.role not in {"calls", "tool"}:
            content = "\n\n".join(text for text in (joined[-1].content, turn.content) if text)
            joined[-1] = replace(joined[-1], content=content)
        else:
            joined.append(turn)
    return joined


def _merge_system(head: PromptTurn, first: PromptTurn, constraints: FormatConstraints) -> PromptTurn:
    text = f"{constraints.system_start}{head.content}{constraints.system_end}"
    return replace(first, content=text + first.content if first.content else text.rstrip("\n"))
