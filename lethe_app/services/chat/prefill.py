"""Prefill of the next prompt while the user reads and types."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from lethe_app.domain.clock import now
from lethe_app.domain.recall import RecalledMemory, RecallWay, TurnMemory
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.errors import LetheError
from lethe_app.llm.client import ModelClient
from lethe_app.llm.kv_cache.reuse import ReuseOptions
from lethe_app.services.events import ModelReady, ModelState
from lethe_app.services.memory.lore import recall_entry
from lethe_app.services.models.service import ModelService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import PromptAssembler
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.turn_context import TurnContext, TurnLoader
from lethe_app.services.sessions.service import SessionService
from lethe_app.services.tools.turn_factory import ToolTurnFactory

SYSTEM = -1
"""`position_index` of entries that are in the system prompt."""
LASTING_WAYS = frozenset({RecallWay.CONSTANT, RecallWay.ACTIVE})
"""Ways of recall that continue from one turn to the next."""
NEAR_END = 4
"""Messages from the end of the history among which the user's newest message is looked for."""


def predict_memory(turn: TurnContext) -> TurnMemory:
    """Return the memories that the next turn will have in the system prompt: those of the newest turn that last, else the
    entries that are always included.

    The prediction holds unless a key activates or ends an entry in the system prompt. A wrong prediction only loses the
    prefill.
    """
    recalled = (
        turn.rows.turn.memory.recalled
        if turn.user_message in turn.messages[-NEAR_END:] and turn.rows.turn.memory
        else _recall_constants(turn)
    )
    return TurnMemory(
        recalled=[memory for memory in recalled if memory.position_index == SYSTEM and memory.way in LASTING_WAYS]
    )


def _recall_constants(turn: TurnContext) -> list[RecalledMemory]:
    moment = now()
    return [
        recall_entry(world, entry, RecallWay.CONSTANT, [])
        for world in turn.files.worlds.worlds.values()
        for entry in world.entries
        if is_always_activated(entry, moment)
    ]


def is_always_activated(entry: WorldEntry, moment: datetime) -> bool:
    """Return whether the entry is activated in the first turn of any session: it is constant, enabled and due, has no delay,
    and its trigger chance is 1.
    """
    return entry.sticky and entry.enabled and entry.is_due(moment) and entry.trigger_chance >= 1 and not entry.delay


PREFILL_DELAY = 0.15
"""Seconds before prefill begins, so that browsing through sessions does not start it."""
IDLE_BEFORE_SAVING = 45.0
"""Seconds without activity after which the KV cache state is saved, in case the program is not closed properly."""
MIN_TOKENS_TO_SAVE = 2048
"""Minimum number of new tokens for which the state is saved: that of a long session with a large model is a gigabyte, which
wears the disk.
"""


class PrefillService:
    """Prefill the prompt of the session the user looks at. All work is cancelled as soon as a reply needs the model."""

    def __init__(
        self,
        turn_loader: TurnLoader,
        sessions: SessionService,
        models: ModelService,
        client: ModelClient,
        prompt_assembler: PromptAssembler,
        tool_turns: ToolTurnFactory,
        cache_state: CacheState,
        preferences: Preferences,
    ) -> None:
        self._turn_loader = turn_loader
        self._sessions = sessions
        self._models = models
        self._client = client
        self._prompt_assembler = prompt_assembler
        self._tool_turns = tool_turns
        self._cache_state = cache_state
        self._preferences = preferences
        self._followed_session: UUID | None = None
        self._task: asyncio.Task[None] | None = None
        self._save_task: asyncio.Task[None] | None = None
        models.changed.add(self._on_model_changed)

    def follow_session(self, session_id: UUID) -> None:
        """Cancel earlier prefill and schedule that of this session, up to the user's next message; schedule saving of its
        state as well.
        """
        self.pause()
        self._followed_session = session_id
        if self._preferences.current.read_ahead:
            self._task = asyncio.create_task(self._run_prefill(session_id))
        self._save_task = asyncio.create_task(self._save_when_idle())

    def pause(self) -> None:
        """Cancel prefill and saving, so that the model is free."""
        for task in (self._task, self._save_task):
            if task is not None:
                task.cancel()

    async def finish(self) -> None:
        """Wait until the scheduled prefill has ended, be it cancelled."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        self._followed_session = None
        self.pause()
        await asyncio.gather(*filter(None, (self._task, self._save_task)), return_exceptions=True)

    def _on_model_changed(self, state: ModelState) -> None:
        if isinstance(state, ModelReady) and self._followed_session is not None:
            self.follow_session(self._followed_session)

    async def _run_prefill(self, session_id: UUID) -> None:
        """Prefill the session's prompt. Errors are ignored, because the turn itself raises them again."""
        await asyncio.sleep(PREFILL_DELAY)
        with suppress(LetheError):
            if (model := self._models.loaded) is not None:
                session = await self._sessions.open(session_id)
                # The summary of the session before is part of the prompt.
                await self._sessions.wait_until_archived(session.persona_id)
                turn = await self._turn_loader.load(session_id, model)
                state_location = self._cache_state.location_of(turn.session, turn.cache_revision)
                tools = await self._tool_turns.build_tool_prompt(turn.participants.persona, model)
                text = await self._prompt_assembler.build_prefill(turn, model, predict_memory(turn), tools)
                usage = await self._client.prefill(
                    text, reuse=ReuseOptions(self._preferences.current.cache_surgery), state_location=state_location
                )
                if usage.drift:  # what was cut out left traces behind it
                    await self._client.prefill(text, reuse=ReuseOptions(exact=True), state_location=state_location)

    async def _save_when_idle(self) -> None:
        """Save the state of the KV cache once the user has been inactive for `IDLE_BEFORE_SAVING` seconds."""
        await asyncio.sleep(IDLE_BEFORE_SAVING)
        await self._client.save_state(MIN_TOKENS_TO_SAVE)
