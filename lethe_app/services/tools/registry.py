"""Registry of tool sets: the tools available to a persona, and the tool state of each reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

from lethe_app.domain.chat import Alternative, ChatSession, Message
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.persona import Persona
from lethe_app.domain.tools import PermissionAnswer, Tool, ToolCall, ToolSet
from lethe_app.prompt.format.tool_calls import equipped, is_equipped
from lethe_app.services.events import AskTool, Listeners
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import ToolPrompt
from lethe_app.services.prompting.model_format import ModelFormats
from lethe_app.services.prompting.tool_messages import results_above
from lethe_app.services.prompting.turn_context import TurnContext
from lethe_app.services.sessions.reply_writer import ReplyWriter
from lethe_app.services.tools.builtin_web import WEB
from lethe_app.services.tools.forced_call import AnswerModel, decided, likely
from lethe_app.services.tools.instructions import ToolNote
from lethe_app.services.tools.invocation import Means
from lethe_app.services.tools.plugins import ToolFault
from lethe_app.services.tools.turn import ToolTurn
from lethe_app.services.tools.working_memory import Workbench, of_session
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import SessionState

ALLOWED = "tools allowed"
"""Key of the session state: tools that the user always allows in this session."""
BENCH = "bench"
MOST_KEYS = 8
"""Number of keys of working memory listed for a model without native tool calls."""
LEAST_ROOM, MOST_ROOM, SHARE = 400, 2400, 6
"""Characters of one result in a prompt: minimum, maximum, and the divisor of the context length in tokens."""


class Tooling:
    """Registry of tools for all personas."""

    def __init__(
        self,
        sets: Sequence[ToolSet],
        faults: Sequence[ToolFault],
        bench: Workbench,
        chats: Chats,
        state: SessionState,
        preferences: Preferences,
        formats: ModelFormats,
        note: ToolNote,
        asker: AnswerModel,
        is_trusted: Callable[[], bool],
    ) -> None:
        """Create the registry. `asker` must be usable within the turn. A model that is not qualified asks before every call
        with side effects.
        """
        self.changed: Listeners[None] = Listeners()
        """Emitted when a fault was added."""
        self.sets = list({one.name: one for one in reversed(sets)}.values())[::-1]  # of two of one name the first one counts
        self.faults = [*faults, *_taken(sets)]
        self.bench = bench
        self._chats, self._state = chats, state
        self._preferences, self._formats, self._tool_note = preferences, formats, note
        self._asker, self._is_trusted = asker, is_trusted
        self._question: AskTool | None = None

    def names_of(self, persona: Persona) -> list[str]:
        """Return the names of the sets the persona may use, in the order of registration."""
        settings = self._preferences.current
        if not settings.tools_enabled:
            return []
        chosen = set(persona.tools if persona.override_default_toolset else settings.default_tools)
        active = {one.name for one in self.sets if one.name in chosen and self._is_there(one)}
        if WEB in active:
            active.add(BENCH)  # where whole pages are laid
        return [one.name for one in self.sets if one.name in active]

    def _is_there(self, one: ToolSet) -> bool:
        try:
            return one.is_there()
        except Exception as error:  # the code of a plug-in may raise anything, and the reply comes all the same
            self._note(one, f"The availability of its tools “{one.title}” could not be checked ({type(error).__name__}).")
            return False

    def _broke(self, tool: Tool, error: Exception) -> None:
        """Record an error in a plug-in's tool, which is shown in the list of plug-ins and with the reply."""
        owner = next((one for one in self.sets if any(each.name == tool.name for each in one.tools)), None)
        if owner is not None and owner.plugin:
            self._note(owner, f"An error occurred when it was asked to {tool.title} ({type(error).__name__}).")

    def _note(self, one: ToolSet, words: str) -> None:
        fault = ToolFault(one.plugin or one.title, words, in_use=True)
        if fault not in self.faults:
            self.faults.append(fault)
            self.changed.tell(None)

    def tools_of(self, persona: Persona) -> list[Tool]:
        active = set(self.names_of(persona))
        return [tool for one in self.sets if one.name in active for tool in one.tools]

    def give_way(self) -> None:
        """Deny a pending permission request, because another reply is requested."""
        if self._question is not None:
            self._question.decide(PermissionAnswer.NOT_NOW)

    async def turn(
        self,
        turn: TurnContext,
        model: LoadedModel,
        so_far: Alternative | None,
        writing: ReplyWriter,
    ) -> ToolTurn:
        """Return the tools of one reply. A wording that is continued uses none: what they did is in the history already."""
        session, cast = turn.session, turn.participants
        names = (cast.persona.name, cast.user.name)
        tools = self.tools_of(cast.persona)
        inventory = await self.bench.inventory(of_session(session.guid)) if tools else ""
        if not tools or so_far is not None:
            return ToolTurn(session, writing, *names, lead=so_far, unheard=[tool.name for tool in tools])
        question = turn.question
        means = await self._means(session, cast, model, tools, question, inventory)
        number = str(question.id) if question is not None else str(session.guid)
        known = results_above(turn.messages) if turn.before is not None else ()
        return ToolTurn(session, writing, *names, means, number, known)

    async def prompt_of(self, persona: Persona, model: LoadedModel) -> ToolPrompt:
        """Return what the prompts of a persona say of tools."""
        declared = [tool.declared for tool in self.tools_of(persona)]
        if not declared:
            return ToolPrompt()
        renderer = (await self._formats.renderer(model)).renderer
        return ToolPrompt(self._tool_note.text() if is_equipped(equipped(renderer, declared)) else "", declared)

    async def _means(
        self,
        session: ChatSession,
        cast: Participants,
        model: LoadedModel,
        tools: Sequence[Tool],
        asked: Message | None,
        inventory: str,
    ) -> Means:
        renderer = (await self._formats.renderer(model)).renderer
        allowed = await self._allowed(session.guid)
        settings = self._preferences.current

        def must_ask(tool: Tool) -> bool:
            wary = settings.tools_always_ask or tool.asks or (tool.changes and not self._is_trusted())
            return wary and tool.name not in allowed

        async def allow(tool: Tool) -> None:
            allowed.add(tool.name)
            await self._state.set(session.guid, ALLOWED, sorted(allowed))

        async def decide() -> ToolCall | None:
            text = asked.content if asked is not None else ""
            offered = [*likely(tools, text), *(await self._on_bench(session, tools, text) if inventory else [])]
            return await decided(self._asker, offered, cast.user.name, cast.persona.name, text) if offered else None

        async def put(key: str, text: str) -> str:
            if not any(tool.name == "bench_get" for tool in tools):
                return ""
            return (await self.bench.save_entry(of_session(session.guid), key, text)).key

        return Means(
            chats=self._chats,
            tools=tools,
            is_native=is_equipped(equipped(renderer, [tool.declared for tool in tools])),
            must_ask=must_ask,
            allow=allow,
            asking=self._wait_for,
            decide=decide,
            put=put,
            inventory=inventory,
            room=min(MOST_ROOM, max(LEAST_ROOM, model.context // SHARE)),
            broke=self._broke,
        )

    async def _on_bench(self, session: ChatSession, tools: Sequence[Tool], text: str) -> list[Tool]:
        """Return the tool that reads working memory, with the matching keys in its description, for a model without native
        tool calls.
        """
        keys = [entry.key for entry in await self.bench.spoken_of(of_session(session.guid), text)][:MOST_KEYS]
        shows = next((tool for tool in tools if tool.name == "bench_get"), None)
        return [replace(shows, description=f"{shows.description} There is: {', '.join(keys)}.")] if shows and keys else []

    def _wait_for(self, question: AskTool | None) -> None:
        self._question = question

    async def _allowed(self, session_id: UUID) -> set[str]:
        kept = await self._state.get(session_id, ALLOWED)
        return {str(one) for one in kept} if isinstance(kept, list) else set()


def _taken(sets: Sequence[ToolSet]) -> list[ToolFault]:
    """Return faults of plug-ins whose set has the name of another set."""
    names, found = set[str](), list[ToolFault]()
    for one in sets:
        if one.name in names:
            found.append(ToolFault(one.plugin or one.title, f"A tool set called “{one.name}” already exists."))
        names.add(one.name)
    return found
