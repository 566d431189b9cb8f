"""Execution of tool calls, the services they need, and the error messages for the model."""

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
    """Parse the arguments of a call. Raise ValidationError if they do not fit the tool."""
    spelled = {name.strip().casefold(): value for name, value in given.items()}
    properties = kind.model_json_schema().get("properties", {})
    found: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        value = given[name] if name in given else spelled.get(name.casefold())
        if value is not None or (name in given and field.is_required()):
            found[name] = _fitting(properties.get(name, {}), value)
    return kind.model_validate(found)


def _fitting(schema: Mapping[str, Any], value: object) -> object:
    """Coerce a value to its schema: numbers become strings where those are expected, and choices are matched regardless of
    case.
    """
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
"""Stores a long text in working memory. Returns its key, or an empty string if the model has no tool to read it."""


@dataclass(frozen=True)
class Means:
    """Services and settings of the tools of one reply."""

    chats: Chats
    tools: Sequence[Tool]
    is_native: bool
    """True if the model supports tool calls natively."""
    must_ask: Callable[[Tool], bool]
    allow: Callable[[Tool], Awaitable[None]]
    """Allows a tool from now on in this session."""
    asking: Ask
    """Receives the pending permission request, and None when it was answered."""
    decide: Callable[[], Awaitable[ToolCall | None]]
    """Returns the call of a model without native tool calls."""
    put: Put
    inventory: str
    room: int
    """Maximum number of characters of a result in the prompt."""
    broke: Callable[[Tool, Exception], None] = lambda _tool, _error: None
    """Receives errors in the code of a tool."""


def failed(call: ToolCall, tool: Tool, words: str) -> ToolResult:
    """Return the result of a failed call; `words` give the reason."""
    return ToolResult(call=call, text=words, shown=f"could not {tool.title}: {words}", outcome=CallOutcome.FAILED)


def faults(problem: ValidationError) -> str:
    """Return the validation errors in one line that a model can act on."""
    told = [f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in problem.errors()[:4]]
    return "; ".join(told)


LOG = logging.getLogger(__name__)


async def carried_out(tool: Tool, call: ToolCall, occasion: ToolContext) -> ToolOutput:
    """Execute a call. Raise whatever the tool raises, ValidationError for invalid arguments, and LetheError after a timeout."""
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
    """Return the explanation shown beside the arguments in a permission request. Raise ValidationError and LetheError if the
    call would fail.
    """
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
