"""Qualification of a model for facts and summaries: a self-test with texts whose correct answers are known."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter

from lethe_app.brain.llm_schemas.qualification import (
    MIN_PRECISION,
    QualificationDialogue,
    QualificationScore,
    QualificationSnippet,
    has_already_failed,
    parse_utterances,
    score_facts,
    score_summary,
)
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.errors import FileError
from lethe_app.prompt.task_prompts import TaskKind, TaskPrompts
from lethe_app.services.events import Listeners
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.llm_facts import LlmFactExtraction
from lethe_app.services.extraction.structured_output import AnswerUnusable, StructuredOutput, use_other_seeds
from lethe_app.services.stored_values import read_stored
from lethe_app.storage.key_value import AppState

T = TypeVar("T")
SCOPE = "verdicts"
"""Scope of the app state for qualification records, by model file."""
TRUSTED = "trusted_models"
"""Scope of the models that the user allows regardless of their qualification."""
ATTEMPTS = 2
"""Number of attempts, each with other seeds, before a model has failed."""
MIN_FACT_RECALL = 1 / 3
"""Minimum recall of the facts: a model that writes none makes no mistakes but is useless."""


class QualificationResult(BaseModel):
    """Qualification of a model."""

    model_config = ConfigDict(frozen=True)

    model: str
    """Name of the model."""
    facts: float
    """Precision of the facts, from 0 to 1. If the test was ended early because it was clearly too low, that of the texts
    tried.
    """
    may_write_facts: bool
    may_write_summaries: bool
    checked: AwareDatetime
    detail: str
    """Measured values, in one sentence."""
    trusted_anyway: bool = False
    """True if the user allows it to write everything although it failed."""

    @property
    def is_passed(self) -> bool:
        """Return whether the model may write both facts and summaries."""
        return self.may_write_facts and self.may_write_summaries


class QualificationRecord(BaseModel):
    """Stored state of a model's test, so that an interrupted test can be resumed."""

    edition: str
    """Hash of the test texts and task prompts; another one makes the record invalid."""
    attempts: list[dict[str, QualificationScore]] = Field(default=[{}], alias="sittings")
    """Scores by name of the text, for each attempt."""
    verdict: QualificationResult | None = None


class Qualification:
    """Qualification of the loaded model. `changed` emits a new result."""

    def __init__(
        self, structured_output: StructuredOutput, task_prompts: TaskPrompts, app_state: AppState, folder: Path
    ) -> None:
        """Create the service; `folder` contains `facts.json` and `dialogues.json`."""
        self.changed: Listeners[QualificationResult] = Listeners()
        self._structured_output = structured_output
        self._fact_extraction = LlmFactExtraction(structured_output)
        self._extraction = ConversationExtraction(structured_output)
        self._task_prompts = task_prompts
        self._app_state = app_state
        self._folder = folder
        self._known: dict[str, QualificationResult] = {}
        self._trusted: set[str] = set()
        self._one_at_a_time = asyncio.Lock()

    @property
    def verdict(self) -> QualificationResult | None:
        """Return the result of the loaded model; None if there is none or it was not tested yet."""
        model = self._structured_output.model
        verdict = self._known.get(key_of(model)) if model is not None else None
        if model is None or verdict is None or verdict.is_passed or key_of(model) not in self._trusted:
            return verdict
        return verdict.model_copy(update={"may_write_facts": True, "may_write_summaries": True, "trusted_anyway": True})

    @property
    def may_write_facts(self) -> bool:
        """Return whether the loaded model may write facts."""
        return self.verdict is not None and self.verdict.may_write_facts

    @property
    def may_write_summaries(self) -> bool:
        """Return whether the loaded model may write summaries."""
        return self.verdict is not None and self.verdict.may_write_summaries

    async def trust_anyway(self, *, trusted: bool) -> None:
        """Allow the loaded model to write everything regardless of its result, or no longer. Stored for this model file."""
        model = self._structured_output.model
        if model is None:
            return
        key = key_of(model)
        await self._app_state.set(TRUSTED, key, trusted or None)
        self._trusted = self._trusted | {key} if trusted else self._trusted - {key}
        if self.verdict is not None:
            self.changed.notify(self.verdict)

    async def check(self) -> QualificationResult | None:
        """Return the result of the loaded model, testing it if necessary. Must be called whenever a model has been loaded.

        The test takes minutes, yields to all other work and can be cancelled; the next call resumes it. Return None if the
        model was replaced meanwhile. Raise ModelError if the model could not be asked, FileError or StorageError.
        """
        async with self._one_at_a_time:
            model = self._structured_output.model
            return await self._check(model) if model is not None else None

    async def _check(self, model: LoadedModel) -> QualificationResult | None:
        snippets = _read(self._folder / "facts.json", list[QualificationSnippet])
        dialogues = _read(self._folder / "dialogues.json", list[QualificationDialogue])
        record = await self._load_record(model, snippets, dialogues)
        if record.verdict is None:
            await self._test(model, record, snippets, dialogues)
            if self._structured_output.model is not model:
                return None
            record.verdict = judge(model.file.name, record.attempts, snippets, dialogues)
            await self._save_record(model, record)
        self._trusted = set(await self._app_state.values_of(TRUSTED))
        self._known[key_of(model)] = record.verdict
        verdict = self.verdict or record.verdict
        self.changed.notify(verdict)
        return verdict

    async def _test(
        self,
        model: LoadedModel,
        record: QualificationRecord,
        snippets: Sequence[QualificationSnippet],
        dialogues: Sequence[QualificationDialogue],
    ) -> None:
        """Test text after text until all are done or the outcome is certain, and repeat failed parts once with other seeds.

        A model that found no fact at all is not asked for facts again: no seed changes that, and it takes minutes.
        """
        for number in range(ATTEMPTS):
            so_far = judge(model.file.name, record.attempts[:number], snippets, dialogues)
            if number == len(record.attempts):
                record.attempts.append({})
            found_nothing = number > 0 and not any(scores.found for scores in record.attempts[0].values())
            texts: list[QualificationSnippet | QualificationDialogue] = (
                [] if so_far.may_write_facts or found_nothing else [*snippets]
            )
            texts += [] if so_far.may_write_summaries else dialogues
            scores_by_text = record.attempts[number]
            with use_other_seeds(number):
                for text in texts:
                    if text.name in scores_by_text or has_already_failed(text, scores_by_text, snippets, dialogues):
                        continue
                    scores = await self._test_text(text)
                    if self._structured_output.model is not model:
                        return
                    scores_by_text[text.name] = scores
                    await self._save_record(model, record)

    async def _test_text(self, text: QualificationSnippet | QualificationDialogue) -> QualificationScore:
        try:
            if isinstance(text, QualificationDialogue):
                lines = parse_utterances(text.lines, text.lines[0].partition(":")[0])
                return score_summary(text, await self._extraction.summary(lines))
            lines = parse_utterances(text.lines, text.about)
            return score_facts(text, lines, [fact.fact for fact in await self._fact_extraction.facts(lines, [text.about])])
        except AnswerUnusable as error:
            return QualificationScore(failed=error.message)

    async def _load_record(
        self, model: LoadedModel, snippets: Sequence[QualificationSnippet], dialogues: Sequence[QualificationDialogue]
    ) -> QualificationRecord:
        """Return the stored record of this model if test texts and task prompts are unchanged, else a new one."""
        tasks = (TaskKind.FACTS, TaskKind.CONFIRM, TaskKind.SUMMARY)
        words = repr((snippets, dialogues, [self._task_prompts.load_prompt(task) for task in tasks]))
        edition = hashlib.blake2b(words.encode(), digest_size=8).hexdigest()
        record = read_stored(QualificationRecord.model_validate, await self._app_state.get(SCOPE, key_of(model)))
        return record if record is not None and record.edition == edition else QualificationRecord(edition=edition)

    async def _save_record(self, model: LoadedModel, record: QualificationRecord) -> None:
        await self._app_state.set(SCOPE, key_of(model), record.model_dump(mode="json", by_alias=True))


