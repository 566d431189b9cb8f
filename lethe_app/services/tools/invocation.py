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
from lethe_app.services.events import ToolPermissionRequested
from lethe_app.storage.chats.sessions import SessionStore

T = TypeVar("T", bound=BaseModel)


def parse_arguments(model: type[T], arguments: Mapping[str, Any]) -> T:
    """Parse the arguments of a call. Raise ValidationError if they do not fit the tool."""
    by_lower_name = {name.strip().casefold(): value for name, value in arguments.items()}
    properties = model.model_json_schema().get("properties", {})
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        value = arguments[name] if name in arguments else by_lower_name.get(name.casefold())
        if value is not None or (name in arguments and field.is_required()):
            values[name] = _coerce_value(properties.get(name, {}), value)
    return model.model_validate(values)


def _coerce_value(schema: Mapping[str, Any], value: object) -> object:
    """Coerce a value to its schema: numbers become strings where those are expected, and choices are matched regardless of
    case.
    """
    alternatives = [schema, *schema.get("anyOf", ())]
    if any(alternative.get("type") == "string" for alternative in alternatives):
        value = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        choices = [choice for alternative in alternatives for choice in alternative.get("enum", ())]
        if isinstance(value, str) and choices:
            return next(
                (choice_text for choice_text in choices if choice_text.casefold() == str(value).strip().casefold()), value
            )
    return value


DECLINED_MESSAGE = "{user} does not want that now. Go on without it, and do not ask again in this reply."
UNKNOWN_TOOL_MESSAGE = "There is no tool called “{name}”. There are: {names}."
MALFORMED_CALL_MESSAGE = (
    "That call could not be understood. Write it as one JSON object with name and arguments, or answer without it."
)

QuestionListener = Callable[[ToolPermissionRequested | None], None]
StoreText = Callable[[str, str], Awaitable[str]]
"""Stores a long text in working memory. Returns its key, or an empty string if the model has no tool to read it."""


@dataclass(frozen=True)
class ToolServices:
    """Services and settings of the tools of one reply."""

    chats: SessionStore
    tools: Sequence[Tool]
    is_native: bool
    """True if the model supports tool calls natively."""
    must_ask: Callable[[Tool], bool]
    allow: Callable[[Tool], Awaitable[None]]
    """Allows a tool from now on in this session."""
    on_question: QuestionListener
    """Receives the pending permission request, and None when it was answered."""
    choose_call: Callable[[], Awaitable[ToolCall | None]]
    """Returns the call of a model without native tool calls."""
    store_text: StoreText
    inventory: str
    max_result_characters: int
    """Maximum number of characters of a result in the prompt."""
    on_tool_error: Callable[[Tool, Exception], None] = lambda _tool, _error: None
    """Receives errors in the code of a tool."""


def build_failed_result(call: ToolCall, tool: Tool, reason: str) -> ToolResult:
    """Return the result of a failed call; `reason` is shown to the model and the user."""
    return ToolResult(call=call, text=reason, shown=f"could not {tool.title}: {reason}", outcome=CallOutcome.FAILED)


def describe_errors(error: ValidationError) -> str:
    """Return the validation errors in one line that a model can act on."""
    messages = [f"{'.'.join(map(str, detail['loc'])) or 'arguments'}: {detail['msg']}" for detail in error.errors()[:4]]
    return "; ".join(messages)


LOG = logging.getLogger(__name__)


async def execute_call(tool: Tool, call: ToolCall, context: ToolContext) -> ToolOutput:
    """Execute a call. Raise whatever the tool raises, ValidationError for invalid arguments, and LetheError after a timeout."""
    arguments = parse_arguments(tool.arguments, call.arguments)
    try:
        async with asyncio.timeout(tool.seconds) as timeout:
            output = await tool.run(context, arguments)
    except TimeoutError as error:
        if timeout.expired():
            raise LetheError(f"It took longer than {tool.seconds:g} seconds and was given up.") from error
        raise
    if not isinstance(output, ToolOutput):
        raise TypeError("a tool must return a ToolOutput")
    return output


async def describe_call(tool: Tool, call: ToolCall, context: ToolContext) -> str:
    """Return the explanation shown beside the arguments in a permission request. Raise ValidationError and LetheError if the
    call would fail.
    """
    arguments = parse_arguments(tool.arguments, call.arguments)
    if tool.about is None:
        return ""
    try:
        async with asyncio.timeout(tool.seconds):
            return str(await tool.about(context, arguments))
    except LetheError:
        raise
    except Exception:  # a plug-in may raise anything; the request then shows the arguments alone
        LOG.info("the tool %s could not describe its call", tool.name, exc_info=True)
        return ""
