"""Tools of a reply: their declarations in the prompt, the services their calls need, and the call of a model without native
tool calls: if the user's message makes a tool likely, it chooses one and fills in the arguments by structured output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from pydantic import Field, ValidationError, create_model

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.domain.chat import Alternative, ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.persona import Persona
from lethe_app.domain.tools import Tool, ToolCall
from lethe_app.errors import ModelError
from lethe_app.prompt.format.tool_calls import has_native_tools, with_tools
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.memory.working_memory import WorkingMemory, session_namespace
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import InstructionFile, ModelFormats, ToolPrompt
from lethe_app.services.prompting.tool_messages import results_above
from lethe_app.services.prompting.turn_context import TurnContext
from lethe_app.services.sessions.reply_writer import ReplyWriter
from lethe_app.services.tools.registry import ToolRegistry
from lethe_app.services.tools.turn import ToolPermissions, ToolServices, ToolTurn
from lethe_app.storage.chats.sessions import SessionStore

READ_TOOL = "bench_get"
MAX_LISTED_KEYS = 8
"""Number of keys of working memory listed for a model without native tool calls."""
MIN_RESULT_CHARACTERS, MAX_RESULT_CHARACTERS, CONTEXT_DIVISOR = 400, 2400, 6
"""Characters of one result in a prompt: minimum, maximum, and the divisor of the context length in tokens."""


@dataclass(frozen=True)
class ToolTurnFactory:
    """Factory of the tool state of replies."""

    registry: ToolRegistry
    permissions: ToolPermissions
    working_memory: WorkingMemory
    session_store: SessionStore
    formats: ModelFormats
    instructions: InstructionFile
    task_model: StructuredOutput
    """Must be usable within the turn."""
    preferences: Preferences

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
        tools = self.registry.tools_of(participants.persona)
        if not tools or session.is_incognito:
            return None
        services = await self._build_services(turn, model, tools)
        if continued is not None:
            return ToolTurn(session, writer, *names, services, is_continued=True, partial_reply=continued)
        turn_id = str(turn.user_message.id) if turn.user_message is not None else str(session.guid)
        earlier_results = results_above(turn.messages) if turn.before is not None else ()
        return ToolTurn(session, writer, *names, services, turn_id, earlier_results)

    async def build_tool_prompt(self, persona: Persona, model: LoadedModel) -> ToolPrompt:
        """Return the instructions and declarations of a persona's tools for a prompt."""
        declared = [tool.declared for tool in self.registry.tools_of(persona)]
        if not declared:
            return ToolPrompt()
        renderer = (await self.formats.renderer(model)).renderer
        is_explained = self.preferences.current.tools_explained and has_native_tools(with_tools(renderer, declared))
        return ToolPrompt(self.instructions.read_text() if is_explained else "", declared)

    async def _build_services(self, turn: TurnContext, model: LoadedModel, tools: Sequence[Tool]) -> ToolServices:
        renderer, session = (await self.formats.renderer(model)).renderer, turn.session
        namespace = session_namespace(session.guid)
        read_tool = next((tool for tool in tools if tool.name == READ_TOOL), None)
        inventory = await self.working_memory.build_inventory(session.persona_id, namespace) if read_tool is not None else ""

        async def choose_call() -> ToolCall | None:
            text = turn.user_message.content if turn.user_message is not None else ""
            offered_tools = find_likely_tools(tools, text)
            if read_tool is not None and inventory and (keys := await self._list_mentioned_keys(session, text)):
                offered_tools.append(replace(read_tool, description=f"{read_tool.description} There is: {', '.join(keys)}."))
            names = (turn.participants.user.name, turn.participants.persona.name)
            return await decide_call(self.task_model, offered_tools, *names, text) if offered_tools else None

        async def store_text(key: str, text: str) -> str:
            if read_tool is None:
                return ""
            return (await self.working_memory.save_entry(session.persona_id, namespace, key, text)).key

        return ToolServices(
            chats=self.session_store,
            permissions=self.permissions,
            tools=tools,
            is_native=has_native_tools(with_tools(renderer, [tool.declared for tool in tools])),
            choose_call=choose_call,
            store_text=store_text,
            inventory=inventory,
            max_result_characters=min(MAX_RESULT_CHARACTERS, max(MIN_RESULT_CHARACTERS, model.context // CONTEXT_DIVISOR)),
            on_tool_error=self.registry.record_tool_error,
        )

    async def _list_mentioned_keys(self, session: ChatSession, text: str) -> list[str]:
        """Return the keys of working memory that match a message, those of other namespaces in full."""
        namespace = session_namespace(session.guid)
        mentioned = await self.working_memory.find_mentioned(session.persona_id, namespace, text)
        return [one.key if one.namespace == namespace else one.path for one in mentioned][:MAX_LISTED_KEYS]


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
