"""The tools there are, which of them a persona may use, and a turn of them for every reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.persona import Persona
from lethe_app.domain.tools import PermissionAnswer, Tool, ToolCall, ToolSet
from lethe_app.prompt.format.tool_calls import equipped, is_equipped
from lethe_app.services.events import AskTool, Listeners
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import Prompting
from lethe_app.services.prompting.tool_messages import results_above
from lethe_app.services.sessions.reply_writer import ReplyWriter
from lethe_app.services.tools.builtin_web import WEB
from lethe_app.services.tools.forced_call import AnswerModel, decided, likely
from lethe_app.services.tools.invocation import Means
from lethe_app.services.tools.plugins import ToolFault
from lethe_app.services.tools.turn import ToolTurn
from lethe_app.services.tools.working_memory import Workbench, of_session
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import SessionState

ALLOWED = "tools allowed"
"""Key of a session's state: tools of which the user said “always”."""
BENCH = "bench"
MOST_KEYS = 8
"""Of the workbench, of which such a model is told."""
LOOK_BACK = 80
"""Messages above a reply among which what tools did for it is looked for."""
LEAST_ROOM, MOST_ROOM, SHARE = 400, 2400, 6
"""Characters of one result in a prompt: a share of the context in tokens, within bounds."""


class Tooling:
    """One for all personas."""

    def __init__(
        self,
        sets: Sequence[ToolSet],
        faults: Sequence[ToolFault],
        bench: Workbench,
        chats: Chats,
        state: SessionState,
        preferences: Preferences,
        prompting: Prompting,
        asker: AnswerModel,
        is_trusted: Callable[[], bool],
    ) -> None:
        """`asker` works within the turn; a model that is not trusted asks before it changes anything."""
        self.changed: Listeners[None] = Listeners()
        """There is another fault to be told."""
        self.sets = list({one.name: one for one in reversed(sets)}.values())[::-1]  # of two of one name the first one counts
        self.faults = [*faults, *_taken(sets)]
        self.bench = bench
        self._chats, self._state = chats, state
        self._preferences, self._prompting = preferences, prompting
        self._asker, self._is_trusted = asker, is_trusted
        self._question: AskTool | None = None

    def names_of(self, persona: Persona) -> list[str]:
        """Of the sets she may use, in the order in which they are registered."""
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
            self._note(one, f"Its tools “{one.title}” cannot tell whether they may be used ({type(error).__name__}).")
            return False

    def _broke(self, tool: Tool, error: Exception) -> None:
        """Its own code broke; the user sees it where plug-ins are told of, and with the reply."""
        owner = next((one for one in self.sets if any(each.name == tool.name for each in one.tools)), None)
        if owner is not None and owner.plugin:
            self._note(owner, f"It broke when it was to {tool.title} ({type(error).__name__}).")

    def _note(self, one: ToolSet, words: str) -> None:
        fault = ToolFault(one.plugin or one.title, words, in_use=True)
        if fault not in self.faults:
            self.faults.append(fault)
            self.changed.tell(None)

    def tools_of(self, persona: Persona) -> list[Tool]:
        active = set(self.names_of(persona))
        return [tool for one in self.sets if one.name in active for tool in one.tools]

    def offered(self, persona: Persona) -> list[dict[str, Any]]:
        """As chat templates want to be told of them."""
        return [tool.declared for tool in self.tools_of(persona)]

    def give_way(self) -> None:
        """Another reply is wanted: a question that nobody answered waits no longer."""
        if self._question is not None:
            self._question.decide(PermissionAnswer.NOT_NOW)

    async def turn(
        self,
        session: ChatSession,
        cast: Participants,
        model: LoadedModel,
        above: UUID | None,
        so_far: Alternative | None,
        writing: ReplyWriter,
    ) -> ToolTurn:
        """The tools of one reply. A wording that goes on uses none: it stands there already."""
        names = (cast.persona.name, cast.user.name)
        tools = self.tools_of(cast.persona)
        inventory = await self.bench.inventory(of_session(session.guid)) if tools else ""
        if not tools or so_far is not None:
            return ToolTurn(session, writing, *names, above, lead=so_far, unheard=[tool.name for tool in tools])
        messages = await self._chats.tail(session.guid, LOOK_BACK, above)
        asked = next((one for one in reversed(messages) if one.role is Role.USER and not one.hidden), None)
        means = await self._means(session, cast, model, tools, asked, inventory)
        turn = str(asked.id) if asked is not None else str(session.guid)
        return ToolTurn(session, writing, *names, above, means, turn, results_above(messages) if above else ())

    async def _means(
        self,
        session: ChatSession,
        cast: Participants,
        model: LoadedModel,
        tools: Sequence[Tool],
        asked: Message | None,
        inventory: str,
    ) -> Means:
        renderer = (await self._prompting.form(model)).renderer
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
        """What shows the workbench, with its keys, to a model that cannot ask for it by itself, where it is spoken of."""
        keys = [entry.key for entry in await self.bench.spoken_of(of_session(session.guid), text)][:MOST_KEYS]
        shows = next((tool for tool in tools if tool.name == "bench_get"), None)
        return [replace(shows, description=f"{shows.description} There is: {', '.join(keys)}.")] if shows and keys else []

    def _wait_for(self, question: AskTool | None) -> None:
        self._question = question

    async def _allowed(self, session_id: UUID) -> set[str]:
        kept = await self._state.get(session_id, ALLOWED)
        return {str(one) for one in kept} if isinstance(kept, list) else set()


def _taken(sets: Sequence[ToolSet]) -> list[ToolFault]:
    """Sets of plug-ins whose name another one has already."""
    names, found = set[str](), list[ToolFault]()
    for one in sets:
        if one.name in names:
            found.append(ToolFault(one.plugin or one.title, f"There are tools “{one.name}” already."))
        names.add(one.name)
    return found
