"""Finds out once whether a model may write facts and summaries, by having it work on texts whose right answers are known."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, TypeAdapter, ValidationError

from lethe_app.brain.exam import LEAST_PRECISION, Dialogue, Marks, Snippet, as_said, is_lost, mark_facts, mark_summary
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.errors import FileError
from lethe_app.prompt.errands import Errands, Task
from lethe_app.services.clerk import AnswerUnusable, Clerk
from lethe_app.services.events import Listeners
from lethe_app.services.minutes import Minutes
from lethe_app.storage.state import HouseState

T = TypeVar("T")
SCOPE = "verdicts"
LEAST_FOUND = 1 / 3
"""Of the facts there are, the share that must be found: who writes nothing makes no mistakes and is of no use."""


class Verdict(BaseModel):
    """What a model may be trusted with."""

    model_config = ConfigDict(frozen=True)

    model: str
    """Its name."""
    facts: float
    """Precision, from 0 to 1; where it was clear early that it is too low, of what was tried until then."""
    may_write_facts: bool
    may_write_summaries: bool
    checked: AwareDatetime
    detail: str
    """What was measured, in a sentence."""


class Record(BaseModel):
    """What is kept of a model, so that an interrupted test goes on where it was."""

    edition: str
    marks: dict[str, Marks] = {}
    verdict: Verdict | None = None


class Trust:
    """Knows the verdict on the model that is loaded; `changed` tells a new one."""

    def __init__(self, clerk: Clerk, errands: Errands, state: HouseState, folder: Path) -> None:
        """`folder` holds `facts.json` and `dialogues.json`."""
        self.changed: Listeners[Verdict] = Listeners()
        self._clerk = clerk
        self._minutes = Minutes(clerk)
        self._errands = errands
        self._state = state
        self._folder = folder
        self._known: dict[str, Verdict] = {}
        self._one_at_a_time = asyncio.Lock()

    @property
    def verdict(self) -> Verdict | None:
        """On the model that is loaded now; None while there is none, or it was not tested yet."""
        model = self._clerk.model
        return self._known.get(key_of(model)) if model is not None else None

    async def check(self) -> Verdict | None:
        """The verdict on the loaded model, which is tested if it never was. Call it whenever a model has been loaded.

        The test takes minutes, makes way for everything else and can be cancelled; the next call goes on where it was. None if
        the model was exchanged meanwhile. Raises ModelError where the model could not be asked, FileError, StorageError.
        """
        async with self._one_at_a_time:
            model = self._clerk.model
            return await self._check(model) if model is not None else None

    async def _check(self, model: LoadedModel) -> Verdict | None:
        snippets, dialogues = self._texts()
        record = await self._record(model, snippets, dialogues)
        if record.verdict is None:
            await self._test(model, record, snippets, dialogues)
            if self._clerk.model is not model:
                return None
            record.verdict = judge(model.file.name, record.marks, snippets, dialogues)
            await self._keep(model, record)
        self._known[key_of(model)] = record.verdict
        self.changed.tell(record.verdict)
        return record.verdict

    async def _test(
        self, model: LoadedModel, record: Record, snippets: Sequence[Snippet], dialogues: Sequence[Dialogue]
    ) -> None:
        """Text after text, until all are done or the outcome is certain."""
        texts: list[Snippet | Dialogue] = [*snippets, *dialogues]
        for text in texts:
            if text.name in record.marks or is_lost(text, record.marks, snippets, dialogues):
                continue
            marks = await (self._note(text) if isinstance(text, Snippet) else self._sum_up(text))
            if self._clerk.model is not model:
                return
            record.marks[text.name] = marks
            await self._keep(model, record)

    async def _note(self, snippet: Snippet) -> Marks:
        lines = as_said(snippet.lines, snippet.about)
        try:
            noted = await self._minutes.facts(lines, snippet.about)
        except AnswerUnusable as problem:
            return Marks(failed=problem.message)
        return mark_facts(snippet, lines, [(each.fact, each.source) for each in noted])

    async def _sum_up(self, dialogue: Dialogue) -> Marks:
        try:
            summary = await self._minutes.summary(as_said(dialogue.lines, dialogue.lines[0].partition(":")[0]))
        except AnswerUnusable as problem:
            return Marks(failed=problem.message)
        return mark_summary(dialogue, summary)

    def _texts(self) -> tuple[list[Snippet], list[Dialogue]]:
        return _read(self._folder / "facts.json", list[Snippet]), _read(self._folder / "dialogues.json", list[Dialogue])

    async def _record(self, model: LoadedModel, snippets: Sequence[Snippet], dialogues: Sequence[Dialogue]) -> Record:
        """What is known of this model, if the questions are still the same."""
        words = repr((snippets, dialogues, self._errands.of(Task.FACTS), self._errands.of(Task.SUMMARY)))
        edition = hashlib.blake2b(words.encode(), digest_size=8).hexdigest()
        try:
            record = Record.model_validate(await self._state.get(SCOPE, key_of(model)))
        except ValidationError:
            return Record(edition=edition)
        return record if record.edition == edition else Record(edition=edition)

    async def _keep(self, model: LoadedModel, record: Record) -> None:
        await self._state.set(SCOPE, key_of(model), record.model_dump(mode="json"))


def key_of(model: LoadedModel) -> str:
    """The model file, by name and size."""
    return f"{model.file.path.name} {model.file.size}"


def judge(model: str, marks: dict[str, Marks], snippets: Sequence[Snippet], dialogues: Sequence[Dialogue]) -> Verdict:
    """The verdict that the marks lead to. `model` is a name."""
    done = [marks[each.name] for each in snippets if each.name in marks]
    right, wrong = sum(each.right for each in done), sum(each.wrong for each in done)
    precision = right / (right + wrong) if right + wrong else 0.0
    there = sum(len(each.facts) for each in snippets)
    enough = sum(each.found for each in done) >= LEAST_FOUND * there
    troubles = list(_troubles(marks, dialogues))
    tried = f"{len(done)} of {len(snippets)} texts"
    of_facts = f"{right} of {right + wrong} facts were right, {there} were there to be found ({tried})"
    return Verdict(
        model=model,
        facts=precision,
        may_write_facts=len(done) == len(snippets) and precision >= LEAST_PRECISION and enough,
        may_write_summaries=not troubles,
        checked=now(),
        detail=f"{of_facts}; summaries: {'; '.join(troubles) or 'faithful'}.",
    )


def _troubles(marks: dict[str, Marks], dialogues: Sequence[Dialogue]) -> Iterator[str]:
    for each in dialogues:
        if each.name in marks and marks[each.name].failed:
            yield f"{each.name}: {marks[each.name].failed}"


def _read(path: Path, kind: type[list[T]]) -> list[T]:
    try:
        return TypeAdapter(kind).validate_python(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise FileError(path, f"it cannot be read: {error}") from error
