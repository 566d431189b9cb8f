"""Turns a conversation that is over into something to remember, behind the user's back and however often it is interrupted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from lethe_app.domain.chat import ChatSession, PartRecord, PartState, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.errors import EngineUnreachable, ModelCrashed, ModelError, ModelMissing, StorageError
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.service import Indexing
from lethe_app.services.scheduling.loop import Background
from lethe_app.services.scheduling.priority import BackgroundPriority
from lethe_app.services.sessions.archive_parts import FIELDS, Archivist, is_worth_archiving
from lethe_app.storage.chats.archive_jobs import Parts
from lethe_app.storage.chats.sessions import Chats

ORDER = (
    SessionPart.SUMMARY,
    SessionPart.TITLE,
    SessionPart.KEYWORDS,
    SessionPart.GOALS,
    SessionPart.RELEVANCE,
    SessionPart.ROLEPLAY,
    SessionPart.FACTS,
)
"""In which parts are made: those after the summary may read it instead of a long conversation."""
LOOK_AGAIN = 300.0
"""Seconds after which it looks whether something can be done now."""
NOT_NOW = (ModelMissing, EngineUnreachable)
"""No fault of the part: it waits for a model."""
Recorded = Callable[[UUID, Callable[[], Awaitable[bool]]], Awaitable[bool]]
MOST_CRASHES = 3
"""A part at which the model died so often is left alone: the others wait behind it."""


@dataclass(frozen=True)
class Archived:
    """How far the archive has come; nothing is under way when `session` is None."""

    session: UUID | None = None
    title: str = ""
    part: SessionPart | None = None
    done: int = 0
    total: int = 0


class Archiving:
    """What is to be done is stored first; whatever ends the program, the next start goes on with it."""

    def __init__(
        self,
        chats: Chats,
        parts: Parts,
        archivist: Archivist,
        indexing: Indexing,
        quiet: BackgroundPriority,
        changed: Listeners[str],
        check: Callable[[], Awaitable[object]] | None,
    ) -> None:
        """`check` finds out what the loaded model may be trusted with; None where that is of no interest."""
        self.progress = Archived()
        self.changed: Listeners[Archived] = Listeners()
        self._chats = chats
        self._parts = parts
        self._archivist = archivist
        self._indexing = indexing
        self._quiet = quiet
        self._sessions_changed = changed
        self._check = check
        self._begun: Counter[UUID] = Counter()
        """How often each session was begun: what was read of it before that is out of date."""
        self._told_by_rules: set[UUID] = set()
        """Sessions of which rules have made all they can since then."""
        self._at_once: list[UUID] = []
        """Sessions that rules are at work on for somebody who waits; the background leaves them alone."""
        self._one_at_a_time = asyncio.Lock()
        self._background = Background(self._work, LOOK_AGAIN)
        self.recorded: Recorded = lambda _session, deed: deed()
        """Has what a model does for one conversation written down; nobody does unless somebody is put here."""

    def start(self, pause: float = 0.0) -> None:
        """Go on with what is unfinished, after `pause` seconds, and from then on with whatever comes."""
        self._background.start(pause)

    async def pause(self) -> None:
        """Stop until `start`; what is under way is left as it is stored."""
        await self._background.pause()

    @property
    def is_paused(self) -> bool:
        return self._background.is_paused

    async def close(self) -> None:
        """What is under way is left as it is stored: the next start goes on with it."""
        await self._background.close()

    async def archive_session(self, session_id: UUID, *, at_once: bool = True) -> bool:
        """The conversation is over: archive it in the background. False for one too short to be worth it.

        What rules can make of it is there when this returns, unless it need not be so `at_once`.
        """
        return await self._take_up(session_id, archive=True, at_once=at_once)

    async def update(self, session_id: UUID, parts: Sequence[SessionPart] = tuple(SessionPart)) -> bool:
        """Make title, summary and the rest of any conversation anew, or some parts, the present one included.

        What a model has made of it stands until a model that may be trusted makes it again.
        """
        return await self._take_up(session_id, archive=False, at_once=True, parts=parts)

    async def is_pending(self, session_id: UUID) -> bool:
        """Is a part of this session still to be made that rules or the loaded model can make now? False while paused."""
        return self._background.is_running and any(
            record.session == session_id and (record.made_by is MadeBy.RULES or self._archivist.may_write(record.part))
            for record in await self._parts.pending()
        )

    async def parts(self, session_id: UUID) -> dict[SessionPart, PartRecord]:
        """What was made of a conversation and by whom; empty for one that was never archived."""
        return await self._parts.parts_of(session_id)

    async def write(self, session_id: UUID, part: SessionPart, value: object) -> ChatSession:
        """The user's own wording of a part, which nothing overwrites any more. Facts are written one by one, in `Knowing`."""
        fields: dict[str, object] = {FIELDS[part]: value}
        if part is SessionPart.KEYWORDS:
            fields["enabled"] = bool(value)  # keywords of the user's own bring the conversation up
        await self._parts.fill(PartRecord(session_id, part, PartState.DONE, MadeBy.USER), **fields)
        if part is SessionPart.ROLEPLAY:
            await self.sort_facts(session_id)
        session = await self._chats.session(session_id)
        await self.renew(session.persona_id)
        self._told(session)
        return session

    async def sort_facts(self, session_id: UUID) -> None:
        """Make the facts of a conversation plain or in-story ones, as its roleplay mark says now."""
        await self._archivist.sort_facts(session_id)

    async def renew(self, persona_id: str) -> None:
        """A conversation was deleted, brought back or told otherwise: it is true at once, in the prompts of the others too."""
        await self._archivist.renew(persona_id)
        self._background.wake()

    def model_changed(self) -> None:
        """Another model is there: it may be trusted with what only rules have made so far."""
        self._background.wake()

    async def finish(self) -> None:
        """Do everything that is still to be done, here and now."""
        async with self._one_at_a_time:
            await self._do_all()

    async def _take_up(
        self, session_id: UUID, *, archive: bool, at_once: bool, parts: Sequence[SessionPart] = tuple(SessionPart)
    ) -> bool:
        if not is_worth_archiving(await self._archivist.lines(session_id)):
            return False
        if at_once:
            self._at_once.append(session_id)
        try:
            await self._parts.start_archive(session_id, parts, archive=archive)
            self._begun[session_id] += 1
            self._told_by_rules.discard(session_id)
            if at_once:
                await self._by_rules(session_id)
        finally:
            if at_once:
                self._at_once.remove(session_id)
        self._told(await self._chats.session(session_id))
        self._background.wake()
        return True

    # In the background

    async def _work(self) -> None:
        async with self._one_at_a_time:
            await self._do_all()
            await self._try_the_model()

    async def _try_the_model(self) -> None:
        """Find out what the loaded model may write, and let it do again what only rules have made."""
        if self._check is None:
            return
        await self._quiet.wait()
        with suppress(ModelError):
            await self._check()
        trusted = [part for part in SessionPart if self._archivist.may_write(part)]
        if trusted and await self._parts.redo(trusted, self._archivist.model):
            await self._do_all()

    async def _do_all(self) -> None:
        """By rules whatever can be, then session after session by the model, until nothing is left that can be done now."""
        try:
            while records := await self._next():
                if not await self._by_model(records):
                    break
        finally:
            self._report(Archived())

    async def _next(self) -> list[PartRecord]:
        """What the model is to make of the first session that has something for it, in the order in which it is to."""
        for session_id in await self._for_rules():
            await self._quiet.wait()
            await self._unless_gone(session_id, self._by_rules(session_id))
        mine = [record for record in await self._parts.pending() if self._archivist.may_write(record.part)]
        mine = [record for record in mine if record.session == mine[0].session]
        return sorted(mine, key=lambda record: ORDER.index(record.part))

    async def _for_rules(self) -> list[UUID]:
        """Sessions that rules have not yet told, or of which no model is going to tell what is still open."""
        return list(
            dict.fromkeys(
                record.session
                for record in await self._parts.pending()
                if record.made_by is MadeBy.RULES
                and record.session not in self._at_once
                and not (record.session in self._told_by_rules and self._archivist.may_write(record.part))
            )
        )

    async def _by_rules(self, session_id: UUID) -> None:
        """Fill what is open by rules; what a trusted model may do better stays open for it, what a model made stands.

        Facts, of which there would be two wordings, are left to the model altogether.
        """
        begun = self._begun[session_id]
        records = {
            part: record
            for part, record in (await self._parts.parts_of(session_id)).items()
            if record.state is PartState.PENDING and record.made_by is MadeBy.RULES
        }
        left = {part for part in records if self._archivist.may_write(part)}
        values = await self._archivist.by_rules(session_id, records.keys() - left.intersection({SessionPart.FACTS}))
        if self._begun[session_id] != begun:
            return  # more was said meanwhile: whoever began it anew reads that too
        for part, record in records.items():
            done = record if part in left else replace(record, state=PartState.DONE, maker="")
            await self._parts.fill(done, record, **fields_of(part, values[part]) if part in values else {})
        self._told_by_rules.add(session_id)
        self._told(await self._chats.session(session_id))

    async def _by_model(self, records: Sequence[PartRecord]) -> bool:
        """All these parts of one session. False if they have to wait for a model."""
        return await self.recorded(records[0].session, partial(self._all_by_model, records))

    async def _all_by_model(self, records: Sequence[PartRecord]) -> bool:
        session_id = records[0].session
        for number, record in enumerate(records):
            await self._quiet.wait()
            made = await self._unless_gone(session_id, self._write(record, number, len(records)))
            if made is None:
                return True
            if not made:
                return False
        with suppress(StorageError):
            self._told(await self._chats.session(session_id))
        return True

    async def _write(self, record: PartRecord, number: int, total: int) -> bool:
        """Let the model make one part. False where there is no model to make it now."""
        session, begun, model = await self._chats.session(record.session), self._begun[record.session], self._archivist.model
        self._report(Archived(session.guid, session.name, record.part, number, total))
        try:
            value = await self._archivist.by_model(record.session, record.part)
        except NOT_NOW:
            return False
        except ModelError as error:
            is_dead = isinstance(error, ModelCrashed)
            failed = replace(record, tries=record.tries + 1, trouble=f"{model}: {error.message}")
            if not is_dead or failed.tries >= MOST_CRASHES:
                failed = replace(failed, state=PartState.FAILED)
                if record.part is SessionPart.FACTS:
                    await self._archivist.by_rules(record.session, {record.part})
            await self._parts.fill(failed, record)
            return not is_dead
        if self._begun[record.session] == begun:  # else more was said meanwhile, and it is still to be done
            done = replace(record, state=PartState.DONE, made_by=MadeBy.MODEL, maker=model, trouble="")
            await self._parts.fill(done, record, **fields_of(record.part, value))
        return True

    async def _unless_gone(self, session_id: UUID, work: Awaitable[bool | None]) -> bool | None:
        """What the work returns; None if the session was deleted while it was at it. Any other trouble with storage is told."""
        try:
            return await work
        except StorageError:
            if any(record.session == session_id for record in await self._parts.pending()):
                raise
            return None

    def _told(self, session: ChatSession) -> None:
        self._indexing.wake()
        self._sessions_changed.tell(session.persona_id)

    def _report(self, progress: Archived) -> None:
        if progress != self.progress:
            self.progress = progress
            self.changed.tell(progress)


def fields_of(part: SessionPart, value: object) -> dict[str, object]:
    """Where the value of a part belongs in its session."""
    return {FIELDS[part]: value} if part in FIELDS else {}
