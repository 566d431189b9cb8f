"""Notes what was written into notebooks behind the user, and takes it back as long as nobody has changed it since."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

from lethe_app.domain.agents import Change, ChangeState, Made, MadeKind, TaskRun
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.errors import StorageError
from lethe_app.services.doings import NOTEBOOKS, Doing
from lethe_app.services.knowing import Knowing
from lethe_app.services.notebooks import Notebooks
from lethe_app.storage.changes import Changes

WROTE = "notebook"
"""What a change was, where notebooks were written: their texts before and after, by name."""


class Unwriting:
    """What the user has changed since, or thrown away, stays as they left it."""

    def __init__(self, changes: Changes, notebooks: Notebooks, knowing: Knowing) -> None:
        self._changes, self._notebooks, self._knowing = changes, notebooks, knowing

    async def note(self, doing: Doing, persona_id: str, before: Mapping[str, str]) -> list[str]:
        """What has become of her notebooks since they were as in `before`; the names of those that were written."""
        after = await self._notebooks.texts(persona_id)
        names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        if names:
            old, new = ({name: texts[name] for name in names if name in texts} for texts in (before, after))
            change = Change(
                run_id=doing.run_id,
                persona_id=persona_id,
                state=ChangeState.APPLIED,
                what=WROTE,
                reason=NOTEBOOKS.name,
                before=json.dumps(old, ensure_ascii=False),
                after=json.dumps(new, ensure_ascii=False),
            )
            await self._changes.put(change)
        return [name for name in names if name in after]

    async def note_facts(self, doing: Doing, facts: Sequence[ExtractedFact]) -> None:
        """What was learnt with it."""
        for fact in facts:
            await doing.note(Made(kind=MadeKind.FACT, id=str(fact.guid), title=fact.fact))

    async def take_back(self, run: TaskRun, _made: Made) -> None:
        """All that a run wrote, the newest first."""
        for change in reversed(await self._changes.of_run(run.id)):
            if change.what == WROTE and change.state is ChangeState.APPLIED:
                await self._put_back(change)
                await self._changes.put(change.model_copy(update={"state": ChangeState.REVERTED}))

    async def unlearn(self, run: TaskRun, made: Made) -> None:
        """A fact that a model wrote is forgotten; one that the user made theirs stays."""
        fact = next((one for one in await self._knowing.all(run.persona_id) if str(one.guid) == made.id), None)
        if fact is not None and fact.made_by is MadeBy.MODEL and not fact.pinned:
            with suppress(StorageError):  # the user was quicker
                await self._knowing.forget(fact.guid)

    async def _put_back(self, change: Change) -> None:
        before, after = json.loads(change.before), json.loads(change.after)
        there = await self._notebooks.texts(change.persona_id)
        if all(there.get(name) == after.get(name) for name in before.keys() | after.keys()):
            await self._notebooks.put_back(change.persona_id, list(after), before)
