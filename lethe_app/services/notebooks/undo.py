"""Undo of automatic writes to notebooks: changes are recorded before they are made, and edits by the user since then are
kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from uuid import UUID

from lethe_app.brain.notebooks import document as writing
from lethe_app.brain.notebooks.document import Notebook
from lethe_app.domain.agent_runs import ChangeState, ProducedKind, ProducedRecord, RecordedChange, TaskRun
from lethe_app.domain.facts import MadeBy
from lethe_app.errors import StorageError
from lethe_app.services.background.activity_log import NOTEBOOKS, ActivityEntry
from lethe_app.services.memory.facts import FactService
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.storage.agents.change_log import ChangeLog
from lethe_app.storage.agents.task_runs import TaskRuns

NOTEBOOK_CHANGE = "notebook"
"""Value of `RecordedChange.what` for notebooks; the record has their texts before and after, by name.

Before they are written, the change is proposed and has all texts; one still proposed at the next start was interrupted.
"""


class NotebookUndo:
    """Record and revert automatic writes to notebooks. What the user has changed or deleted since stays as it is."""

    def __init__(self, changes: ChangeLog, notebooks: NotebookService, facts: FactService, task_runs: TaskRuns) -> None:
        self._changes, self._notebooks, self._facts, self._task_runs = changes, notebooks, facts, task_runs
        self._open_changes: set[UUID] = set()
        """Changes that are being made now."""

    # Recording

    @asynccontextmanager
    async def record(self, entry: ActivityEntry, persona_id: str) -> AsyncIterator[None]:
        """Record what the body writes into the persona's notebooks in this run, even if an error interrupts it."""
        before = json.dumps(await self._notebooks.load_texts(persona_id), ensure_ascii=False)
        values = {"what": NOTEBOOK_CHANGE, "reason": NOTEBOOKS.name, "before": before, "after": ""}
        change = RecordedChange(run_id=entry.run_id, persona_id=persona_id, state=ChangeState.PROPOSED, **values)
        self._open_changes.add(change.id)
        await self._changes.save_changes(change)
        try:
            yield
        finally:
            for made in await self._complete(change):
                await entry.recorder.add_result(made)

    async def _complete(self, change: RecordedChange) -> list[ProducedRecord]:
        """Record the texts that have changed since a change was proposed; return the written notebooks."""
        before, present = json.loads(change.before), await self._notebooks.load_texts(change.persona_id)
        names = sorted(name for name in before.keys() | present.keys() if before.get(name) != present.get(name))
        old, new = ({name: texts[name] for name in names if name in texts} for texts in (before, present))
        fields = {"before": json.dumps(old, ensure_ascii=False), "after": json.dumps(new, ensure_ascii=False)}
        state = ChangeState.APPLIED if names else ChangeState.DECLINED
        await self._changes.save_changes(change.model_copy(update={**fields, "state": state}))
        self._open_changes.discard(change.id)
        return [
            ProducedRecord(kind=ProducedKind.NOTEBOOK, id=name, title=writing.parse_notebook(name, text).title)
            for name, text in new.items()
        ]

    async def complete_interrupted(self, persona_id: str) -> None:
        """Complete the records of writes that the end of the program interrupted, so that they are listed and can be undone."""
        for change in await self._changes.changes_of(persona_id, ChangeState.PROPOSED):
            if change.what == NOTEBOOK_CHANGE and change.id not in self._open_changes:
                made = await self._complete(change)
                run = await self._task_runs.get(change.run_id) if change.run_id is not None else None
                if run is not None and made:
                    await self._task_runs.save_run(run.model_copy(update={"made": tuple(dict.fromkeys((*run.made, *made)))}))

    # Undo

    async def revert_run(self, run: TaskRun, _made: ProducedRecord) -> None:
        """Revert everything that a run wrote, the newest first."""
        for change in reversed(await self._changes.changes_of_run(run.id)):
            if change.what == NOTEBOOK_CHANGE and change.state is ChangeState.APPLIED:
                await self._revert_change(change)
                await self._changes.save_changes(change.model_copy(update={"state": ChangeState.REVERTED}))

    async def revert_fact(self, run: TaskRun, made: ProducedRecord) -> None:
        """Forget a fact by a model and restore those it superseded. A fact that the user pinned or edited is kept."""
        facts = await self._facts.facts_of(run.persona_id)
        fact = next((candidate for candidate in facts if str(candidate.guid) == made.id), None)
        if fact is not None and fact.made_by is MadeBy.MODEL and not fact.pinned:
            with suppress(StorageError):  # the user was quicker
                await self._facts.forget_fact(fact.guid)
                for old in facts:
                    if old.superseded_by == fact.guid:
                        await self._facts.restore(old.guid)

    async def _revert_change(self, change: RecordedChange) -> None:
        before, after = json.loads(change.before), json.loads(change.after)
        present = await self._notebooks.load_texts(change.persona_id)
        if before.keys() - after.keys():  # parted: one file in the place of others, or all stays
            if all(present.get(name) == after.get(name) for name in before.keys() | after.keys()):
                await self._notebooks.restore_texts(change.persona_id, list(after), before)
            return
        remaining = {
            name: remove_added_lines(present[name], before.get(name), text) for name, text in after.items() if name in present
        }
        texts = {name: text for name, text in remaining.items() if text is not None and text != present[name]}
        removed_names = [name for name, text in remaining.items() if text is None]
        if removed_names or texts:
            await self._notebooks.restore_texts(change.persona_id, [*removed_names, *texts], texts)


def remove_added_lines(text: str, before: str | None, after: str) -> str | None:
    """Return `text` without the lines that are in `after` and not in `before`; None if nothing of the notebook is left.

    Lines that others have added or edited since are kept.
    """
    if text == after:
        return before
    before_book, after_book = (writing.parse_notebook("", content) for content in (before or "", after))
    added_lines = Counter(_raw_lines(after_book)) - Counter(_raw_lines(before_book))
    book, kept_lines = writing.parse_notebook("", text), []
    for line in book.lines:
        if added_lines[line.raw.strip()] > 0:
            added_lines[line.raw.strip()] -= 1
        else:
            kept_lines.append(line)
    if before is None and not kept_lines and book.head.strip() == after_book.head.strip():
        return None
    remaining = writing.render_notebook(Notebook("", book.title, book.head, tuple(kept_lines))).rstrip("\n")
    return f"{remaining}\n"


def _raw_lines(book: Notebook) -> list[str]:
    return [line.raw.strip() for line in book.lines]
