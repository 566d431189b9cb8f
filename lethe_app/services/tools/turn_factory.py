"""Tools of a reply: their declarations in the prompt, the services their calls need, and the call of a model without native
tool calls: if the user's message makes a tool likely, it chooses one and fills in the arguments by structured output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import Field, ValidationError, create_model

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.domain.chat import Alternative, ChatSession, Message
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.persona import Persona
from lethe_app.domain.tools import PermissionAnswer, Tool, ToolCall
from lethe_app.errors import ModelError
from lethe_app.prompt.format.tool_calls import has_native_tools, with_tools
from lethe_app.services.events import ToolPermissionRequested
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.memory.working_memory import WorkingMemory, session_namespace
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import InstructionFile, ModelFormats, ToolPrompt
from lethe_app.services.prompting.tool_messages import results_above
from lethe_app.services.prompting.turn_context import TurnContext
from lethe_app.services.sessions.reply_writer import ReplyWriter
from lethe_app.services.tools.registry import ToolRegistry
from lethe_app.services.tools.turn import ToolServices, ToolTurn
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import SessionState

ALLOWED_KEY = "tools allowed"
"""Key of the session state: tools that the user always allows in this session."""


class SessionPermissions:
    """Permissions of one reply. Settings that change meanwhile count from the next one on."""

    def __init__(
        self, session_state: SessionState, session_id: UUID, allowed: set[str], needs_permission: Callable[[Tool], bool]
    ) -> None:
        self._session_state, self._session_id, self._allowed = session_state, session_id, allowed
        self._needs_permission = needs_permission

    def must_ask(self, tool: Tool) -> bool:
        """Return whether the user has to allow a call of the tool."""
        return self._needs_permission(tool) and tool.name not in self._allowed

    async def allow(self, tool: Tool) -> None:
        """Allow all calls of the tool in this session."""
        self._allowed.add(tool.name)
        await self._session_state.set(self._session_id, ALLOWED_KEY, sorted(self._allowed))


class ToolPermissions:
    """Permissions of all sessions, and the request that waits for the user."""

    def __init__(self, session_state: SessionState, preferences: Preferences, is_qualified: Callable[[], bool]) -> None:
        """Create the permissions. While `is_qualified` returns False, every call with side effects asks."""
        self._session_state, self._preferences, self._is_qualified = session_state, preferences, is_qualified
        self._pending: ToolPermissionRequested | None = None

    async def load_permissions(self, session_id: UUID) -> SessionPermissions:
        """Return the permissions of a session."""
        stored, always_ask = await self._session_state.get(session_id, ALLOWED_KEY), self._preferences.current.tools_always_ask
        allowed = {str(name) for name in stored} if isinstance(stored, list) else set[str]()

        def needs_permission(tool: Tool) -> bool:
            return always_ask or tool.asks or (tool.changes and not self._is_qualified())

        return SessionPermissions(self._session_state, session_id, allowed, needs_permission)

    def set_pending(self, request: ToolPermissionRequested | None) -> None:
        """Remember the request that waits for the user; None if there is none."""
        self._pending = request

    def decline_pending(self) -> None:
        """Deny a pending permission request, because another reply is requested."""
        if self._pending is not None:
            self._pending.decide(PermissionAnswer.NOT_NOW)


READ_TOOL = "bench_get"
MAX_LISTED_KEYS = 8
"""Number of keys of working memory listed for a model without native tool calls."""
MIN_RESULT_CHARACTERS, MAX_RESULT_CHARACTERS, CONTEXT_DIVISOR = 400, 2400, 6
"""Characters of one result in a prompt: minimum, maximum, and the divisor of the context length in tokens."""


class ToolTurnFactory:
    """Factory of the tool state of replies."""

    def __init__(
        self,
        registry: ToolRegistry,
        permissions: ToolPermissions,
        working_memory: WorkingMemory,
        session_store: SessionStore,
        formats: ModelFormats,
        instructions: InstructionFile,
        task_model: StructuredOutput,
        preferences: Preferences,
    ) -> None:
        """Create the factory. `task_model` must be usable within the turn."""
        self.permissions = permissions
        self._registry, self._working_memory, self._session_store = registry, working_memory, session_store
        self._formats, self._instructions, self._task_model = formats, instructions, task_model
        self._preferences = preferences

    async def start_turn(
        self,
        turn: TurnContext,
        model: LoadedModel,
        continued: Alternative | None,
        writer: ReplyWriter,
    ) -> ToolTurn | None:
        """Return the tool state of one reply; None if the persona has no tools, or in an incognito session, since tools store
        what they do.

        A continued alternative uses no tools: its results are in the history already.
        """
        session, participants = turn.session, turn.participants
        names = (participants.persona.name, participants.user.name)
        tools = self._registry.tools_of(participants.persona)
        if not tools or session.is_incognito:
            return None
        if continued is not None:
            return ToolTurn(session, writer, *names, partial_reply=continued, unavailable_tools=[tool.name for tool in tools])
        user_message = turn.user_message
        can_read = any(tool.name == READ_TOOL for tool in tools)
        namespace = session_namespace(session.guid)
        inventory = await self._working_memory.build_inventory(session.persona_id, namespace) if can_read else ""
        services = await self._build_services(session, participants, model, tools, user_message, inventory)
        turn_id = str(user_message.id) if user_message is not None else str(session.guid)
        earlier_results = results_above(turn.messages) if turn.before is not None else ()
        return ToolTurn(session, writer, *names, services, turn_id, earlier_results)

    async def build_tool_prompt(self, persona: Persona, model: LoadedModel) -> ToolPrompt:
        """Return the instructions and declarations of a persona's tools for a prompt."""
        declared = [tool.declared for tool in self._registry.tools_of(persona)]
        if not declared:
            return ToolPrompt()
        renderer = (await self._formats.renderer(model)).renderer
        is_explained = self._preferences.current.tools_explained and has_native_tools(with_tools(renderer, declared))
        return ToolPrompt(self._instructions.read_text() if is_explained else "", declared)

    async def _build_services(
        self,
        session: ChatSession,
        participants: Participants,
        model: LoadedModel,
        tools: Sequence[Tool],
        user_message: Message | None,
        inventory: str,
    ) -> ToolServices:
        renderer = (await self._formats.renderer(model)).renderer
        permissions = await self.permissions.load_permissions(session.guid)

        async def choose_call() -> ToolCall | None:
            text = user_message.content if user_message is not None else ""
            offered_tools = [
                *find_likely_tools(tools, text),
                *(await self._working_memory_tools(session, tools, text) if inventory else []),
            ]
            return (
                await decide_call(self._task_model, offered_tools, participants.user.name, participants.persona.name, text)
                if offered_tools
                else None
            )

        async def store_text(key: str, text: str) -> str:
            if not any(tool.name == READ_TOOL for tool in tools):
                return ""
            namespace = session_namespace(session.guid)
            return (await self._working_memory.save_entry(session.persona_id, namespace, key, text)).key

        return ToolServices(
            chats=self._session_store,
            tools=tools,
            is_native=has_native_tools(with_tools(renderer, [tool.declared for tool in tools])),
            must_ask=permissions.must_ask,
            allow=permissions.allow,
            on_question=self.permissions.set_pending,
            choose_call=choose_call,
            store_text=store_text,
            inventory=inventory,
            max_result_characters=min(MAX_RESULT_CHARACTERS, max(MIN_RESULT_CHARACTERS, model.context // CONTEXT_DIVISOR)),
            on_tool_error=self._registry.record_tool_error,
        )

    async def _working_memory_tools(self, session: ChatSession, tools: Sequence[Tool], text: str) -> list[Tool]:
        """Return the tool that reads working memory, with the matching keys in its description, for a model without native
        tool calls.
        """
        namespace = session_namespace(session.guid)
        mentioned = await self._working_memory.find_mentioned(session.persona_id, namespace, text)
        keys = [one.key if one.namespace == namespace else one.path for one in mentioned][:MAX_LISTED_KEYS]
        read_tool = next((tool for tool in tools if tool.name == READ_TOOL), None)
        return (
            [replace(read_tool, description=f"{read_tool.description} There is: {', '.join(keys)}.")]
            if read_tool and keys
            else []
        )


NO_TOOL = "none"
MAX_OFFERED_TOOLS = 4
MAX_MESSAGE_CHARACTERS = 1500


class _ToolArguments(LlmAnswer):
    """Arguments of one tool."""

    max_tokens: ClassVar[int] = 220


def find_likely_tools(tools: Sequence[Tool], text: str) -> list[Tool]:
    """Return the tools whose hint matches the message, mostly none."""
    words = " ".join(text.split())[:MAX_MESSAGE_CHARACTERS]
    return [tool for tool in tools if tool.hint and re.search(tool.hint, words, re.IGNORECASE)][:MAX_OFFERED_TOOLS]


async def decide_call(
    task_model: StructuredOutput, tools: Sequence[Tool], user: str, persona: str, message: str
) -> ToolCall | None:
    """Return the call the model wants to make before it answers `message`; None if it wants none or gives no usable answer."""
    placeholders = {"user": user, "persona": persona, "message": message[:MAX_MESSAGE_CHARACTERS]}
    try:
        name = await _choose_tool(task_model, tools, placeholders)
        tool = next((candidate for candidate in tools if candidate.name == name), None)
        if tool is None:
            return None
        if not tool.arguments.model_fields:
            return ToolCall(name=name)
        field_items = tool.arguments.model_fields.items()
        fields = "\n".join(f"- {name}: {field_info.description or 'in words'}" for name, field_info in field_items)
        today = f"{now().astimezone():%A %Y-%m-%d}"
        tool_placeholders = {"tool": tool.name, "description": tool.description, "fields": fields, "today": today}
        answer = await task_model.ask("tools_fill", build_answer_class(tool), **placeholders, **tool_placeholders)
    except (ModelError, ValidationError):  # no usable answer: the reply is generated without a tool
        return None
    return ToolCall(name=tool.name, arguments=json.loads(answer.model_dump_json(exclude_defaults=True)))


async def _choose_tool(task_model: StructuredOutput, tools: Sequence[Tool], placeholders: dict[str, str]) -> str:
    names = [*(tool.name for tool in tools), NO_TOOL]
    tool_list = "\n".join(f"- {tool.name}: {tool.description}" for tool in tools)
    choices: Any = Literal[tuple(names)]
    choice = create_model("Tool", __base__=LlmAnswer, tool=(choices, ...))
    answer = await task_model.ask("tools_choose", choice, tools=tool_list, **placeholders)
    return str(answer.tool)  # type: ignore[attr-defined]  # the field was just made


def build_answer_class(tool: Tool) -> type[LlmAnswer]:
    """Return an answer class with the fields of a tool's arguments. All fields are required, so that the model omits none."""
    fields: dict[str, Any] = {
        name: (field.annotation, _require_field(field)) for name, field in tool.arguments.model_fields.items()
    }
    return create_model("Arguments", __base__=_ToolArguments, **fields)


def _require_field(field: Any) -> Any:  # noqa: ANN401 - pydantic's own type has no useful name
    if field.is_required():
        return Field(..., description=field.description)
    return Field(default=field.get_default(call_default_factory=True), description=field.description)
