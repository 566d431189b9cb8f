"""Ask a model how an archived session changed the persona's mood: qualified models only, each session once.

Each reading is recorded with its cost, which counts for the persona's daily budget. When that is used up, the session waits.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial
from uuid import UUID

from lethe_app.agents.task import Result
from lethe_app.brain.dates.arithmetic import elapsed
from lethe_app.brain.llm_schemas.archive import MoodChange
from lethe_app.brain.mood.model import STEPS, Moodlet
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.mood import MoodReading
from lethe_app.errors import EngineUnreachable, FileError, ModelError, ModelMissing, StorageError
from lethe_app.prompt.task_prompts import TaskKind
from lethe_app.services.background.activity_log import MOODS, ActivityLog, Doing
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.mood import Moods
from lethe_app.services.participants import Participants, ParticipantService
from lethe_app.services.scheduling.loop import Background
from lethe_app.services.scheduling.priority import BackgroundPriority
from lethe_app.services.sessions.archive_queue import Archived, Archiving
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import AppState

SCOPE, WAITING = "mood readings", ""
"""Scope and key of the app state. The sessions to be read are stored under an empty key, which is no persona's id."""
STILL_FELT = timedelta(days=2)
"""Age of a session from which on it no longer affects the mood."""
MOST_WAITING = 20
LOOK_AGAIN = 600.0
NOT_NOW = (ModelMissing, EngineUnreachable)


class MoodReader:
    """Queue of archived sessions whose effect on the mood is to be read by a model."""

    def __init__(
        self,
        moods: Moods,
        chats: Chats,
        casting: ParticipantService,
        clerk: StructuredOutput,
        trust: Qualification,
        quiet: BackgroundPriority,
        app_state: AppState,
        archiving: Archiving,
        doings: ActivityLog,
    ) -> None:
        self._moods = moods
        self._chats = chats
        self._casting = casting
        self._clerk = clerk
        self._trust = trust
        self._quiet = quiet
        self._app_state = app_state
        self._archiving = archiving
        self._doings = doings
        self._under_way: UUID | None = None
        self._heard: list[UUID] = []
        self._forget = archiving.changed.add(self._archived)
        self._background = Background(self.catch_up, LOOK_AGAIN)

    def start(self, pause: float = 0.0) -> None:
        """Process the stored queue after `pause` seconds, then every session that is archived."""
        self._background.start(pause)

    async def close(self) -> None:
        """Stop. Sessions in the queue are read after the next start, unless they are too old by then."""
        self._forget()
        await self._background.close()

    def _archived(self, progress: Archived) -> None:
        """Handle the progress of an archive job. A session is complete when the progress names another session or none."""
        before, self._under_way = self._under_way, progress.session
        if before is not None and before != progress.session:
            self._heard.append(before)
            self._background.wake()

    async def catch_up(self) -> None:
        """Read the sessions in the queue while a qualified model is available."""
        waiting = await self._waiting()
        for one in list(waiting):
            if not self._may_write:
                break
            await self._quiet.wait()
            try:
                with suppress(StorageError, FileError):  # the conversation or the persona is gone
                    if not await self._is_left_for(one):
                        continue
                    await self.read(one)
            except NOT_NOW:
                break
            except ModelError:
                pass  # it could not say, or died of it: that will be so tomorrow
            waiting.remove(one)
            await self._app_state.set(SCOPE, WAITING, [str(other) for other in waiting] or None)

    async def _is_left_for(self, session_id: UUID) -> bool:
        """Return whether the session's persona has budget left today."""
        return await self._doings.is_left((await self._chats.session(session_id)).persona_id)

    async def read(self, session_id: UUID) -> None:
        """Read how a session changed the mood, if it is eligible. Raise ModelError."""
        session = await self._chats.session(session_id)
        if not await self._is_worth_it(session):
            return
        cast = await self._casting.of_session(session)
        if self._moods.is_on(cast.persona) and not self._moods.is_steady:
            whose = (session.persona_id, cast.persona.name)
            await self._doings.carry_out(MOODS, whose, partial(self._read, session, cast))

    async def _read(self, session: ChatSession, cast: Participants, doing: Doing) -> Result:
        doing.progress(
            f"Reviewing the mood of “{session.name}”" if session.name else "Reviewing the mood of the last conversation"
        )
        model = self._clerk.model
        steps = {one.id: await self._step(one, cast.persona.name, session.content) for one in self._moods.moodlets}
        await self._moods.read(
            session.persona_id,
            MoodReading(session=session.guid, at=now(), model=model.file.name if model else "", steps=steps),
        )
        return Result(
            f"Reviewed the mood of “{session.name}”." if session.name else "Reviewed the mood of the last conversation."
        )

    async def _step(self, moodlet: Moodlet, name: str, summary: str) -> float:
        material = {"summary": summary, "name": name, "mood": moodlet.title.lower(), "meaning": moodlet.description}
        return STEPS[(await self._clerk.ask(TaskKind.MOOD, MoodChange, **material)).step + 2]

    async def _is_worth_it(self, session: ChatSession) -> bool:
        """Return whether the session is archived, recent and summarised, and was not read before."""
        if not session.archived or not session.content.strip():
            return False
        if any(one.session == session.guid for one in await self._moods.readings(session.persona_id)):
            return False
        last = await self._chats.tail(session.guid, 1)
        return bool(last) and elapsed(last[0].time, now()) <= STILL_FELT

    @property
    def _may_write(self) -> bool:
        return self._trust.verdict is not None and self._trust.verdict.may_write_summaries

    async def _waiting(self) -> list[UUID]:
        """Return the queue: sessions stored before the last end of the program, and those archived since."""
        stored = await self._app_state.get(SCOPE, WAITING)
        known = [UUID(str(one)) for one in stored] if isinstance(stored, list) else []
        heard, self._heard = self._heard, []
        waiting = list(dict.fromkeys((*known, *heard)))[-MOST_WAITING:]
        if heard:
            await self._app_state.set(SCOPE, WAITING, [str(one) for one in waiting])
        return waiting
