"""Proposals and changes of dreams as the user decides on them: accept, decline, reword, revert; and the inputs of a dream."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from lethe_app.brain.dreams.consolidation import DREAM, said, signature
from lethe_app.brain.dreams.dislikes import Disliked
from lethe_app.brain.dreams.preferences import Remark
from lethe_app.brain.recall.memory_text import one_line
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.agent_runs import ChangeState, Made, RecordedChange, TaskRun
from lethe_app.domain.changes import DREAMT, Kept, Records
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.passage import PassageKind
from lethe_app.errors import FileError, LetheError, StorageError
from lethe_app.prompt.task_prompts import TaskPrompts
from lethe_app.retrieval.memory_index import Recall
from lethe_app.services.background.feedback import Feedbacks
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.facts import FactService
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.storage.agents.change_log import Changes

TASK = DREAM
"""Name of the task."""
NEAREST = 6
"""Neighbours of a record that are looked at."""
MOST = 2000
"""Changes that are looked through for what was thought of before."""
DIRECTIVES = ("dream", "infer", "avoid", "disliked")
"""Task prompts of dreams; the user may have their own."""


class Dreams:
    """`changed` names the persona whose changes are others now."""

    def __init__(
        self,
        changes: Changes,
        holdings: MemoryCache,
        knowing: FactService,
        errands: TaskPrompts,
    ) -> None:
        self.changed: Listeners[str] = Listeners()
        self._changes = changes
        self._holdings = holdings
        self._knowing = knowing
        self._errands = errands

    async def changes_of(self, persona_id: str, state: ChangeState | None = None, most: int = MOST) -> list[RecordedChange]:
        """What dreams proposed and did, newest first; what other tasks did has a page of its own."""
        return [one for one in await self._changes.changes_of(persona_id, state, most) if one.what in DREAMT]

    async def accept(self, change_id: UUID) -> RecordedChange:
        """Make it true. Raises StorageError where what it is about was changed since it was thought of."""
        return await self.carry_out(await self._get(change_id))

    async def accept_all(self, persona_id: str) -> int:
        """All that wait, oldest first; what is no longer possible is declined. How many became true."""
        count = 0
        for one in reversed(await self.changes_of(persona_id, ChangeState.PROPOSED)):
            try:
                await self.accept(one.id)
                count += 1
            except StorageError:
                await self.decline(one.id)
        return count

    async def decline(self, change_id: UUID) -> None:
        """Leave it; the same is not proposed again."""
        change = await self._get(change_id)
        if change.state is ChangeState.PROPOSED:
            await self._changes.save_changes(change.model_copy(update={"state": ChangeState.DECLINED}))
            self.changed.tell(change.persona_id)

    async def ask_again(self, change_id: UUID) -> None:
        """What was declined waits again."""
        change = await self._get(change_id)
        if change.state is ChangeState.DECLINED:
            await self._changes.save_changes(change.model_copy(update={"state": ChangeState.PROPOSED}))
            self.changed.tell(change.persona_id)

    async def edit(self, change_id: UUID, text: str) -> RecordedChange:
        """Put what is proposed in the user's own words; what comes of it is theirs. Raises LetheError without words."""
        change = await self._get(change_id)
        if not text.strip():
            raise LetheError("A memory needs words.", "Decline it instead.")
        if change.state is not ChangeState.PROPOSED:
            raise LetheError("This was decided about already.", "Change the memory itself.")
        edited = change.model_copy(update={"after": _reworded(Records.after(change), text.strip()).model_dump_json()})
        await self._changes.save_changes(edited)
        self.changed.tell(change.persona_id)
        return edited

    async def put_as(self, change: RecordedChange) -> None:
        """A proposal just as it was, for undo."""
        await self._changes.save_changes(change)
        self.changed.tell(change.persona_id)

    async def revert_change(self, change_id: UUID) -> RecordedChange:
        """Everything is as it was before. Raises StorageError where the user changed since what it had made."""
        done = await self._changes.revert_change(change_id)
        await self._renew(done)
        return done

    async def take_back_made(self, _run: TaskRun, made: Made) -> None:
        """The same for one thing that came of a run. What was not applied is declined."""
        change = await self._changes.get(UUID(made.id))
        if change is not None and change.what in DREAMT:
            if change.state is ChangeState.PROPOSED:
                await self.decline(change.id)
            elif change.state is ChangeState.APPLIED:
                with suppress(StorageError):  # what the user changed since stays as they left it
                    await self.revert_change(change.id)

    async def carry_out(self, change: RecordedChange) -> RecordedChange:
        """Make it true at once, stored together with what it does. Raises StorageError."""
        done = await self._changes.carry_out(change)
        await self._renew(done)
        return done

    async def propose(self, change: RecordedChange) -> RecordedChange:
        """It waits for the user's word."""
        await self._changes.save_changes(change)
        self.changed.tell(change.persona_id)
        return change

    @property
    def broken_directives(self) -> list[FileError]:
        """The user's own prompts for dreams that cannot be used; ours are used meanwhile."""
        found: list[FileError] = []
        for name in DIRECTIVES:
            self._errands.prompt_of(name)
            if (error := self._errands.broken.get(name)) is not None:
                found.append(error)
        return found

    async def _renew(self, change: RecordedChange) -> None:
        """What is remembered is others now, in every prompt and for whoever looks for it."""
        self._holdings.reload()
        self._holdings.changed.tell(change.persona_id)
        self._holdings.forgotten.tell(change.persona_id)
        await self._knowing.renew(change.persona_id)
        self.changed.tell(change.persona_id)

    async def _get(self, change_id: UUID) -> RecordedChange:
        change = await self._changes.get(change_id)
        if change is None:
            raise StorageError("This change is no longer in the log.")
        return change


