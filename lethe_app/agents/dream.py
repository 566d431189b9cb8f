"""The dream task: merge and sort memories and facts, and learn how the user wants to be talked to.

Every result is a change: proposed, or, if the user chose so, applied at once. Each change is stored in one transaction with
its effect, so that a cancelled dream has applied some changes completely and the others not at all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Protocol
from uuid import UUID

from lethe_app.agents.dream_dislikes import Looking, suspected
from lethe_app.agents.dream_preferences import Listening, understand
from lethe_app.agents.task import NOTHING, AgentTask, Result, Sight, TaskContext
from lethe_app.brain.dreams.consolidation import (
    DREAM,
    Decision,
    build_changes,
    can_change_fact,
    can_change_memory,
    count_categories,
    group_by_identical_words,
    group_by_pairs,
    merge_identical,
    signature,
)
from lethe_app.brain.llm_schemas.dreams import Sorted
from lethe_app.domain.agent_runs import ChangeState, Made, MadeKind, RecordedChange
from lethe_app.domain.changes import Kept, Records
from lethe_app.domain.memory import MemoryUnit

MOST_ASKED = 40
"""Groups and single notes about which the model is asked in one dream; the rest waits for the next."""
MOST_COMPARED = 200
"""Records whose neighbours are searched in one dream, newest first."""
LAST, FILED, BY_MODEL = "last", "filed", "by_model"
"""Keys of the state: start of the last dream, notes that were already judged one by one, and whether a model was qualified."""
MOST_FILED = 2000
LONGEST_NOTE = 600


class DreamInputs(Listening, Looking, Protocol):
    """Inputs of a dream besides its task context."""

    async def newest_thought(self, persona_id: str) -> datetime | None:
        """Return the time of the user's last rating of a reply or reason for one."""

    async def neighbours(self, persona_id: str, record: Kept) -> list[UUID]:
        """Return the records so similar that they may say the same."""

    async def describe_record(self, record: Kept, most: int) -> str:
        """Return the record's text in at most `most` characters, quoted if it is untrusted."""

    async def thought_of(self, persona_id: str) -> set[str]:
        """Return the signatures of all recorded changes, whatever their state."""

    async def bring(self, change: RecordedChange, *, at_once: bool) -> RecordedChange:
        """Propose the change, or apply it. Return it as DECLINED if it is no longer possible."""


