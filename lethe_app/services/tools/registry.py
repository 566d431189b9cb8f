"""Registry of tool sets: the tools available to a persona, and the tool state of each reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

from lethe_app.domain.chat import Alternative, ChatSession, Message
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.persona import Persona
from lethe_app.domain.tools import PermissionAnswer, Tool, ToolCall, ToolSet
from lethe_app.plugins import PluginFault
from lethe_app.prompt.format.tool_calls import has_native_tools, with_tools
from lethe_app.services.events import Listeners, ToolPermissionRequested
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import ToolPrompt
from lethe_app.services.prompting.model_format import ModelFormats
from lethe_app.services.prompting.tool_messages import results_above
from lethe_app.services.prompting.turn_context import TurnContext
from lethe_app.services.sessions.reply_writer import ReplyWriter
from lethe_app.services.tools.builtin_web import WEB
from lethe_app.services.tools.forced_call import AnswerModel, decide_call, find_likely_tools
from lethe_app.services.tools.instructions import ToolNote
from lethe_app.services.tools.invocation import ToolServices
from lethe_app.services.tools.turn import ToolTurn
from lethe_app.services.tools.working_memory import WorkingMemory, session_namespace
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import SessionState

ALLOWED_KEY = "tools allowed"
"""Key of the session state: tools that the user always allows in this session."""
WORKING_MEMORY_SET = "bench"
MOST_LISTED_KEYS = 8
"""Number of keys of working memory listed for a model without native tool calls."""
MIN_RESULT_CHARACTERS, MOST_RESULT_CHARACTERS, CONTEXT_DIVISOR = 400, 2400, 6
"""Characters of one result in a prompt: minimum, maximum, and the divisor of the context length in tokens."""


class ToolRegistry:
    """Registry of tools for all personas."""

    def __init__(
        self,
        sets: Sequence[ToolSet],
        faults: Sequence[PluginFault],
        working_memory: WorkingMemory,
        chats: SessionStore,
        state: SessionState,
        preferences: Preferences,
        formats: ModelFormats,
        note: ToolNote,
        task_model: AnswerModel,
        is_trusted: Callable[[], bool],
    ) -> None:
        """Create the registry. `task_model` must be usable within the turn. A model that is not qualified asks before every
        call with side effects.
        """
        self.changed: Listeners[None] = Listeners()
        """Emitted when a fault was added."""
        self.sets = list({tool_set.name: tool_set for tool_set in reversed(sets)}.values())[
            ::-1
        ]  # of two of one name the first one counts
        self.faults = [*faults, *_find_duplicate_sets(sets)]
        self.working_memory = working_memory
        self._chats, self._state = chats, state
        self._preferences, self._formats, self._tool_note = preferences, formats, note
        self._asker, self._is_trusted = task_model, is_trusted
        self._question: ToolPermissionRequested | None = None

    def set_names_of(self, persona: Persona) -> list[str]:
        """Return the names of the sets the persona may use, in the order of registration."""
        settings = self._preferences.current
        if not settings.tools_enabled:
            return []
        chosen_names = set(persona.tools if persona.override_default_toolset else settings.default_tools)
        active_names = {one.name for one in self.sets if one.name in chosen_names and self._is_available(one)}
        if WEB in active_names:
            active_names.add(WORKING_MEMORY_SET)  # where whole pages are laid
        return [one.name for one in self.sets if one.name in active_names]

    def _is_available(self, tool_set: ToolSet) -> bool:
        try:
            return tool_set.is_there()
        except Exception as error:  # the code of a plug-in may raise anything, and the reply comes all the same
            self._add_fault(
                tool_set, f"The availability of its tools “{tool_set.title}” could not be checked ({type(error).__name__})."
            )
            return False

    def _record_tool_error(self, tool: Tool, error: Exception) -> None:
        """Record an error in a plug-in's tool, which is shown in the list of plug-ins and with the reply."""
        owner = next(
            (tool_set for tool_set in self.sets if any(candidate.name == tool.name for candidate in tool_set.tools)), None
        )
        if owner is not None and owner.plugin:
            self._add_fault(owner, f"An error occurred when it was asked to {tool.title} ({type(error).__name__}).")

    def _add_fault(self, tool_set: ToolSet, reason: str) -> None:
        fault = PluginFault(tool_set.plugin or tool_set.title, reason, in_use=True)
        if fault not in self.faults:
            self.faults.append(fault)
            self.changed.tell(None)

    def tools_of(self, persona: Persona) -> list[Tool]:
        active_names = set(self.set_names_of(persona))
        return [tool for tool_set in self.sets if tool_set.name in active_names for tool in tool_set.tools]

    def decline_pending_question(self) -> None:
        """Deny a pending permission request, because another reply is requested."""
        if self._question is not None:
            self._question.decide(PermissionAnswer.NOT_NOW)

    async def start_turn(
        self,
        turn: TurnContext,
        model: LoadedModel,
        continued: Alternative | None,
        writer: ReplyWriter,
    ) -> ToolTurn:
        """Return the tools of one reply. A wording that is continued uses none: what they did is in the history already."""
        session, participants = turn.session, turn.participants
        names = (participants.persona.name, participants.user.name)
        tools = self.tools_of(participants.persona)
        inventory = await self.working_memory.build_inventory(session_namespace(session.guid)) if tools else ""
        if not tools or continued is not None:
            return ToolTurn(session, writer, *names, lead=continued, unavailable_tools=[tool.name for tool in tools])
        question = turn.question
        means = await self._build_means(session, participants, model, tools, question, inventory)
        number = str(question.id) if question is not None else str(session.guid)
        earlier_results = results_above(turn.messages) if turn.before is not None else ()
        return ToolTurn(session, writer, *names, means, number, earlier_results)

    async def prompt_of(self, persona: Persona, model: LoadedModel) -> ToolPrompt:
        """Return what the prompts of a persona say of tools."""
        declared = [tool.declared for tool in self.tools_of(persona)]
        if not declared:
            return ToolPrompt()
        renderer = (await self._formats.renderer(model)).renderer
        return ToolPrompt(self._tool_note.load_text() if has_native_tools(with_tools(renderer, declared)) else "", declared)

    async def _build_means(
        self,
        session: ChatSession,
        participants: Participants,
        model: LoadedModel,
        tools: Sequence[Tool],
        user_message: Message | None,
        inventory: str,
    ) -> ToolServices:
        renderer = (await self._formats.renderer(model)).renderer
        allowed = await self._load_allowed(session.guid)
        settings = self._preferences.current

        def must_ask(tool: Tool) -> bool:
            needs_permission = settings.tools_always_ask or tool.asks or (tool.changes and not self._is_trusted())
            return needs_permission and tool.name not in allowed

        async def allow(tool: Tool) -> None:
            allowed.add(tool.name)
            await self._state.set(session.guid, ALLOWED_KEY, sorted(allowed))

        async def choose_call() -> ToolCall | None:
            text = user_message.content if user_message is not None else ""
            offered_tools = [
                *find_likely_tools(tools, text),
                *(await self._working_memory_tools(session, tools, text) if inventory else []),
            ]
            return (
                await decide_call(self._asker, offered_tools, participants.user.name, participants.persona.name, text)
                if offered_tools
                else None
            )

        async def store_text(key: str, text: str) -> str:
            if not any(tool.name == "bench_get" for tool in tools):
                return ""
            return (await self.working_memory.save_entry(session_namespace(session.guid), key, text)).key

        return ToolServices(
            chats=self._chats,
            tools=tools,
            is_native=has_native_tools(with_tools(renderer, [tool.declared for tool in tools])),
            must_ask=must_ask,
            allow=allow,
            on_question=self._set_question,
            choose_call=choose_call,
            store_text=store_text,
            inventory=inventory,
            max_result_characters=min(MOST_RESULT_CHARACTERS, max(MIN_RESULT_CHARACTERS, model.context // CONTEXT_DIVISOR)),
            on_tool_error=self._record_tool_error,
        )

    async def _working_memory_tools(self, session: ChatSession, tools: Sequence[Tool], text: str) -> list[Tool]:
        """Return the tool that reads working memory, with the matching keys in its description, for a model without native
        tool calls.
        """
        keys = [entry.key for entry in await self.working_memory.find_mentioned(session_namespace(session.guid), text)][
            :MOST_LISTED_KEYS
        ]
        reading_tool = next((tool for tool in tools if tool.name == "bench_get"), None)
        return (
            [replace(reading_tool, description=f"{reading_tool.description} There is: {', '.join(keys)}.")]
            if reading_tool and keys
            else []
        )

    def _set_question(self, question: ToolPermissionRequested | None) -> None:
        self._question = question

    async def _load_allowed(self, session_id: UUID) -> set[str]:
        stored = await self._state.get(session_id, ALLOWED_KEY)
        return {str(name) for name in stored} if isinstance(stored, list) else set()


def _find_duplicate_sets(sets: Sequence[ToolSet]) -> list[PluginFault]:
    """Return faults of plug-ins whose set has the name of another set."""
    names, faults = set[str](), list[PluginFault]()
    for tool_set in sets:
        if tool_set.name in names:
            faults.append(
                PluginFault(tool_set.plugin or tool_set.title, f"A tool set called “{tool_set.name}” already exists.")
            )
        names.add(tool_set.name)
    return faults
