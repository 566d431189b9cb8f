"""Undo of automatic writes to notebooks: changes are recorded before they are made, and edits by the user since then are
kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from lethe_app.brain.notebooks import document as writing
from lethe_app.brain.notebooks.document import Notebook
from lethe_app.domain.agent_runs import ChangeState, Made, MadeKind, RecordedChange, TaskRun
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.errors import StorageError
from lethe_app.services.background.activity_log import NOTEBOOKS, Doing
from lethe_app.services.memory.facts import FactService
from lethe_app.services.notebooks.service import Notebooks
from lethe_app.storage.agents.change_log import Changes
from lethe_app.storage.agents.task_runs import TaskRuns

WROTE = "notebook"
"""Value of `RecordedChange.what` for notebooks; the record has their texts before and after, by name.

Before they are written, the change is proposed and has all texts; one still proposed at the next start was interrupted.
"""


class NotebookUndo:
    """Record and revert automatic writes to notebooks. What the user has changed or deleted since stays as it is."""

    def __init__(self, changes: Changes, notebooks: Notebooks, knowing: FactService, runs: TaskRuns) -> None:
        self._changes, self._notebooks, self._knowing, self._runs = changes, notebooks, knowing, runs
        self._begun: set[UUID] = set()
        """Changes that are being made now."""

    # Recording

    async def record_before(self, run_id: UUID, persona_id: str) -> RecordedChange:
        """Record the texts of the persona's notebooks before something is written; return the proposed change."""
        texts = await self._notebooks.texts(persona_id)
        before = json.dumps(texts, ensure_ascii=False)
        values = {"what": WROTE, "reason": NOTEBOOKS.name, "before": before, "after": ""}
        change = RecordedChange(run_id=run_id, persona_id=persona_id, state=ChangeState.PROPOSED, **values)
        self._begun.add(change.id)
        await self._changes.save_changes(change)
        return change

    async def finish(self, change: RecordedChange) -> list[Made]:
        """Record the texts that have changed since then; return the written notebooks."""
        before, there = json.loads(change.before), await self._notebooks.texts(change.persona_id)
        names = sorted(name for name in before.keys() | there.keys() if before.get(name) != there.get(name))
        old, new = ({name: texts[name] for name in names if name in texts} for texts in (before, there))
        told = {"before": json.dumps(old, ensure_ascii=False), "after": json.dumps(new, ensure_ascii=False)}
        state = ChangeState.APPLIED if names else ChangeState.DECLINED
        await self._changes.save_changes(change.model_copy(update={**told, "state": state}))
        self._begun.discard(change.id)
        return [
            Made(kind=MadeKind.NOTEBOOK, id=name, title=writing.parse_notebook(name, text).title) for name, text in new.items()
        ]

    async def complete(self, persona_id: str) -> None:
        """Complete the records of writes that the end of the program interrupted, so that they are listed and can be undone."""
        for change in await self._changes.changes_of(persona_id, ChangeState.PROPOSED):
            if change.what == WROTE and change.id not in self._begun:
                made = await self.finish(change)
                run = await self._runs.get(change.run_id) if change.run_id is not None else None
                if run is not None and made:
                    await self._runs.save_run(run.model_copy(update={"made": tuple(dict.fromkeys((*run.made, *made)))}))

    async def note_facts(self, doing: Doing, facts: Sequence[ExtractedFact]) -> None:
        """Record facts that may be learnt in this run."""
        for fact in facts:
            await doing.note(_made(fact))

    async def keep_only(self, doing: Doing, noted: Sequence[ExtractedFact], learnt: Sequence[ExtractedFact]) -> None:
        """Reduce the recorded facts to those that were really learnt."""
        there = {fact.guid for fact in learnt}
        await doing.strike([_made(fact) for fact in noted if fact.guid not in there])
        await self.note_facts(doing, learnt)

    # Undo

    async def revert_run(self, run: TaskRun, _made: Made) -> None:
        """Revert everything that a run wrote, the newest first."""
        for change in reversed(await self._changes.of_run(run.id)):
            if change.what == WROTE and change.state is ChangeState.APPLIED:
                await self._put_back(change)
                await self._changes.save_changes(change.model_copy(update={"state": ChangeState.REVERTED}))

    async def unlearn(self, run: TaskRun, made: Made) -> None:
        """Forget a fact by a model and restore those it superseded. A fact that the user pinned or edited is kept."""
        known = await self._knowing.all(run.persona_id)
        fact = next((one for one in known if str(one.guid) == made.id), None)
        if fact is not None and fact.made_by is MadeBy.MODEL and not fact.pinned:
            with suppress(StorageError):  # the user was quicker
                await self._knowing.forget_fact(fact.guid)
                for old in known:
                    if old.superseded_by == fact.guid:
                        await self._knowing.restore(old.guid)

    async def _put_back(self, change: RecordedChange) -> None:
        before, after = json.loads(change.before), json.loads(change.after)
        there = await self._notebooks.texts(change.persona_id)
        if before.keys() - after.keys():  # parted: one file in the place of others, or all stays
            if all(there.get(name) == after.get(name) for name in before.keys() | after.keys()):
                await self._notebooks.put_back(change.persona_id, list(after), before)
            return
        left = {name: taken_out(there[name], before.get(name), text) for name, text in after.items() if name in there}
        texts = {name: text for name, text in left.items() if text is not None and text != there[name]}
        gone = [name for name, text in left.items() if text is None]
        if gone or texts:
            await self._notebooks.put_back(change.persona_id, [*gone, *texts], texts)


def taken_out(text: str, before: str | None, after: str) -> str | None:
    """Return `text` without the lines that are in `after` and not in `before`; None if nothing of the notebook is left.

    Lines that others have added or edited since are kept.
    """
    if text == after:
        return before
    then, now_there = (writing.parse_notebook("", one) for one in (before or "", after))
    new = Counter(_rows(now_there)) - Counter(_rows(then))
    book, kept = writing.parse_notebook("", text), []
    for line in book.lines:
        if new[line.raw.strip()] > 0:
            new[line.raw.strip()] -= 1
        else:
            kept.append(line)
    if before is None and not kept and book.head.strip() == now_there.head.strip():
        return None
    left = writing.render_notebook(Notebook("", book.title, book.head, tuple(kept))).rstrip("\n")
    return f"{left}\n"


def _rows(book: Notebook) -> list[str]:
    return [line.raw.strip() for line in book.lines]


def _made(fact: ExtractedFact) -> Made:
    return Made(kind=MadeKind.FACT, id=str(fact.guid), title=fact.fact)
