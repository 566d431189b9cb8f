"""Records what is done behind the user besides tasks, such as notebooks: in the same list, with its cost and a stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from lethe_app.agents.run_recorder import RunRecorder
from lethe_app.agents.runtime import Runtime
from lethe_app.agents.task import Result
from lethe_app.domain.agent_runs import Made, RunOutcome, TaskRun
from lethe_app.domain.chat import PartState
from lethe_app.domain.clock import now
from lethe_app.domain.facts import MadeBy
from lethe_app.errors import LetheError, StorageError
from lethe_app.services.events import Listeners
from lethe_app.services.extraction.structured_output import metered
from lethe_app.storage.agents.task_runs import TaskRuns
from lethe_app.storage.chats.archive_jobs import Parts
from lethe_app.storage.chats.sessions import Chats


@dataclass(frozen=True)
class Work:
    """A kind of work that is no task: it has a place of its own in the program, and others can be added by nobody."""

    name: str
    """For ever: runs are kept under it."""
    title: str
    counts: bool = True
    """What it costs is a part of what a persona may spend in a day."""
    is_shown: bool = True
    """While it lasts; what is not is told elsewhere."""
    when_cut_off: RunOutcome = RunOutcome.LOST


ARCHIVE = Work("archive", "Remembering", counts=False, is_shown=False, when_cut_off=RunOutcome.GAVE_WAY)
"""It can be paused elsewhere, and then goes on where it was."""
RESEARCH = Work("deep_research", "Finding out")
NOTEBOOKS = Work("notebooks", "Notebooks")
MOODS = Work("moods", "Moods")
WORKS = {one.name: one for one in (ARCHIVE, RESEARCH, NOTEBOOKS, MOODS)}
NOT_COUNTED = frozenset(one.name for one in WORKS.values() if not one.counts)


@dataclass(frozen=True)
class Underway:
    """A run that is going on."""

    run: TaskRun
    title: str
    persona: str
    """Her name."""
    words: str = ""
    """What is being done now."""
    is_asked: bool = False
    """The user wanted it now: it does not end when they touch a key."""


class Doing:
    """One thing while it is done."""

    def __init__(self, work: Work, underway: Underway, ledger: RunRecorder, tell: Callable[[], None]) -> None:
        self.work, self.underway = work, underway
        self._ledger, self._tell = ledger, tell
        self._task: asyncio.Task[Result] | None = None
        self.is_stopped = False

    @property
    def run_id(self) -> UUID:
        return self._ledger.run.id

    @property
    def tokens(self) -> int:
        """Read and written until now."""
        return self._ledger.run.tokens

    def progress(self, words: str) -> None:
        """A few words, shown live: what is being done now."""
        if words != self.underway.words:
            self.underway = replace(self.underway, words=words)
            self._tell()

    async def note(self, made: Made) -> None:
        """It makes this; noted first, so that it is known even if the program ends in the middle of it."""
        await self._ledger.note(made)

    async def strike(self, made: Collection[Made]) -> None:
        """It was to make this, and has not."""
        await self._ledger.strike(made)

    async def store_cost(self) -> None:
        """Store what it cost until now."""
        await self._ledger.open()

    def stop(self) -> None:
        """End it, by the user's wish."""
        if self._task is not None:
            self.is_stopped = True
            self._task.cancel()

    async def carry_out(self, deed: Callable[[Doing], Awaitable[Result]]) -> TaskRun:
        """Run the action between its two records. Raises what it raises, and CancelledError only if it comes from outside."""

        async def work() -> Result:
            with metered(self._ledger.spend):
                return await deed(self)

        await self._ledger.open()
        self._task = asyncio.get_running_loop().create_task(work())
        try:
            result = await self._task
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            run = await self._ledger.close(RunOutcome.STOPPED if self.is_stopped else self.work.when_cut_off)
            if not self.is_stopped:
                raise
            return run
        except Exception as error:
            words = error.message if isinstance(error, LetheError) else f"It broke down: {type(error).__name__}."
            await self._ledger.close(RunOutcome.FAILED, trouble=words)
            raise
        return await self._ledger.close(result.outcome, result.summary, made=result.made)