class DreamServices:
    """What the task works with; see `agents.dream.DreamInputs`."""

    def __init__(
        self,
        dreams: Dreams,
        feedback: Feedbacks,
        recall: Recall,
        calibration: Calibration,
        foreign: UntrustedMemories,
        may_write: Callable[[], bool],
    ) -> None:
        self._dreams = dreams
        self._feedback = feedback
        self._recall = recall
        self._calibration = calibration
        self._foreign = foreign
        self._may_write = may_write

    def may_write(self) -> bool:
        return self._may_write()

    async def neighbours(self, persona_id: str, record: Kept) -> list[UUID]:
        """By meaning, as far as two may still be one for the embedder that is loaded; none without one."""
        limits = await self._calibration.thresholds()
        is_memory = isinstance(record, MemoryUnit)
        kind, text = (PassageKind.MEMORY, record.content) if isinstance(record, MemoryUnit) else (PassageKind.FACT, record.fact)
        limit = max(limits.same_memory, limits.update) if is_memory else limits.update
        found = await self._recall.nearest(persona_id, text, kind, NEAREST)
        return [guid for guid, distance in found if distance < limit and guid != record.guid]

    async def describe_record(self, record: Kept, most: int) -> str:
        words = one_line(said(record))[:most]
        return await self._foreign.quoted_text(record, words) if isinstance(record, MemoryUnit) else words

    async def thought_of(self, persona_id: str) -> set[str]:
        return {signature(one) for one in await self._dreams.changes_of(persona_id)}

    async def bring(self, change: RecordedChange, *, at_once: bool) -> RecordedChange:
        if not at_once:
            return await self._dreams.propose(change)
        try:
            return await self._dreams.carry_out(change)
        except StorageError:  # somebody changed it while this was thought of
            return change.model_copy(update={"state": ChangeState.DECLINED})

    async def unheard(self, persona_id: str) -> list[list[Utterance]]:
        return await self._feedback.unheard(persona_id)

    async def store_remarks(self, persona_id: str, remarks: Sequence[Remark]) -> list[Remark]:
        return await self._feedback.collect_remarks(persona_id, remarks)

    async def disliked(self, persona_id: str) -> list[Disliked]:
        return await self._feedback.disliked(persona_id)

    async def newest_thought(self, persona_id: str) -> datetime | None:
        return await self._feedback.newest(persona_id)

    async def session_of(self, message: UUID) -> UUID:
        return await self._feedback.session_of(message)

    async def conclude(self, persona_id: str, messages: Collection[UUID]) -> None:
        await self._feedback.conclude(persona_id, messages)


def _reworded(after: Records, text: str) -> Records:
    """What the user put otherwise is the user's own."""
    if after.memories:
        first, *others = after.memories
        return after.model_copy(update={"memories": [first.model_copy(update={"content": text, "made_by": ""}), *others]})
    facts: list[ExtractedFact] = []
    for fact in after.facts:
        is_new = not fact.superseded
        facts.append(fact.model_copy(update={"fact": text, "made_by": MadeBy.USER}) if is_new else fact)
    if not facts:
        raise LetheError("There are no words here to be changed.")
    return after.model_copy(update={"facts": facts})