class Dream(AgentTask):
    """The dream task. It works with rules alone, and better with a qualified model."""

    name = DREAM
    title: ClassVar[str] = "Dreams"
    help: ClassVar[str] = "Merge duplicate memories and learn how you like to be talked to."
    every = timedelta(hours=24)

    def __init__(self, desk: DreamInputs) -> None:
        self._desk = desk

    async def observe(self, sight: Sight) -> bool:
        state = await sight.state()
        last = _moment(state.get(LAST))
        if last is None or last > sight.moment or (self._desk.may_write() and not state.get(BY_MODEL)):
            return True
        talked = await sight.sessions(most=1)
        newest = [*(one.last_activity for one in talked), *(one.added for one in (await sight.memories())[:1])]
        newest += [one.last_seen for one in (await sight.facts())[:1]]
        newest += filter(None, [await self._desk.newest_thought(sight.persona.unique_name)])
        return any(last < moment <= sight.moment for moment in newest)  # what a wrong clock dated ahead is not new for ever

    async def execute(self, scene: TaskContext) -> Result:
        began, known = scene.moment, await self._desk.thought_of(scene.persona.unique_name)
        scene.progress("Reviewing past messages")
        wanted = [one async for one in understand(scene, self._desk)]
        made = [await self._bring(scene, known, [change], concluded) for change, concluded in wanted]
        made.append(await self._suspect(scene, known))
        scene.progress("Tidying up memories")
        count = sum(made) + await self._tidy(scene, known)
        await scene.set_state({**await scene.state(), LAST: began.isoformat(), BY_MODEL: self._desk.may_write()})
        return Result(_told(count, at_once=scene.settings.dreams_apply)) if count else NOTHING

    async def _suspect(self, scene: TaskContext, known: set[str]) -> int:
        """Propose what thumb ratings alone suggest. This is never applied at once, whatever the settings."""
        found = await suspected(scene, self._desk)
        if found is None:
            return 0
        change, meant = found
        return await self._bring(scene, known, [change], [one.message for one in meant], only_propose=True)

    async def _bring(
        self,
        scene: TaskContext,
        known: set[str],
        changes: Sequence[RecordedChange],
        concluded: Collection[UUID] = (),
        *,
        only_propose: bool = False,
    ) -> int:
        """Return the number of changes that are new and possible."""
        at_once = scene.settings.dreams_apply and not only_propose
        count = 0
        for change in changes:
            if signature(change) in known:
                continue
            known.add(signature(change))
            await scene.note_made(Made(kind=MadeKind.CHANGE, id=str(change.id), title=_title(change)))
            done = await self._desk.bring(change, at_once=at_once)
            count += done.state is not ChangeState.DECLINED
        if concluded:
            await self._desk.conclude(scene.persona.unique_name, concluded)
        return count

    async def _tidy(self, scene: TaskContext, known: set[str]) -> int:
        """Merge records of equal wording first, which needs no model, then let a qualified model judge the others."""
        count = 0
        for group in group_by_identical_words(await _open_to_change(scene)):
            count += await self._settle(scene, known, group, merge_identical(group))
        return count + (await self._tidy_with_a_model(scene, known) if self._desk.may_write() else 0)

    async def _tidy_with_a_model(self, scene: TaskContext, known: set[str]) -> int:
        records = await _open_to_change(scene)
        groups = group_by_pairs(records, await self._pairs(scene.persona.unique_name, records))
        asked = {one.guid for group in groups for one in group}
        looked_at = _texts((await scene.state()).get(FILED))
        alone = [one for one in records if isinstance(one, MemoryUnit) and not one.filed_under and one.guid not in asked]
        single: list[list[Kept]] = [[one] for one in alone if str(one.guid) not in looked_at]
        count = 0
        for group in [*groups, *single][:MOST_ASKED]:
            decision = await self._judged(scene, group)
            count += await self._settle(scene, known, group, decision)
            if len(group) == 1:
                looked_at.append(str(group[0].guid))
                await scene.set_state({**await scene.state(), FILED: looked_at[-MOST_FILED:]})
        return count

    async def _judged(self, scene: TaskContext, group: Sequence[Kept]) -> Decision:
        there = ", ".join(count_categories(await scene.memories())) or "(none yet)"
        told = [await self._desk.describe_record(one, LONGEST_NOTE) for one in group]
        notes = "\n".join(f"{number}. {words}" for number, words in enumerate(told, 1))
        answer = await scene.ask("dream", Sorted, categories=there[:LONGEST_NOTE], notes=notes)
        return answer.to_decision(len(group))

    async def _settle(self, scene: TaskContext, known: set[str], group: Sequence[Kept], decision: Decision) -> int:
        names, moment = (scene.persona.name, scene.user.name), scene.moment
        found = build_changes(decision, group, scene.persona.unique_name, scene.run_id, moment, names)
        return await self._bring(scene, known, found)

    async def _pairs(self, persona_id: str, records: Sequence[Kept]) -> list[tuple[UUID, UUID]]:
        return [
            (one.guid, other)
            for one in records[:MOST_COMPARED]
            for other in await self._desk.neighbours(persona_id, one)
            if other != one.guid
        ]


async def _open_to_change(sight: Sight) -> list[Kept]:
    """Return the records a dream may change: memories newest first, then facts newest first."""
    memories = [one for one in await sight.memories() if can_change_memory(one, sight.moment)]
    return [*memories, *(one for one in await sight.facts() if can_change_fact(one))]


def _title(change: RecordedChange) -> str:
    """Return the beginning of the text after the change, or else of the text before it."""
    text = Records.after(change).text or Records.before(change).text
    return " ".join(text.split())[:60]


def _told(count: int, *, at_once: bool) -> str:
    things = "1 change" if count == 1 else f"{count} changes"
    return f"{things} applied." if at_once else f"{things} proposed."


def _moment(kept: object) -> datetime | None:
    return datetime.fromisoformat(kept) if isinstance(kept, str) else None


def _texts(kept: object) -> list[str]:
    return [str(one) for one in kept] if isinstance(kept, list) else []
