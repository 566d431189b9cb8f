"""Queue of archive jobs: summaries, titles, keywords and facts of ended sessions, made in the background and resumed after
any interruption.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from lethe_app.domain.chat import ChatSession, PartRecord, PartState, Role, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.errors import NO_MODEL_ERRORS, ModelCrashed, ModelError, StorageError
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.scheduling.loop import BackgroundLoop, BackgroundPriority
from lethe_app.services.sessions.archive_parts import ORDER, PART_FIELDS, SessionArchiver, is_worth_archiving
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.sessions import SessionStore

CHECK_INTERVAL = 300.0
"""Seconds between two checks whether pending parts can be made."""
RunRecorded = Callable[[UUID, Callable[[], Awaitable[bool]], bool], Awaitable[bool | None]]
"""Function that runs the work of a model on a session, records it in the activity log and returns its result. The last argument
is True if the work may wait for another day; then the result may be None.
"""
MIN_SHOWN_SESSIONS = 5
"""Number of sessions waiting for rules below which no progress is shown."""
MAX_CRASHES = 3
"""Crashes of the model on one part after which the part is marked as failed, so that the others can proceed."""


@dataclass(frozen=True)
class ArchiveProgress:
    """Progress of the archive; `session` is None if the model makes no part."""

    session: UUID | None = None
    title: str = ""
    part: SessionPart | None = None
    done: int = 0
    total: int = 0
    waiting: int = 0
    """Number of further sessions that wait for rules or for the model; 0 for a few that rules will have made at once."""
    is_limited: bool = False
    """True if sessions wait for another day, because their time of today was used."""


class ArchiveQueue:
    """Queue of archive jobs. Pending parts are stored first, so that they are resumed after a restart. `changed` emits the
    progress.
    """

    def __init__(
        self,
        session_store: SessionStore,
        archive_jobs: ArchiveJobs,
        archiver: SessionArchiver,
        indexing: IndexingService,
        priority: BackgroundPriority,
        sessions_changed: Listeners[str],
        check: Callable[[], Awaitable[object]] | None,
        run_recorded: RunRecorded,
    ) -> None:
        """`check` qualifies the loaded model; None disables qualification. `run_recorded` runs and records a model's work."""
        self.progress = ArchiveProgress()
        self.changed: Listeners[ArchiveProgress] = Listeners()
        self._session_store, self._archive_jobs, self._archiver = session_store, archive_jobs, archiver
        self._indexing, self._priority, self._sessions_changed = indexing, priority, sessions_changed
        self._check, self._run_recorded = check, run_recorded
        self._times_queued: Counter[UUID] = Counter()
        """Number of times each session was queued; what was read of it before the last time is out of date."""
        self._made_by_rules: set[UUID] = set()
        """Sessions of which rules have made all parts they can since they were queued."""
        self._urgent_sessions: list[UUID] = []
        """Sessions for which a caller waits while rules make their parts; the background loop skips them."""
        self._sessions_waiting = 0
        """Number of sessions that wait for the model after the present one."""
        self._is_limited = False
        self._one_at_a_time = asyncio.Lock()
        self.background = BackgroundLoop(self._run_pending, CHECK_INTERVAL)
        """Parts under way stay pending when it is paused or closed, and are resumed at the next start."""
        self.parts = self._archive_jobs.parts_of
        """Return the parts of a session and their makers; empty if it was never archived."""

    async def archive_session(self, session_id: UUID, *, at_once: bool = True, even_if_short: bool = False) -> bool:
        """Mark a session as archived and queue its parts. Return False if it is too short; with `even_if_short`, one word of
        the user is enough.

        With `at_once`, the parts that rules can make are stored on return.
        """
        return await self._queue_session(session_id, archive=True, at_once=at_once, even_if_short=even_if_short)

    async def update(self, session_id: UUID, parts: Sequence[SessionPart] = tuple(SessionPart)) -> bool:
        """Make all or some parts of a session again, the current session included.

        A part by a model is kept until a qualified model makes it again.
        """
        return await self._queue_session(session_id, archive=False, at_once=True, parts=parts)

    async def follow_changed_lines(self, session_id: UUID, *, at_once: bool = False) -> None:
        """Remove what was made of a session after lines of it were deleted, restored or changed, if it was archived, and queue
        it to be made again; with `at_once`, by rules before this returns. What the user wrote remains.
        """
        if (await self._session_store.session(session_id)).archived:
            await self._archive_jobs.blank(session_id)
            await self._queue_session(session_id, archive=False, at_once=at_once)
            await self.renew((await self._session_store.session(session_id)).persona_id)

    async def is_pending(self, session_id: UUID) -> bool:
        """Return whether rules or the loaded model can make a pending part of this session now. False while paused."""
        return self.background.is_running and any(
            record.session_id == session_id and (record.made_by is MadeBy.RULES or self._archiver.may_write(record.part))
            for record in await self._archive_jobs.pending_parts()
        )

    async def write(self, session_id: UUID, part: SessionPart, value: object) -> ChatSession:
        """Store the user's value of a part, which is never overwritten automatically. Facts are edited in `FactService`."""
        fields: dict[str, object] = {PART_FIELDS[part][0]: value}
        if part is SessionPart.KEYWORDS:
            fields["enabled"] = bool(value)  # keywords of the user's own bring the conversation up
        await self._archive_jobs.save_value(PartRecord(session_id, part, PartState.DONE, MadeBy.USER), **fields)
        if part is SessionPart.ROLEPLAY:
            await self._archiver.relearn_facts(session_id)
        session = await self._session_store.session(session_id)
        await self.renew(session.persona_id)
        self._notify_changed(session)
        return session

    async def renew(self, persona_id: str) -> None:
        """Apply a deleted, restored or edited session at once: the persona's prompts are made again, and pending parts are
        checked.
        """
        await self._archiver.renew(persona_id)
        self.background.wake()

    async def finish(self) -> None:
        """Make everything pending that can be made now, and wait for it."""
        async with self._one_at_a_time:
            await self._make_all()

    async def _queue_session(
        self,
        session_id: UUID,
        *,
        archive: bool,
        at_once: bool,
        parts: Sequence[SessionPart] = tuple(SessionPart),
        even_if_short: bool = False,
    ) -> bool:
        is_incognito = (await self._session_store.session(session_id)).is_incognito
        self._archiver.forget_lines()
        lines = await self._archiver.load_utterances(session_id)
        is_enough = is_worth_archiving(lines) or (even_if_short and any(line.role is Role.USER for line in lines))
        if is_incognito or not is_enough:
            return False
        if at_once:
            self._urgent_sessions.append(session_id)
        try:
            await self._archive_jobs.start_archive(session_id, parts, archive=archive)
            self._times_queued[session_id] += 1
            self._made_by_rules.discard(session_id)
            if at_once:
                await self._make_by_rules(session_id)
        finally:
            if at_once:
                self._urgent_sessions.remove(session_id)
        self._notify_changed(await self._session_store.session(session_id))
        self.background.wake()
        return True

    # Background loop

    async def _run_pending(self) -> None:
        async with self._one_at_a_time:
            await self._make_all()
            await self._improve_by_model()

    async def _improve_by_model(self) -> None:
        """Qualify the loaded model, and let it make again the parts that only rules have made."""
        if self._check is None:
            return
        await self._priority.wait_for_turn_end()
        with suppress(ModelError):
            await self._check()
        trusted = [part for part in SessionPart if self._archiver.may_write(part)]
        if trusted and await self._archive_jobs.requeue_parts(trusted, self._archiver.model):
            await self._make_all()

    async def _make_all(self) -> None:
        """Make all parts that rules can, then those of the model, session by session, until nothing is left that can be made
        now.
        """
        self._is_limited = False
        try:
            while await self._make_first(await self._list_for_model()):
                pass
        finally:
            self._archiver.forget_lines()
            self._set_progress(ArchiveProgress(is_limited=self._is_limited))

    async def _make_first(self, waiting: Mapping[UUID, Sequence[PartRecord]]) -> bool:
        """Let the model make the parts of the first session that need not wait for another day. Return False if nothing can be
        made now.
        """
        self._sessions_waiting, self._is_limited = len(waiting) - 1, False
        for session_id, records in waiting.items():
            # What the user asked for, or has just ended, is never limited.
            is_made = await self._run_recorded(
                session_id, partial(self._make_all_by_model, records), not self._times_queued[session_id]
            )
            if is_made is not None:
                return is_made
            self._is_limited = True
        return False

    async def _list_for_model(self) -> dict[UUID, list[PartRecord]]:
        """Return the pending parts for the model by session, in `ORDER`, after rules have made theirs: first what was queued
        since the program was started, then the most recent sessions.
        """
        session_ids = await self._list_for_rules()
        for number, session_id in enumerate(session_ids):
            if len(session_ids) >= MIN_SHOWN_SESSIONS:
                self._set_progress(ArchiveProgress(waiting=len(session_ids) - number))
            await self._priority.wait_for_turn_end()
            await self._run_unless_deleted(session_id, self._make_by_rules(session_id))
        by_session: dict[UUID, list[PartRecord]] = {}
        for record in await self._archive_jobs.pending_parts():
            if self._archiver.may_write(record.part):
                by_session.setdefault(record.session_id, []).append(record)
        return {
            session_id: sorted(by_session[session_id], key=lambda record: ORDER.index(record.part))
            for session_id in sorted(by_session, key=lambda session_id: not self._times_queued[session_id])
        }

    async def _list_for_rules(self) -> list[UUID]:
        """Return sessions with pending parts that rules have not made yet, or for which no qualified model is loaded."""
        return list(
            dict.fromkeys(
                record.session_id
                for record in await self._archive_jobs.pending_parts()
                if record.made_by is MadeBy.RULES
                and record.session_id not in self._urgent_sessions
                and not (record.session_id in self._made_by_rules and self._archiver.may_write(record.part))
            )
        )

    async def _make_by_rules(self, session_id: UUID) -> None:
        """Make pending parts by rules. A part that a qualified model may improve stays pending, and a part by a model is
        kept.

        Facts are left to the model alone, because both would store them in different words.
        """
        times_queued = self._times_queued[session_id]
        records = {
            part: record
            for part, record in (await self._archive_jobs.parts_of(session_id)).items()
            if record.state is PartState.PENDING and record.made_by is MadeBy.RULES
        }
        model_parts = {part for part in records if self._archiver.may_write(part)}
        values = await self._archiver.make_by_rules(session_id, records.keys() - model_parts.intersection({SessionPart.FACTS}))
        if self._times_queued[session_id] != times_queued:
            return  # more was said meanwhile: whoever began it anew reads that too
        for part, record in records.items():
            done = record if part in model_parts else replace(record, state=PartState.DONE, maker="")
            await self._archive_jobs.save_value(done, record, **values.get(part, {}))
        self._made_by_rules.add(session_id)
        self._notify_changed(await self._session_store.session(session_id))

    async def _make_all_by_model(self, records: Sequence[PartRecord]) -> bool:
        session_id = records[0].session_id
        for number, record in enumerate(records):
            await self._priority.wait_for_turn_end()
            is_made = await self._run_unless_deleted(session_id, self._make_part(record, number, len(records)))
            if is_made is None:
                return True
            if not is_made:
                return False
        with suppress(StorageError):
            self._notify_changed(await self._session_store.session(session_id))
        return True

    async def _make_part(self, record: PartRecord, number: int, total: int) -> bool:
        """Let the model make one part. Return False if no model is available now."""
        session = await self._session_store.session(record.session_id)
        times_queued, model = self._times_queued[record.session_id], self._archiver.model
        self._set_progress(ArchiveProgress(session.guid, session.name, record.part, number, total, self._sessions_waiting))
        try:
            fields = await self._archiver.make_by_model(record.session_id, record.part)
        except NO_MODEL_ERRORS:
            return False
        except ModelError as error:
            has_crashed = isinstance(error, ModelCrashed)
            failed = replace(record, tries=record.tries + 1, trouble=f"{model}: {error.message}")
            # A part stays pending after a crash, to be tried again up to the limit; other errors make it fail at once.
            if not has_crashed or failed.tries >= MAX_CRASHES:
                failed = replace(failed, state=PartState.FAILED)
                if record.part is SessionPart.FACTS:
                    await self._archiver.make_by_rules(record.session_id, {record.part})
            await self._archive_jobs.save_value(failed, record)
            return not has_crashed
        if self._times_queued[record.session_id] == times_queued:  # else more was said meanwhile, and it is still to be done
            done = replace(record, state=PartState.DONE, made_by=MadeBy.MODEL, maker=model, trouble="")
            await self._archive_jobs.save_value(done, record, **fields)
        return True

    async def _run_unless_deleted(self, session_id: UUID, work: Awaitable[bool | None]) -> bool | None:
        """Return the result of the work; None if the session was deleted meanwhile. Other storage errors are raised."""
        try:
            return await work
        except StorageError:
            if any(record.session_id == session_id for record in await self._archive_jobs.pending_parts()):
                raise
            return None

    def _notify_changed(self, session: ChatSession) -> None:
        self._indexing.background.wake()
        self._sessions_changed.notify(session.persona_id)

    def _set_progress(self, progress: ArchiveProgress) -> None:
        if progress != self.progress:
            self.progress = progress
            self.changed.notify(progress)