def key_of(model: LoadedModel) -> str:
    """Return the key of a model file: its name and size."""
    return f"{model.file.path.name} {model.file.size}"


def judge(
    model: str,
    attempts: Sequence[Mapping[str, QualificationScore]],
    snippets: Sequence[QualificationSnippet],
    dialogues: Sequence[QualificationDialogue],
) -> QualificationResult:
    """Return the result for the scores, taking the best of several attempts. `model` is a name."""
    facts = max((_judge_fact_scores(scores, snippets) for scores in attempts), default=(False, 0.0, "not tried"))
    failures = [
        [f"{one.name}: {scores[one.name].failed}" for one in dialogues if one.name in scores and scores[one.name].failed]
        for scores in attempts
    ]
    is_faithful = any(
        not failed and all(dialogue.name in scores for dialogue in dialogues)
        for scores, failed in zip(attempts, failures, strict=True)
    )
    summary_detail = "faithful" if is_faithful else "; ".join(next(filter(None, failures), ["not tried"]))
    return QualificationResult(
        model=model,
        facts=facts[1],
        may_write_facts=facts[0],
        may_write_summaries=is_faithful,
        checked=now(),
        detail=f"{facts[2]}; summaries: {summary_detail}.",
    )


def _judge_fact_scores(
    scores: Mapping[str, QualificationScore], snippets: Sequence[QualificationSnippet]
) -> tuple[bool, float, str]:
    """Return whether the model may write facts, its precision, and the measured values in words."""
    scores_by_text = [scores[snippet.name] for snippet in snippets if snippet.name in scores]
    right, wrong = sum(score.right for score in scores_by_text), sum(score.wrong for score in scores_by_text)
    precision = right / (right + wrong) if right + wrong else 0.0
    total = sum(len(snippet.facts) for snippet in snippets)
    has_enough_recall = sum(score.found for score in scores_by_text) >= MIN_FACT_RECALL * total
    tried = f"{len(scores_by_text)} of {len(snippets)} texts"
    is_qualified = len(scores_by_text) == len(snippets) and precision >= MIN_PRECISION and has_enough_recall
    return is_qualified, precision, f"{right} of {right + wrong} facts were right, {total} were there to be found ({tried})"


def _read(path: Path, kind: type[list[T]]) -> list[T]:
    try:
        return TypeAdapter(kind).validate_python(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise FileError(path, f"it cannot be read: {error}") from error