class ActivityLog:
    """One for all; `changed` tells whatever there is to see of them.

    What is done here counts against what a persona may spend in a day. Work that nobody asked for asks `is_left` before each
    step. What the user asked for is not refused when the day's means are used up: it is recorded, shown and counted, and what
    the persona would do by herself waits the longer for it.
    """

    def __init__(self, runs: TaskRuns, runtime: Runtime) -> None:
        self.changed: Listeners[None] = Listeners()
        self._runs, self._runtime = runs, runtime
        self._open: dict[UUID, Doing] = {}

    @property
    def underway(self) -> list[Underway]:
        """In the order in which they began."""
        return [doing.underway for doing in self._open.values() if doing.work.is_shown]

    @property
    def open(self) -> frozenset[UUID]:
        """The runs that are under way."""
        return frozenset(self._open)

    def stop(self, run_id: UUID) -> None:
        """End one of them, by the user's wish; what it made stays."""
        if run_id in self._open:
            self._open[run_id].stop()

    def leave(self, persona_id: str) -> None:
        """She was deleted: nothing more is done for her."""
        for doing in list(self._open.values()):
            if doing.underway.run.persona_id == persona_id:
                doing.stop()

    async def is_left(self, persona_id: str) -> bool:
        """May she do one thing more today that nobody asked for?"""
        return self._runtime.budget.is_left(await self._runtime.spent_today(persona_id, now()))

    async def carry_out(
        self, work: Work, whose: tuple[str, str], deed: Callable[[Doing], Awaitable[Result]], *, is_asked: bool = False
    ) -> TaskRun:
        """Do it, and return its record; `whose` is the persona's id and name. Raises what the action raises."""
        persona_id, name = whose
        ledger = RunRecorder(self._runs, TaskRun(persona_id=persona_id, task=work.name, began=now()))
        shown = Underway(ledger.run, work.title, name, is_asked=is_asked)
        doing = Doing(work, shown, ledger, lambda: self.changed.tell(None))
        self._open[doing.run_id] = doing
        self.changed.tell(None)
        try:
            return await doing.carry_out(deed)
        finally:
            del self._open[doing.run_id]
            self.changed.tell(None)


Deed = Callable[[], Awaitable[bool]]
"""Makes all that a model is to make of one conversation; whether it could go on to its end."""


class ArchiveLog:
    """One run for each conversation that a model reads."""

    def __init__(self, doings: ActivityLog, chats: Chats, parts: Parts) -> None:
        self._doings, self._chats, self._parts = doings, chats, parts

    async def carry_out(self, session_id: UUID, deed: Deed) -> bool:
        """What the action returns. Raises what it raises."""
        try:
            persona_id = (await self._chats.session(session_id)).persona_id
        except StorageError:  # it was deleted, which the deed finds out for itself
            return await deed()
        went: list[bool] = []
        await self._doings.carry_out(ARCHIVE, (persona_id, persona_id), partial(self._do, session_id, deed, went))
        return went == [True]

    async def _do(self, session_id: UUID, deed: Deed, went: list[bool], _doing: Doing) -> Result:
        before = await self._by_model(session_id)
        went.append(await deed())
        parts = await self._by_model(session_id) - before
        named = await self._named(session_id)
        if not parts:
            return Result(f"{named} stays as the rules of Lethe have summed it up.", outcome=RunOutcome.NOTHING)
        return Result(f"{named} was summed up by the model. That does not count for the day.")

    async def _named(self, session_id: UUID) -> str:
        with suppress(StorageError):
            if name := (await self._chats.session(session_id)).name:
                return f"“{name}”"
        return "A conversation"

    async def _by_model(self, session_id: UUID) -> set[str]:
        there = (await self._parts.parts_of(session_id)).items()
        return {part.value for part, one in there if one.state is PartState.DONE and one.made_by is MadeBy.MODEL}
