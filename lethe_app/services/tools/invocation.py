"""What the tools of one reply work with, and the words in which a model is told that something did not work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from lethe_app.domain.tools import CallOutcome, Tool, ToolCall, ToolContext, ToolOutput, ToolResult
from lethe_app.errors import LetheError
from lethe_app.services.events import AskTool
from lethe_app.storage.chats.sessions import Chats

T = TypeVar("T", bound=BaseModel)


def understood(kind: type[T], given: Mapping[str, Any]) -> T:
    """The arguments of a tool. Raises ValidationError for what cannot be meant."""
    spelled = {name.strip().casefold(): value for name, value in given.items()}
    properties = kind.model_json_schema().get("properties", {})
    found: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        value = given[name] if name in given else spelled.get(name.casefold())
        if value is not None or (name in given and field.is_required()):
            found[name] = _fitting(properties.get(name, {}), value)
    return kind.model_validate(found)


def _fitting(schema: Mapping[str, Any], value: object) -> object:
    """Words for what is no text but should be one, and a choice as it is spelled where only its capitals differ."""
    kinds = [schema, *schema.get("anyOf", ())]
    if any(kind.get("type") == "string" for kind in kinds):
        value = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        choices = [choice for kind in kinds for choice in kind.get("enum", ())]
        if isinstance(value, str) and choices:
            return next((one for one in choices if one.casefold() == str(value).strip().casefold()), value)
    return value


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
    return ToolResult(call=call, text=words, shown=f"could not {tool.title}: {words}", outcome=CallOutcome.FAILED)


def faults(problem: ValidationError) -> str:
    """In one line that a model can act on."""
    told = [f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in problem.errors()[:4]]
    return "; ".join(told)


LOG = logging.getLogger(__name__)


async def carried_out(tool: Tool, call: ToolCall, occasion: ToolContext) -> ToolOutput:
    """Raises whatever the tool raises, ValidationError for its arguments, and LetheError where it does not come to an end."""
    arguments = understood(tool.arguments, call.arguments)
    try:
        async with asyncio.timeout(tool.seconds) as alarm:
            told = await tool.run(occasion, arguments)
    except TimeoutError as problem:
        if alarm.expired():
            raise LetheError(f"It took longer than {tool.seconds:g} seconds and was given up.") from problem
        raise
    if not isinstance(told, ToolOutput):
        raise TypeError("a tool returns what is to be told")
    return told


async def at_stake(tool: Tool, call: ToolCall, occasion: ToolContext) -> str:
    """What the user is told beside the arguments. Raises ValidationError and LetheError where the tool would fail."""
    wish = understood(tool.arguments, call.arguments)
    if tool.about is None:
        return ""
    try:
        async with asyncio.timeout(tool.seconds):
            return str(await tool.about(occasion, wish))
    except LetheError:
        raise
    except Exception:  # the code of a plug-in may raise anything; then the arguments say what is wanted
        LOG.info("the tool %s could not tell what is at stake", tool.name, exc_info=True)
        return ""
