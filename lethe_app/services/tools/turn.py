"""Tool use within one reply: detect the model's calls, ask for permission, execute them and return the results to the model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel, ValidationError

from lethe_app.domain.chat import Alternative, ChatSession, DegradationKind
from lethe_app.domain.recall import TurnMemory
from lethe_app.domain.tools import MALFORMED, CallOutcome, PermissionAnswer, Tool, ToolCall, ToolContext, ToolOutput, ToolResult
from lethe_app.errors import LetheError
from lethe_app.prompt.format.tool_calls import ToolCallDetector
from lethe_app.services.events import Emit, NoteAdded, ReplyStarted, ToolPermissionRequested, ToolUsed
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.tool_messages import create_tool_messages
from lethe_app.services.sessions.reply_writer import ReplyWriter
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import SessionState

T = TypeVar("T", bound=BaseModel)


def parse_arguments(model: type[T], arguments: Mapping[str, Any]) -> T:
    """Parse the arguments of a call. Raise ValidationError if they do not fit the tool."""
    by_lower_name = {name.strip().casefold(): value for name, value in arguments.items()}
    properties = model.model_json_schema().get("properties", {})
    values: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        value = arguments[name] if name in arguments else by_lower_name.get(name.casefold())
        if value is not None or (name in arguments and info.is_required()):
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

ALLOWED_KEY = "tools allowed"
"""Key of the session state: tools that the user always allows in this session."""


class ToolPermissions:
    """Permissions of all sessions, and the request that waits for the user."""

    def __init__(self, session_state: SessionState, preferences: Preferences, is_qualified: Callable[[], bool]) -> None:
        """Create the permissions. While `is_qualified` returns False, every call with side effects asks."""
        self._session_state, self._preferences, self._is_qualified = session_state, preferences, is_qualified
        self._pending: ToolPermissionRequested | None = None

    async def must_ask(self, session_id: UUID, tool: Tool) -> bool:
        """Return whether the user has to allow a call of the tool."""
        if not (self._preferences.current.tools_always_ask or tool.asks or (tool.changes and not self._is_qualified())):
            return False
        return tool.name not in await self._list_allowed(session_id)

    async def wait_for_answer(self, session_id: UUID, tool: Tool, request: ToolPermissionRequested) -> PermissionAnswer:
        """Return the user's answer to a request. After `ALWAYS`, all calls of the tool are allowed in this session."""
        self._pending = request
        try:
            permission = await request.answer
        finally:
            self._pending = None
        if permission is PermissionAnswer.ALWAYS:
            allowed = {*await self._list_allowed(session_id), tool.name}
            await self._session_state.set(session_id, ALLOWED_KEY, sorted(allowed))
        return permission

    def decline_pending(self) -> None:
        """Deny a pending permission request, because another reply is requested."""
        if self._pending is not None:
            self._pending.decide(PermissionAnswer.NOT_NOW)

    async def _list_allowed(self, session_id: UUID) -> list[str]:
        stored = await self._session_state.get(session_id, ALLOWED_KEY)
        return [str(name) for name in stored] if isinstance(stored, list) else []


@dataclass(frozen=True)
class ToolServices:
    """Services and settings of the tools of one reply."""

    chats: SessionStore
    permissions: ToolPermissions
    tools: Sequence[Tool]
    is_native: bool
    """True if the model supports tool calls natively."""
    choose_call: Callable[[], Awaitable[ToolCall | None]]
    """Returns the call of a model without native tool calls."""
    store_text: Callable[[str, str], Awaitable[str]]
    """Stores a long text in working memory. Returns its key, or an empty string if the model has no tool to read it."""
    inventory: str
    max_result_characters: int
    """Maximum number of characters of a result in the prompt."""
    on_tool_error: Callable[[Tool, Exception], None]
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


MAX_ROUNDS = 10
"""Maximum number of generations of one reply that may end with tool calls."""
MAX_CALLS_PER_ROUND = 5
"""Maximum number of calls executed per generation."""


