"""What the tools of one reply work with, and the words in which a model is told that something did not work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from lethe_app.domain.tools import Outcome, Tool, ToolCall, ToolResult
from lethe_app.services.events import AskTool
from lethe_app.storage.chats import Chats

NOT_WANTED = "{user} does not want that now. Go on without it, and do not ask again in this reply."
NO_SUCH = "There is no tool called “{name}”. There are: {names}."
UNREADABLE = "That call could not be understood. Write it as one JSON object with name and arguments, or answer without it."

Ask = Callable[[AskTool | None], None]
Put = Callable[[str, str], Awaitable[str]]
"""Lays a text that is too long on the workbench; returns its key, or nothing where the model could not fetch it."""


@dataclass(frozen=True)
class Means:
    """What the tools of a reply work with."""

    chats: Chats
    tools: Sequence[Tool]
    is_native: bool
    """Does the model ask by itself?"""
    must_ask: Callable[[Tool], bool]
    allow: Callable[[Tool], Awaitable[None]]
    """From now on in this conversation."""
    asking: Ask
    """Told the question that waits for an answer, and None when it waits no more."""
    decide: Callable[[], Awaitable[ToolCall | None]]
    """What a model wants that cannot ask by itself."""
    put: Put
    inventory: str
    room: int
    """Characters that a result may have in the prompt."""
    broke: Callable[[Tool, Exception], None] = lambda _tool, _error: None
    """Told of a fault in the code of a tool."""


def failed(call: ToolCall, tool: Tool, words: str) -> ToolResult:
    """Something went wrong, and these words say what."""
    return ToolResult(call=call, text=words, shown=f"could not {tool.title}: {words}", outcome=Outcome.FAILED)


def faults(problem: ValidationError) -> str:
    """In one line that a model can act on."""
    told = [f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in problem.errors()[:4]]
    return "; ".join(told)
