"""Proposals and changes of dreams: accept, decline, edit and revert them; and the inputs of the dream task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from lethe_app.brain.dreams.consolidation import DREAM, signature
from lethe_app.brain.recall.memory_text import one_line
from lethe_app.domain.agent_runs import ChangeState, RecordedChange
from lethe_app.domain.changes import DREAM_KINDS, ChangedRecord, ChangedRecords, record_text
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.passage import PassageKind
from lethe_app.errors import FileError, LetheError, StorageError
from lethe_app.prompt.task_prompts import TaskPrompts
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.facts import FactService
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.storage.agents.change_log import ChangeLog

TASK_NAME = DREAM
"""Name of the dream task."""
MAX_NEIGHBOURS = 6
"""Number of nearest neighbours of a record that are compared with it."""
MAX_CHANGES = 2000
"""Maximum number of changes that are read to recognise proposals made before."""
TASK_PROMPT_NAMES = ("dream", "infer", "avoid", "disliked")
"""Names of the task prompts of dreams, which the user may override."""


class Dreams:
    """Changes of dreams as the user decides on them, and the inputs of their task (`agents.dream.DreamInputs`). `changed` emits
    the persona id whose changes were modified.
    """

    def __init__(
        self,
        changes: ChangeLog,
        memory_cache: MemoryCache,
        facts: FactService,
        task_prompts: TaskPrompts,
        memory_index: MemoryIndex,
        calibration: Calibration,
        untrusted_memories: UntrustedMemories,
        may_write: Callable[[], bool],
    ) -> None:
        self.changed: Listeners[str] = Listeners()
        self._changes, self._memory_cache, self._facts, self._task_prompts = changes, memory_cache, facts, task_prompts
        self._memory_index, self._calibration, self._untrusted_memories = memory_index, calibration, untrusted_memories
        self.may_write = may_write

    async def changes_of(
        self, persona_id: str, state: ChangeState | None = None, most: int = MAX_CHANGES
    ) -> list[RecordedChange]:
        """Return the changes that dreams proposed or applied, newest first. Changes of other tasks have a page of their own."""
        return [change for change in await self._changes.changes_of(persona_id, state, most) if change.what in DREAM_KINDS]

    async def accept(self, change_id: UUID) -> RecordedChange:
        """Apply a proposed change. Raise StorageError if its records were edited since it was proposed."""
        return await self.apply_change(await self._load_change(change_id))

    async def accept_all(self, persona_id: str) -> int:
        """Apply all proposals, oldest first, and decline those that are no longer possible. Return the number of applied
        ones.
        """
        count = 0
        for change in reversed(await self.changes_of(persona_id, ChangeState.PROPOSED)):
            try:
                await self.accept(change.id)
                count += 1
            except StorageError:
                await self.decline(change.id)
        return count

    async def decline(self, change_id: UUID) -> None:
        """Decline a proposal; an equal one is not proposed again."""
        change = await self._load_change(change_id)
        if change.state is ChangeState.PROPOSED:
            await self.save_proposal(change.model_copy(update={"state": ChangeState.DECLINED}))

    async def propose_again(self, change_id: UUID) -> None:
        """Turn a declined change into a proposal again."""
        change = await self._load_change(change_id)
        if change.state is ChangeState.DECLINED:
            await self.save_proposal(change.model_copy(update={"state": ChangeState.PROPOSED}))

    async def edit(self, change_id: UUID, text: str) -> RecordedChange:
        """Replace the text of a proposal by the user's; its result then belongs to the user. Raise LetheError if the text is
        empty or the change is no longer a proposal.
        """
        change = await self._load_change(change_id)
        if not text.strip():
            raise LetheError("A memory needs text.", "Decline it instead.")
        if change.state is not ChangeState.PROPOSED:
            raise LetheError("This change was already accepted or declined.", "Edit the memory itself.")
        edited = change.model_copy(
            update={"after": _replace_text(ChangedRecords.after(change), text.strip()).model_dump_json()}
        )
        return await self.save_proposal(edited)

    async def revert_change(self, change_id: UUID) -> None:
        """Restore the records before the change. Raise StorageError if the user edited its result since."""
        for change in await self._changes.revert_changes([change_id]):
            await self._refresh_caches(change.persona_id)

    async def undo_changes(self, changes: Sequence[RecordedChange]) -> None:
        """Revert the changes of one run, newest first, and decline its proposals. What the user edited since is left alone."""
        for change in changes:
            await self.decline(change.id)
        for change in (await self._changes.revert_changes([reverted.id for reverted in changes], skip_changed=True))[:1]:
            await self._refresh_caches(change.persona_id)

    async def apply_change(self, change: RecordedChange) -> RecordedChange:
        """Apply a change, in one transaction with its record. Raise StorageError."""
        applied = await self._changes.apply_change(change)
        await self._refresh_caches(applied.persona_id)
        return applied

    async def save_proposal(self, change: RecordedChange) -> RecordedChange:
        """Store a proposal, or a decision on it that undo may take back, and return it."""
        await self._changes.save_changes(change)
        self.changed.notify(change.persona_id)
        return change

    @property
    def broken_prompts(self) -> list[FileError]:
        """Return the errors of the user's own task prompts for dreams; the built-in prompts are used instead of them."""
        errors: list[FileError] = []
        for name in TASK_PROMPT_NAMES:
            self._task_prompts.load_prompt(name)
            if (error := self._task_prompts.errors.get(name)) is not None:
                errors.append(error)
        return errors

    # Inputs of the task

    async def neighbours(self, persona_id: str, record: ChangedRecord) -> list[UUID]:
        """Return the nearest records, up to the embedding model's distance threshold for equal meaning; none without such a
        model.
        """
        limits = await self._calibration.thresholds()
        is_memory = isinstance(record, MemoryUnit)
        kind, text = (PassageKind.MEMORY, record.content) if isinstance(record, MemoryUnit) else (PassageKind.FACT, record.fact)
        limit = max(limits.same_memory, limits.update) if is_memory else limits.update
        nearest = await self._memory_index.nearest_origins(persona_id, text, kind, MAX_NEIGHBOURS)
        return [guid for guid, distance in nearest if distance < limit and guid != record.guid]

    async def describe_record(self, record: ChangedRecord, max_characters: int) -> str:
        text = one_line(record_text(record))[:max_characters]
        return await self._untrusted_memories.quote_memory(record, text) if isinstance(record, MemoryUnit) else text

    async def known_signatures(self, persona_id: str) -> set[str]:
        return {signature(change) for change in await self.changes_of(persona_id)}

    async def submit_change(self, change: RecordedChange, *, apply_now: bool) -> RecordedChange:
        if not apply_now:
            return await self.save_proposal(change)
        try:
            return await self.apply_change(change)
        except StorageError:  # somebody changed it while this was thought of
            return change.model_copy(update={"state": ChangeState.DECLINED})

    async def _refresh_caches(self, persona_id: str) -> None:
        """Reload caches and notify listeners after records were changed in the database."""
        self._memory_cache.reload()
        self._memory_cache.changed.notify(persona_id)
        self._memory_cache.forgotten.notify(persona_id)
        await self._facts.renew(persona_id)
        self.changed.notify(persona_id)

    async def _load_change(self, change_id: UUID) -> RecordedChange:
        change = await self._changes.get(change_id)
        if change is None:
            raise StorageError("This change is no longer in the log.")
        return change


def _replace_text(after: ChangedRecords, text: str) -> ChangedRecords:
    """Replace the text of the first new memory or of the new facts, and mark them as written by the user."""
    if after.memories:
        first, *other_memories = after.memories
        return after.model_copy(
            update={"memories": [first.model_copy(update={"content": text, "made_by": ""}), *other_memories]}
        )
    facts: list[ExtractedFact] = []
    for fact in after.facts:
        is_new = not fact.superseded
        facts.append(fact.model_copy(update={"fact": text, "made_by": MadeBy.USER}) if is_new else fact)
    if not facts:
        raise LetheError("This change has no text to edit.")
    return after.model_copy(update={"facts": facts})