@dataclass
class ToolTurn:
    """State of tool use within one reply of a persona that has tools."""

    session: ChatSession
    writer: ReplyWriter
    persona: str
    user: str
    services: ToolServices
    turn: str = ""
    results: Sequence[ToolResult] = ()
    """Results of calls made for other alternatives of the same reply."""
    is_continued: bool = False
    """True if the reply is continued: it uses no tools, and a call is removed from the text and not executed."""
    rounds: int = 0
    partial_reply: Alternative | None = None
    """Text and thinking of the reply before its first call."""
    _detector: ToolCallDetector | None = None
    _call_counts: dict[str, int] = field(default_factory=dict)
    _refused_calls: set[str] = field(default_factory=set)
    has_stored: bool = False
    """True if calls and results were stored in the session, which belong to the history of the next prompt."""
    _is_first_round: bool = True
    _earlier_results: Sequence[ToolResult] = ()

    def __post_init__(self) -> None:
        self._earlier_results = self.results  # the results of this alternative are added to `results`

    def add_inventory(self, memory: TurnMemory | None) -> TurnMemory | None:
        """Return the memory of the turn with the inventory of working memory added."""
        if self.is_continued or not self.services.inventory:
            return memory
        return (memory or TurnMemory()).model_copy(update={"working_memory": self.services.inventory})

    def create_call_detector(self) -> ToolCallDetector | None:
        """Return a detector of tool calls for one generation; None if the model has no native tool calls."""
        is_needed = self.services.is_native or self.is_continued
        self._detector = ToolCallDetector([tool.name for tool in self.services.tools]) if is_needed else None
        return self._detector

    @property
    def has_pending_calls(self) -> bool:
        """Return whether the last generation contains calls and the limit of rounds is not reached."""
        has_calls = self._detector is not None and bool(self._detector.calls)
        return has_calls and not self.is_continued and self.rounds < MAX_ROUNDS

    def set_partial_reply(self, alternative: Alternative) -> None:
        """Store the text before the calls as `partial_reply`; what follows the calls begins a new paragraph."""
        if alternative.content.strip():
            alternative = alternative.model_copy(update={"content": f"{alternative.content.rstrip()}\n\n"})
        self.partial_reply = alternative.model_copy(update={"complete": False})

    @property
    def needs_generation(self) -> bool:
        """Return whether another generation is needed; always true before the first."""
        return self._is_first_round or self.has_pending_calls

    async def execute_pending_calls(self, emit: Emit) -> None:
        """Execute the pending calls before the next generation."""
        is_first, self._is_first_round = self._is_first_round, False
        if is_first:
            await self._call_before_reply(emit)
            return
        calls = self._detector.calls[:MAX_CALLS_PER_ROUND] if self._detector is not None else []
        self._detector = None
        self.rounds += 1
        await self._execute_calls(calls, emit)

    async def _call_before_reply(self, emit: Emit) -> None:
        """Let a model without native tool calls choose one before it answers. Nothing happens if results or text are present
        already.
        """
        if self.services.is_native or self.results or self.partial_reply is not None:
            return
        call = await self.services.choose_call()
        if call is None:
            return
        await emit(ReplyStarted(self.writer.message))
        await self._execute_calls([call], emit)

    async def _execute_calls(self, calls: Sequence[ToolCall], emit: Emit) -> None:
        results: list[ToolResult] = []
        is_stored = False
        try:
            for call in calls:
                permission = await self._obtain_permission(call, emit)
                results.append(await self._obtain_result(call, permission))
            is_stored = True
            for event in await self._store_results(results):
                await emit(event)
            for result in results:
                await emit(ToolUsed(result, self.writer.message.id))
        finally:
            if not is_stored and results:  # stopped in between: the completed calls are stored all the same
                await asyncio.shield(self._store_results(results))

    # Single calls

    def _find_tool(self, call: ToolCall) -> Tool | None:
        return next((tool for tool in self.services.tools if tool.name == call.name), None)

    async def _obtain_permission(self, call: ToolCall, emit: Emit) -> PermissionAnswer:
        """Return whether a call is allowed. The user is asked if the tool always asks, or if a tool with side effects was used
        for another alternative and would be called differently now.
        """
        services, tool = self.services, self._find_tool(call)
        if tool is None or call.key in self._refused_calls or self._find_earlier_result(call) is not None:
            return PermissionAnswer.ALLOW
        was_used = tool.changes and any(
            result.call.name == call.name and result.outcome is CallOutcome.DONE for result in self._earlier_results
        )
        if not (was_used or await services.permissions.must_ask(self.session.guid, tool)):
            return PermissionAnswer.ALLOW
        try:
            about = await describe_call(tool, call, self._build_context(0))
        except (ValidationError, LetheError):  # the call would fail, so the model gets the error without a permission request
            return PermissionAnswer.ALLOW
        answer = asyncio.get_running_loop().create_future()
        request = ToolPermissionRequested(call, tool.title, self.persona, about, answer)
        await emit(request)
        return await services.permissions.wait_for_answer(self.session.guid, tool, request)

    def _find_earlier_result(self, call: ToolCall) -> ToolResult | None:
        """Return the result of an equal call made before for this reply, in any alternative; None if it must be executed."""
        number = self._call_counts.get(call.key, 0)
        equal_results = [
            result for result in self.results if result.call.key == call.key and result.outcome is CallOutcome.DONE
        ]
        tool = self._find_tool(call)
        if number < len(equal_results):
            # Equal calls get the earlier results in their order, so that all alternatives of a reply see the same ones.
            return equal_results[number]
        return equal_results[-1] if equal_results and tool is not None and not tool.every_time else None

    def _build_context(self, number: int) -> ToolContext:
        participants = (self.session.persona_id, self.persona, self.user, self.session.guid)
        return ToolContext(*participants, self.turn, number)

    async def _obtain_result(self, call: ToolCall, permission: PermissionAnswer) -> ToolResult:
        number = self._call_counts.get(call.key, 0)
        earlier = self._find_earlier_result(call)
        self._call_counts[call.key] = number + 1
        if earlier is not None:
            return earlier.model_copy(update={"call": call})
        if permission is PermissionAnswer.NOT_NOW or call.key in self._refused_calls:
            self._refused_calls.add(call.key)
            title = tool.title if (tool := self._find_tool(call)) else call.name
            text = DECLINED_MESSAGE.format(user=self.user)
            return ToolResult(call=call, text=text, shown=f"did not {title}: you declined", outcome=CallOutcome.REFUSED)
        result = await self._execute_call(call, number)
        if result.outcome is CallOutcome.FAILED:
            self.writer.note_degradation(DegradationKind.TOOL_FAILED, tool=call.name)
        self.results = [*self.results, result]
        return result

    async def _execute_call(self, call: ToolCall, number: int) -> ToolResult:
        services, tool = self.services, self._find_tool(call)
        if tool is None:
            names = ", ".join(candidate.name for candidate in services.tools)
            message = (
                MALFORMED_CALL_MESSAGE
                if call.name == MALFORMED
                else UNKNOWN_TOOL_MESSAGE.format(name=call.name[:60], names=names)
            )
            return ToolResult(call=call, text=message, shown="called an unknown tool", outcome=CallOutcome.FAILED)
        try:
            output = await execute_call(tool, call, self._build_context(number))
        except ValidationError as error:
            return build_failed_result(call, tool, f"That did not fit: {describe_errors(error)}")
        except LetheError as error:
            return build_failed_result(call, tool, " ".join(filter(None, (error.message, error.remedy))))
        except Exception as error:  # a plug-in may raise anything; the reply is generated all the same
            LOG.info("the tool %s failed", tool.name, exc_info=True)
            services.on_tool_error(tool, error)
            return build_failed_result(call, tool, f"It broke ({type(error).__name__}).")
        output = await self._shorten_output(tool, output)
        return ToolResult(call=call, text=output.text, shown=output.shown)

    async def _shorten_output(self, tool: Tool, output: ToolOutput) -> ToolOutput:
        services = self.services
        if output.is_limited or len(output.text) <= services.max_result_characters:
            return output
        key = await services.store_text(f"{tool.name}-{self.turn[:4]}-{len(self.results) + 1}", output.text)
        remainder = f"The whole text is in working memory under “{key}”" if key else "The rest is left out"
        return replace(output, text=f"{output.text[: services.max_result_characters].rstrip()} …\n({remainder}.)")

    async def _store_results(self, results: Sequence[ToolResult]) -> list[NoteAdded]:
        """Store calls and results as messages directly before the reply, whether that is stored already or not."""
        chats, reply_id = self.services.chats, self.writer.message.id
        messages = create_tool_messages(self.session, self.persona, [result.call for result in results], results)
        self.has_stored = True
        if not self.writer.is_stored:
            return [NoteAdded(message, reply_id) for message in await chats.add_messages(messages)]
        return [NoteAdded(await chats.insert_above(message, reply_id), reply_id) for message in messages]
