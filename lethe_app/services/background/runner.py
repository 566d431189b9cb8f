"""Run background tasks of personas while the user is away: one at a time, visible, and cancelled when the user comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from lethe_app.agents.budget import Budget, Spent
from lethe_app.agents.registry import RegisteredTask, Registry
from lethe_app.agents.run_recorder import RunRecorder
from lethe_app.agents.runtime import LONGEST, Due, Hindrance, Runtime, attempt, hindrance, sees_something
from lethe_app.agents.task import Need
from lethe_app.domain.agent_runs import RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.services.background.activity_log import WORKS, ActivityLog, Underway
from lethe_app.services.background.plugin_failures import Disabled, Failing
from lethe_app.services.background.task_api import Eyes, TaskApi, Tools
from lethe_app.services.background.undo import ChangeUndo
from lethe_app.services.events import Listeners
from lethe_app.services.extraction.structured_output import metered
from lethe_app.services.participants import ParticipantService
from lethe_app.services.scheduling.idle import Idleness
from lethe_app.services.scheduling.loop import Background
from lethe_app.services.sessions.timeout import SessionTimeout
from lethe_app.storage.agents.task_runs import TaskRuns

LOOK_AGAIN = 5.0
"""Seconds between two checks for due tasks."""
GRACE = 2.0
"""Seconds to wait for a task after its cancellation. Its context is then disabled, and the task is no longer waited for."""
NOTHING_TO_DO, WOULD_NOT_END = "There was nothing to do.", "The task did not stop when it was asked to."
WANTED = {
    Need.MODEL: "The task needs a model that has passed the self-test.",
    Need.FACTS: "The task needs a model that is qualified for facts.",
    Need.WEB: "The task needs internet search, which can be allowed in the settings.",
}


class Away:
    """Runner of background tasks. `changed` is emitted for every visible change; `told` with a sentence that the user should
    read.
    """

    def __init__(
        self,
        runtime: Runtime,
        tools: Tools,
        casting: ParticipantService,
        runs: TaskRuns,
        idleness: Idleness,
        timeout: SessionTimeout,
        failing: Failing,
        taking_back: ChangeUndo,
        doings: ActivityLog,
        on_battery: Callable[[], bool],
    ) -> None:
        """Create the runner; `doings` is the log of other background work, which is shown in the same list."""
        self.changed: Listeners[None] = Listeners()
        self.told: Listeners[str] = Listeners()
        self.underway: Underway | None = None
        """The task that is running; None if there is none."""
        self._runtime, self._tools, self._casting, self._runs = runtime, tools, casting, runs
        self._idleness, self._failing, self._taking_back, self._on_battery = idleness, failing, taking_back, on_battery
        self._doings, self._timeout = doings, timeout
        self._asked: list[tuple[str, str]] = []
        self._task: asyncio.Task[None] | None = None
        self._cut_off = RunOutcome.GAVE_WAY
        self._personas: list[Persona] | None = None
        self._has_begun = False
        self._background = Background(self.look, LOOK_AGAIN)
        self._forget = [
            idleness.touched.add(lambda _none: self._user_is_here()),
            tools.preferences.changed.add(lambda _settings: self._look_anew()),
            tools.library.changed.add(lambda _none: self._look_anew()),
            tools.library.deleted.add(self._leave),
            doings.changed.add(self.changed.tell),
        ]

    def start(self, pause: float = 0.0) -> None:
        """Begin to check every few seconds whether a task is due."""
        self._background.start(pause)

    async def close(self) -> None:
        """Stop. A running task ends as if the user had come back."""
        for forget in self._forget:
            forget()
        await self._background.close()

    # User interface

    @property
    def registry(self) -> Registry:
        return self._runtime.registry

    @property
    def everything_underway(self) -> list[Underway]:
        """Return the running task and other running background work."""
        return [*([self.underway] if self.underway is not None else []), *self._doings.underway]

    def title_of(self, task: str) -> str:
        """Return the display title of a task, or its name if it is not installed any more."""
        if task in WORKS:
            return WORKS[task].title
        known = self._runtime.registry.get(task)
        return known.task.title if known is not None else task

    async def disabled(self) -> list[Disabled]:
        """Return the plug-in tasks that are off because they failed repeatedly."""
        return await self._failing.disabled(self.registry.all())

    async def allow(self, task: str) -> None:
        """Switch one of them on again."""
        await self._failing.allow(task)
        self.changed.tell(None)

    @property
    def hindrance(self) -> Hindrance | None:
        """Return why no task is started at present; None if one may be."""
        settings, idle = self._tools.preferences.current, self._idleness.idle
        return hindrance(settings, now(), idle, self._on_battery)

    @property
    def budget(self) -> Budget:
        return self._runtime.budget.limit

    async def spent_today(self, persona_id: str) -> Spent:
        """Return what one persona has used today."""
        return await self._runtime.budget.spent_today(persona_id, now())

    async def runs(self, most: int = 100, before: datetime | None = None) -> list[TaskRun]:
        """Return the runs, newest first."""
        await self._begin()
        return await self._runs.newest(most, before)

    def ask(self, persona_id: str, task: str) -> None:
        """Run a task now, whether the user is away or not. Raise LetheError if it is unknown or a requirement is not met."""
        known = self._runtime.registry.get(task)
        if known is None:
            raise LetheError(f"There is no task “{task}”.")
        if (lack := self._runtime.lacks(known)) is not None:
            raise LetheError(f"“{known.task.title}” cannot run now.", WANTED[lack])
        if (persona_id, task) not in self._asked:
            self._asked.append((persona_id, task))
        self._background.wake()

    def stop(self, run_id: UUID | None = None) -> None:
        """Cancel one run, or all of them, at the user's request."""
        for one in self.everything_underway:
            if run_id in {None, one.run.id}:
                self._doings.stop(one.run.id)
        if self.underway is not None and run_id in {None, self.underway.run.id}:
            self._end(RunOutcome.STOPPED)

    async def undo(self, run_id: UUID) -> None:
        """Undo a run. Raise StorageError or FileError."""
        run = await self._runs.get(run_id)
        if run is not None and not run.undone and run.outcome is not None:
            await self._taking_back.undo(run)
            self.changed.tell(None)

    # Loop

    async def look(self) -> None:
        """Run one task, if one was requested or is due. The rest follows at the next call."""
        await self._begin()
        if self._asked:
            await self._do_asked(*self._asked.pop(0))
            self._background.wake()
        elif self.hindrance is None:
            await self._timeout.archive_timed_out()
            for one in await self._runtime.due(await self._all_personas(), now()):
                if await self._timeout.is_settled(one.persona.unique_name) and await self._do_due(one):
                    return

    async def _begin(self) -> None:
        """Mark runs as lost that the last end of the program interrupted. This happens once, before anything else."""
        if not self._has_begun:
            self._has_begun = True
            await self._runs.close_lost(self._doings.open)

    async def _do_asked(self, persona_id: str, task: str) -> None:
        known = self._runtime.registry.get(task)
        if known is None:
            return
        one = Due((await self._casting.of_persona(persona_id)).persona, known)
        if await self._sees_something(one, is_asked=True):
            await self._do(one, is_asked=True)

    async def _do_due(self, one: Due) -> bool:
        """Run the task if it finds something to do; return whether it did."""
        if not await self._sees_something(one, is_asked=False):
            return False
        await self._do(one, is_asked=False)
        self._background.wake()
        return True

    async def _sees_something(self, one: Due, *, is_asked: bool) -> bool:
        """Return whether the task finds something to do. If not, and the user requested it, that is recorded; an error of
        `observe` is recorded as a failed run.
        """
        try:
            if await self._observe(one):
                return True
            self._runtime.saw_nothing(one, now())
            if is_asked:
                await self._note(one, RunOutcome.NOTHING, summary=NOTHING_TO_DO)
        except LetheError as error:
            await self._note(one, RunOutcome.FAILED, trouble=error.message)
        return False

    async def _observe(self, one: Due) -> bool:
        cast = await self._casting.of_persona(one.persona.unique_name)
        return await sees_something(one.known.task, Eyes(self._tools, one.known.name, cast, await self._last_run(one)))

    async def _last_run(self, one: Due) -> TaskRun | None:
        return await self._runtime.last_run(one, now())

    async def _note(self, one: Due, outcome: RunOutcome, summary: str = "", trouble: str = "") -> None:
        """Record a run that ended before it began."""
        ledger = await self._runtime.ledger(one, now(), is_asked=True)
        await self._conclude(one.known, await ledger.close(outcome, summary, trouble))

    async def _do(self, one: Due, *, is_asked: bool) -> None:
        moment = now()
        cast = await self._casting.of_persona(one.persona.unique_name)
        ledger = await self._runtime.ledger(one, moment, is_asked=is_asked)
        hands = TaskApi(self._tools, one.known.name, cast, await self._last_run(one), ledger, self._progress)
        seconds = LONGEST if is_asked else await self._runtime.time_left(one, moment)
        if not is_asked and self.hindrance is not None:
            return  # the user came back while all this was looked up; from here on they are noticed
        self._cut_off = RunOutcome.GAVE_WAY
        self._show(Underway(ledger.run, one.known.task.title, cast.persona.name, is_asked=is_asked))
        # A task of its own, so that a run can be cancelled without ending the loop.
        self._task = asyncio.get_running_loop().create_task(self._run(one, hands, ledger, seconds))
        try:
            await self._wait_for(self._task)
        finally:
            hands.let_go()
            self._runtime.has_ended(ledger.run)
            self._task = None
            self._show(None)
        await self._conclude(one.known, await ledger.close(self._cut_off, trouble=WOULD_NOT_END))

    async def _wait_for(self, task: asyncio.Task[None]) -> None:
        """Wait until the task ends, or for `GRACE` seconds once it was cancelled. Raise what it raises."""
        try:
            # The timeout lets the loop notice a cancellation that the task ignores; `asyncio.wait` itself would not return.
            while not task.done() and not task.cancelling():
                await asyncio.wait({task}, timeout=LOOK_AGAIN)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task}, timeout=GRACE)
            raise
        await asyncio.wait({task}, timeout=GRACE)
        if task.done() and not task.cancelled():
            task.result()

    async def _run(self, one: Due, hands: TaskApi, ledger: RunRecorder, seconds: float) -> None:
        with metered(ledger.spend):
            await attempt(one.known.task, hands, ledger, seconds, lambda: self._cut_off)

    async def _conclude(self, known: RegisteredTask, run: TaskRun) -> None:
        self._runtime.has_ended(run)
        if words := await self._failing.note(known, run):
            self.told.tell(words)
        self.changed.tell(None)

    # Events during a run

    def _user_is_here(self) -> None:
        if self.underway is not None and not self.underway.is_asked:
            self._end(RunOutcome.GAVE_WAY)

    def _leave(self, persona_id: str) -> None:
        """Cancel the work for a persona that was deleted."""
        self._doings.leave(persona_id)
        if self.underway is not None and self.underway.run.persona_id == persona_id:
            self._end(RunOutcome.STOPPED)

    def _end(self, outcome: RunOutcome) -> None:
        if self._task is not None:
            self._cut_off = outcome
            self._task.cancel()

    def _progress(self, words: str) -> None:
        if self.underway is not None:
            self._show(replace(self.underway, words=words))

    def _show(self, underway: Underway | None) -> None:
        self.underway = underway
        self.changed.tell(None)

    def _look_anew(self) -> None:
        self._personas = None
        self._runtime.look_anew()

    async def _all_personas(self) -> Sequence[Persona]:
        if self._personas is None:
            self._personas = await self._tools.library.personas()
        return self._personas
