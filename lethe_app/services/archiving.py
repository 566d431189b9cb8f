"""Turns a conversation that is over into something to remember, behind the user's back and however often it is interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import UUID

from lethe_app.domain.archive import PartRecord, PartState, SessionPart
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.facts import MadeBy
from lethe_app.errors import ModelCrashed, ModelError, ModelMissing, StorageError
from lethe_app.services.archivist import Archivist, is_worth_archiving
from lethe_app.services.events import Listeners
from lethe_app.services.indexing import Indexing
from lethe_app.services.quiet import Quiet
from lethe_app.storage.chats import Chats
from lethe_app.storage.parts import Parts

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
NOT_NOW = (ModelMissing, ModelCrashed)
"""No fault of the part: it waits for a model."""


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
        quiet: Quiet,
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
        self._wanted = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self, pause: float = 0.0) -> None:
        """Go on with what is unfinished, after `pause` seconds, and from then on with whatever comes."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work(pause))

    async def close(self) -> None:
        """What is under way is left as it is stored: the next start goes on with it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def begin(self, session_id: UUID) -> bool:
        """The conversation is over: archive it in the background. False for one too short to be worth it.

        What rules can make of it is there when this returns.
        """
        return await self._take_up(session_id, archive=True)

    async def update(self, session_id: UUID) -> bool:
        """Make title, summary and the rest of any conversation anew, the present one included."""
        return await self._take_up(session_id, archive=False)

    async def parts(self, session_id: UUID) -> dict[SessionPart, PartRecord]:
        """What was made of a conversation and by whom; empty for one that was never archived."""
        return await self._parts.of(session_id)

    async def write(self, session_id: UUID, part: SessionPart, value: object) -> ChatSession:
        """The user's own wording of a part, which nothing overwrites any more."""
        session = await self._archivist.put(session_id, part, value)
        await self._parts.put(PartRecord(session_id, part, PartState.DONE, MadeBy.USER))
        self._told(session)
        return session

    def model_changed(self) -> None:
        """Another model is there: it may be trusted with what only rules have made so far."""
        self._wanted.set()

    async def finish(self) -> None:
        """Do everything that is still to be done, here and now."""
        async with self._one_at_a_time:
            await self._do_all()

    async def _take_up(self, session_id: UUID, *, archive: bool) -> bool:
        if not is_worth_archiving(await self._archivist.lines(session_id)):
            return False
        await self._parts.begin(session_id, archive=archive)
        session = await self._by_rules(session_id)
        self._told(session)
        self._wanted.set()
        return True

    async def _by_rules(self, session_id: UUID) -> ChatSession:
        """Fill what is open by rules; what a trusted model may do better stays open for it."""
        records = await self._parts.of(session_id)
        open_parts = [part for part, record in records.items() if record.state is PartState.PENDING]
        await self._archivist.by_rules(await self._chats.session(session_id), open_parts)
        for part in open_parts:
            if not self._archivist.may_write(part):
                await self._parts.put(replace(records[part], state=PartState.DONE, made_by=MadeBy.RULES))
        return await self._chats.session(session_id)

    async def _work(self, pause: float) -> None:
        await asyncio.sleep(pause)
        while True:
            self._wanted.clear()
            with suppress(StorageError):  # told by whoever the user is waiting for
                async with self._one_at_a_time:
                    await self._do_all()
                    await self._try_the_model()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), LOOK_AGAIN)

    async def _try_the_model(self) -> None:
        """Find out what the loaded model may write, and let it do again what only rules have made."""
        if self._check is None:
            return
        await self._quiet.wait()
        with suppress(ModelError):
            await self._check()
        trusted = [part for part in SessionPart if self._archivist.may_write(part)]
        if trusted and await self._parts.redo(trusted):
            await self._do_all()

    async def _do_all(self) -> None:
        """One session after the other, the newest first, until nothing is left that can be done now."""
        while pending := await self._parts.pending():
            mine = [record for record in pending if record.session == pending[0].session]
            if not await self._do(sorted(mine, key=lambda record: ORDER.index(record.part))):
                break
        self._report(Archived())

    async def _do(self, records: list[PartRecord]) -> bool:
        """All open parts of one session. False if they have to wait for a model."""
        session = await self._chats.session(records[0].session)
        if not session.content or not all(self._archivist.may_write(record.part) for record in records):
            session = await self._by_rules(session.guid)
        mine = [record for record in records if self._archivist.may_write(record.part)]
        for number, record in enumerate(mine):
            await self._quiet.wait()
            self._report(Archived(session.guid, session.name, record.part, number, len(mine)))
            if not await self._write(record):
                return False
        self._told(await self._chats.session(session.guid))
        return True

    async def _write(self, record: PartRecord) -> bool:
        """Let the model make one part. False where there is no model to make it now."""
        try:
            await self._archivist.by_model(record.session, record.part)
        except NOT_NOW:
            return False
        except ModelError as error:
            failed = replace(record, state=PartState.FAILED, tries=record.tries + 1, trouble=error.message)
            await self._parts.put(failed)
        else:
            done = replace(record, state=PartState.DONE, made_by=MadeBy.MODEL, maker=self._archivist.model, trouble="")
            await self._parts.put(done)
        return True

    def _told(self, session: ChatSession) -> None:
        self._indexing.wake()
        self._sessions_changed.tell(session.persona_id)

    def _report(self, progress: Archived) -> None:
        if progress != self.progress:
            self.progress = progress
            self.changed.tell(progress)
