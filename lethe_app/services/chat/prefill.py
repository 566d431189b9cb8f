"""Has the model read a conversation while the user still writes, so that the answer begins at once."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from uuid import UUID

from lethe_app.errors import LetheError
from lethe_app.llm.client import ModelClient
from lethe_app.services.chat.expected_prefix import ExpectedPrefix
from lethe_app.services.events import ModelState, Ready
from lethe_app.services.models.service import Models
from lethe_app.services.participants import ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import Prompting
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.sessions.service import Sessions

PAUSE = 0.15
"""Seconds before it begins, so that leafing through conversations reads none of them."""
LULL = 45.0
"""Seconds of silence after which what was read is kept, in case the program does not come to it when it ends."""
WORTH_A_LULL = 2048
"""Tokens that must be new for that: a long conversation with a large model is a gigabyte, which wears on a disk."""


class ReadingAhead:
    """Follows the conversation the user attends to. Whatever it does ends at once when somebody needs the model."""

    def __init__(
        self,
        sessions: Sessions,
        casting: ParticipantService,
        models: Models,
        client: ModelClient,
        prompting: Prompting,
        lasting: ExpectedPrefix,
        warmth: CacheState,
        preferences: Preferences,
    ) -> None:
        self._sessions = sessions
        self._casting = casting
        self._models = models
        self._client = client
        self._prompting = prompting
        self._lasting = lasting
        self._warmth = warmth
        self._preferences = preferences
        self._attended: UUID | None = None
        self._task: asyncio.Task[None] | None = None
        self._lull: asyncio.Task[None] | None = None
        self._forget = models.changed.add(self._model_changed)

    def attend(self, session_id: UUID) -> None:
        """The user looks at this conversation: everything up to their next words may be read."""
        self.rest()
        self._attended = session_id
        loop = asyncio.get_running_loop()
        if self._preferences.current.read_ahead:
            self._task = loop.create_task(self._read(session_id))
        self._lull = loop.create_task(self._keep())

    def rest(self) -> None:
        """Leave the model to whoever needs it now."""
        for task in self._tasks():
            task.cancel()

    async def close(self) -> None:
        self._forget()
        self.rest()
        await asyncio.gather(*self._tasks(), return_exceptions=True)

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [task for task in (self._task, self._lull) if task is not None]

    def _model_changed(self, state: ModelState) -> None:
        if isinstance(state, Ready) and self._attended is not None:
            self.attend(self._attended)

    async def _read(self, session_id: UUID) -> None:
        """Trouble in here is no trouble: the turn itself will meet it and tell it."""
        await asyncio.sleep(PAUSE)
        with suppress(LetheError):
            state = self._models.state
            if isinstance(state, Ready):
                session = await self._sessions.open(session_id)
                await self._sessions.ended(session.persona_id)  # what the one before came to stands in the prompt
                cast = await self._casting.of_session(session)
                kept_at = self._warmth.kept_at(session)
                lasting = await self._lasting.prefix_of(session, cast)
                text = await self._prompting.beginning(session, cast, state.model, lasting)
                surgery = self._preferences.current.cache_surgery
                usage = await self._client.read_ahead(text, surgery=surgery, kept_at=kept_at)
                if usage.drift:  # what was cut out left traces behind it
                    await self._client.read_ahead(text, exact=True, kept_at=kept_at)

    async def _keep(self) -> None:
        """Once the user has been silent for a while."""
        await asyncio.sleep(LULL)
        await self._client.save_state(WORTH_A_LULL)
