"""Values of the macros that are read from storage: `{{memory:title}}`, `{{idle_duration}}` and `{{getglobalvar::name}}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from lethe_app.dates.arithmetic import elapsed
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryUnit
from lethe_app.prompt.macros import IDLE_MACRO, MacroContext
from lethe_app.prompt.variables import Variables
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.lore import LoreService
from lethe_app.services.participants import MacroPosition, Participants
from lethe_app.services.prompting.turn_context import SHARED_VALUES
from lethe_app.services.stored_values import read_stored
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.storage.chats.sessions import SHARED_VARIABLES, SessionStore
from lethe_app.storage.key_value import AppState

T = TypeVar("T")

NEAR_END = 64
"""Messages from the end of a session among which the user's newest message is looked for."""
_MEMORY_MACRO = re.compile(r"\{\{\s*memory\s*(?:::?|\s)\s*([^{}]+?)\s*\}\}", re.IGNORECASE)
_VARIABLE_MACRO = re.compile(r"\{\{[^{}]*(?:var\b|varexists|\$)", re.IGNORECASE)


class MacroValues:
    """Look up macro values. Texts that do not use these macros cost no read."""

    def __init__(
        self,
        session_store: SessionStore,
        memory_cache: MemoryCache,
        lore: LoreService,
        untrusted_memories: UntrustedMemories,
        app_state: AppState,
    ) -> None:
        self._session_store = session_store
        self._memory_cache = memory_cache
        self._lore = lore
        self._untrusted_memories = untrusted_memories
        self._app_state = app_state
        self._opening_idle_times: dict[UUID, timedelta] = {}
        """Idle time before each session as its first prompt had it, by session, so that the stable prefix does not change."""

    async def fill(self, macro_context: MacroContext, position: MacroPosition, texts: Iterable[str]) -> MacroContext:
        """Return the macro context with the memories that the texts name, the variables that all sessions share, and the time
        since the user's previous message.
        """
        combined_text = "\n".join(texts)
        if _VARIABLE_MACRO.search(combined_text):
            shared = read_stored(SHARED_VALUES.validate_python, await self._app_state.get(*SHARED_VARIABLES)) or {}
            macro_context = replace(macro_context, variables=Variables(shared=shared))
        titles = list(dict.fromkeys(_MEMORY_MACRO.findall(combined_text)))
        if titles:
            macro_context = replace(
                macro_context, memory=await self._memory_lookup(position.session, position.participants, titles)
            )
        if IDLE_MACRO.search(combined_text):
            cached_idle = self._opening_idle_times.get(position.session.guid) if position.at_beginning else None
            macro_context = replace(
                macro_context, idle=await self._measure_idle_time(position) if cached_idle is None else cached_idle
            )
            if position.at_beginning:
                self._opening_idle_times[position.session.guid] = macro_context.idle
        return macro_context

    async def _measure_idle_time(self, position: MacroPosition) -> timedelta:
        """Return the time since the user's message before this one, in any session with the persona; zero if there is none."""
        session = position.session
        user_message = None if position.at_beginning else await self._newest_user_message(session, position.before)
        if user_message is not None and position.is_answer:
            previous_time, end = (
                (await self._session_store.turn_position_of(user_message.id)).previous_user_time,
                user_message.time,
            )
        elif user_message is not None:
            previous_time, end = user_message.time, now()
        else:
            earlier_messages = [
                await self._newest_user_message(await self._session_store.session(summary.guid))
                for summary in await self._session_store.sessions_before(session, 1)
            ]
            times = [message.time for message in earlier_messages if message is not None]
            previous_time, end = max(times, default=None), session.added
        return max(timedelta(), elapsed(previous_time, end)) if previous_time is not None else timedelta()

    async def _newest_user_message(self, session: ChatSession, before: UUID | None = None) -> Message | None:
        """Return the user's newest message above `before`; None if it is not near the end."""
        messages = (
            await self._session_store.newest_messages(session.guid, NEAR_END, before) if session.leaf_id is not None else []
        )
        return next((message for message in reversed(messages) if message.role is Role.USER and not message.hidden), None)

    async def _memory_lookup(
        self, session: ChatSession, participants: Participants, titles: Sequence[str]
    ) -> Callable[[str], str | None]:
        """Return a function that finds a memory's text by a part of its title: of several the oldest, so that a new one does
        not change existing prompts.
        """
        session_worlds = await self._lore.load_worlds(participants, session.guid)
        entries = [entry for world in session_worlds.worlds.values() for entry in world.entries]
        memories = [*entries, *reversed(await self._memory_cache.memories_of(session.persona_id))]
        sessions = [
            session_summary
            for session_summary in await self._session_store.sessions(session.persona_id)
            if session_summary.guid != session.guid
        ]
        found: dict[str, str] = {}
        for title in titles:
            title_key = title.casefold()
            memory = _find_by_title(title_key, [(memory.name, memory) for memory in memories])
            matched_session = _find_by_title(
                title_key, [(session_summary.title, session_summary) for session_summary in reversed(sessions)]
            )
            # A session with exactly that title takes precedence over a memory whose title only contains it.
            is_session_preferred = memory is None or (
                matched_session is not None and matched_session.title.casefold() == title_key != memory.name.casefold()
            )
            if matched_session is not None and is_session_preferred:
                found[title_key] = (await self._session_store.session(matched_session.guid)).content
            elif memory is not None:
                found[title_key] = await self._text_of(memory)
        return lambda title: found.get(title.casefold())

    async def _text_of(self, memory: MemoryUnit) -> str:
        return await self._untrusted_memories.quote_memory(memory) if memory.is_from_web else memory.content


def _find_by_title(title_key: str, named_items: Sequence[tuple[str, T]]) -> T | None:
    """Return the item with exactly that title, or else the first whose title contains it."""
    exact_matches = (item for name, item in named_items if name.casefold() == title_key)
    return next(exact_matches, next((item for name, item in named_items if title_key in name.casefold()), None))
