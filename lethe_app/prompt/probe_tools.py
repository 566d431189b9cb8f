"""Finds out whether a model's chat template can tell of tools, and whether what it writes of them stays as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lethe_app.domain.prompt import Turn
from lethe_app.prompt.probe import REPLY, REPLY_2, SYSTEM, USER, USER_2, Probed, Try

RESULT = Turn("tool", "Qresultq", "a1b2c3d4e qtool")


def takes_tools(plain: Try, equipped: Try, probed: Probed, names: Sequence[str]) -> bool:
    """Is every name there, are calls and results shown, and is a longer conversation the shorter one with more behind it?

    Some put the tools in front of the newest question: then a model would read most of the conversation again every turn.
    """
    calls = [{"id": "a1b2c3d4e", "function": {"name": names[0], "arguments": {"qkey": "Qvalueq"}}}]
    call = Turn("calls", json.dumps(calls))
    head = [SYSTEM] if probed.manners.system else []
    question = [*head, USER]
    used = [*question, call, RESULT]

    def text(attempt: Try, turns: Sequence[Turn], *, opening: bool = False) -> str | None:
        return attempt(turns, opening=opening, thinking=True, parts=probed.content_in_parts)

    before, after = text(equipped, question), text(equipped, [*question, REPLY, USER_2])
    told, then = text(equipped, used), text(equipped, [*used, REPLY_2, USER_2])
    if before is None or after is None or told is None or then is None or text(equipped, used, opening=True) is None:
        return False
    shown = all(name in before for name in names) and not all(name in (text(plain, question) or "") for name in names)
    spelled = all(word in told for word in (names[0], "qkey", "Qvalueq", RESULT.content))
    return shown and spelled and _begins(after, before, USER.content) and _begins(then, told, RESULT.content)


def _begins(longer: str, shorter: str, last: str) -> bool:
    """Is the shorter one, up to its last content, still there byte for byte?"""
    words, found, _ = shorter.rpartition(last)
    return longer.startswith(words + found)
