"""Ask a model how an archived session changed the persona's mood: qualified models only, each session once.

Each reading is recorded with its cost, which counts for the persona's daily budget. When that is used up, the session waits.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial
from uuid import UUID

from lethe_app.agents.task import TaskResult
from lethe_app.brain.llm_schemas.archive import MoodChangeAnswer
from lethe_app.brain.mood.model import STEPS
from lethe_app.dates.arithmetic import elapsed
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.mood import MoodReading
from lethe_app.errors import NO_MODEL_ERRORS, FileError, ModelError, StorageError
from lethe_app.prompt.task_prompts import TaskKind
from lethe_app.services.background.activity_log import MOODS, ActivityEntry, ActivityLog
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.mood import MoodService
from lethe_app.services.participants import Participants, ParticipantService
from lethe_app.services.scheduling.loop import BackgroundLoop, BackgroundPriority
from lethe_app.services.sessions.archive_queue import ArchiveProgress, ArchiveQueue
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import AppState

SCOPE, QUEUE_KEY = "mood readings", ""
"""Scope and key of the app state. The sessions to be read are stored under an empty key, which is no persona's id."""
MAX_SESSION_AGE = timedelta(days=2)
"""Age of a session from which on it no longer affects the mood."""
MAX_WAITING = 20
CHECK_INTERVAL = 600.0


class MoodInference:
    """Changes of the mood as a model infers them from the summary of a session."""

    def __init__(self, moods: MoodService, structured_output: StructuredOutput, qualification: Qualification) -> None:
        self._moods, self._structured_output, self.qualification = moods, structured_output, qualification

    async def read_mood(self, session: ChatSession, participants: Participants, entry: ActivityEntry) -> TaskResult:
        """Ask the model about each moodlet and store the answers. Raise ModelError."""
        entry.report_progress(
            f"Reviewing the mood of “{session.name}”" if session.name else "Reviewing the mood of the last conversation"
        )
        model = self._structured_output.model
        steps: dict[str, float] = {}
        for moodlet in self._moods.moodlets:
            mood, meaning = moodlet.title.lower(), moodlet.description
            values = {"summary": session.content, "name": participants.persona.name, "mood": mood, "meaning": meaning}
            answer = await self._structured_output.ask(TaskKind.MOOD, MoodChangeAnswer, **values)
            steps[moodlet.id] = STEPS[answer.step + 2]
        await self._moods.apply_reading(
            session.persona_id,
            MoodReading(session=session.guid, at=now(), model=model.file.name if model else "", steps=steps),
        )
        return TaskResult(
            f"Reviewed the mood of “{session.name}”." if session.name else "Reviewed the mood of the last conversation."
        )


class MoodReader:
    """Queue of archived sessions whose effect on the mood is to be read by a model."""

    def __init__(
        self,
        moods: MoodService,
        mood_inference: MoodInference,
        session_store: SessionStore,
        participants: ParticipantService,
        priority: BackgroundPriority,
        app_state: AppState,
        archive_queue: ArchiveQueue,
        activity_log: ActivityLog,
    ) -> None:
        self._moods, self._mood_inference = moods, mood_inference
        self._session_store = session_store
        self._participants = participants
        self._priority = priority
        self._app_state = app_state
        self._activity_log = activity_log
        self._current_session: UUID | None = None
        self._archived_sessions: list[UUID] = []
        archive_queue.changed.add(self._on_archive_progress)
        self.background = BackgroundLoop(self.read_queue, CHECK_INTERVAL)
        """Sessions that are queued when it is closed are read after the next start, unless they are too old by then."""

    def _on_archive_progress(self, progress: ArchiveProgress) -> None:
        """Handle the progress of an archive job. A session is complete when the progress names another session or none."""
        previous, self._current_session = self._current_session, progress.session
        if previous is not None and previous != progress.session:
            self._archived_sessions.append(previous)
            self.background.wake()

    async def read_queue(self) -> None:
        """Read the sessions in the queue while a qualified model is available."""
        queue = await self._load_queue()
        for session_id in list(queue):
            if not self._mood_inference.qualification.may_write_summaries:
                break
            await self._priority.wait_for_turn_end()
            try:
                with suppress(StorageError, FileError):  # the conversation or the persona is gone
                    persona_id = (await self._session_store.session(session_id)).persona_id
                    if not await self._activity_log.has_budget_left(persona_id):
                        continue
                    await self.read_session(session_id)
            except NO_MODEL_ERRORS:
                break
            except ModelError:
                pass  # it could not say, or died of it: that will be so tomorrow
            queue.remove(session_id)
            await self._app_state.set(SCOPE, QUEUE_KEY, [str(queued_id) for queued_id in queue] or None)

    async def read_session(self, session_id: UUID) -> None:
        """Read how a session changed the mood, if it is eligible. Raise ModelError."""
        session = await self._session_store.session(session_id)
        if not await self._is_eligible(session):
            return
        participants = await self._participants.load_for_session(session)
        if self._moods.is_enabled_for(participants.persona) and not self._moods.is_static:
            owner = (session.persona_id, participants.persona.name)
            action = partial(self._mood_inference.read_mood, session, participants)
            await self._activity_log.run_entry(self._activity_log.create_entry(MOODS, owner), action)

    async def _is_eligible(self, session: ChatSession) -> bool:
        """Return whether the session is archived, recent and summarised, and was not read before."""
        if not session.archived or not session.content.strip():
            return False
        if any(reading.session == session.guid for reading in await self._moods.load_readings(session.persona_id)):
            return False
        newest_messages = await self._session_store.newest_messages(session.guid, 1)
        return bool(newest_messages) and elapsed(newest_messages[0].time, now()) <= MAX_SESSION_AGE

    async def _load_queue(self) -> list[UUID]:
        """Return the queue: sessions stored before the last end of the program, and those archived since."""
        stored = await self._app_state.get(SCOPE, QUEUE_KEY)
        stored_ids = [UUID(str(session_id)) for session_id in stored] if isinstance(stored, list) else []
        new_ids, self._archived_sessions = self._archived_sessions, []
        queue = list(dict.fromkeys((*stored_ids, *new_ids)))[-MAX_WAITING:]
        if new_ids:
            await self._app_state.set(SCOPE, QUEUE_KEY, [str(session_id) for session_id in queue])
        return queue
