"""Fact extraction by a language model; a fact is kept only if the conversation supports it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

from lethe_app.brain.fact_guard.checks import check_claim
from lethe_app.brain.fact_guard.claims import Claim, SupportLevel, find_name_index
from lethe_app.brain.fact_guard.quotations import Quotation
from lethe_app.brain.languages.detection import guess_language
from lethe_app.brain.llm_schemas.archive import (
    ConfirmationAnswer,
    FactRelationAnswer,
    FactsAnswer,
    StatedFact,
    is_self_contained,
)
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.reading.dialogue_acts import read_parts
from lethe_app.brain.reading.pieces import MessageParts
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.dates import resolve
from lethe_app.domain.facts import ExtractedFact, FactKind
from lethe_app.prompt.task_prompts import TaskKind
from lethe_app.services.extraction.structured_output import AnswerUnusable, StructuredOutput

LINES_PER_PORTION = 12
"""Lines per portion; in longer ones models miss facts in the middle."""
OVERLAP = 2
"""Lines of the previous portion that are repeated, so that an answer is read together with its question."""
LINES_BEFORE = 2
"""Lines shown before the one that a model is asked to confirm."""
MAX_KNOWN_FACTS = 5
MAX_KNOWN_TOKENS = 200
"""Token budget of the known facts that are shown."""
NOTHING = "(nothing)"
_DATED = frozenset({FactKind.EVENT, FactKind.PLAN})


@dataclass(frozen=True)
class SupportedFact:
    """Fact in the model's wording that its source message supports."""

    fact: str
    """Text with relative dates resolved."""
    source: Utterance
    kind: FactKind
    in_story: bool
    changes: ExtractedFact | None = None
    """Known fact that it replaces according to the model."""


@dataclass(frozen=True)
class LlmFactExtraction:
    """Extract facts with a language model. Every method raises ModelError and may be cancelled at any time."""

    structured_output: StructuredOutput

    async def facts(
        self, lines: Sequence[Utterance], about: Collection[str], known: Sequence[ExtractedFact] = ()
    ) -> list[SupportedFact]:
        """Return the new or changed lasting facts about these speakers; `known` are the facts that hold now."""
        parts = dict(zip((line.id for line in lines), read_parts(lines), strict=True))
        names = " and ".join(sorted(about))
        found: list[SupportedFact] = []
        sizes = (LINES_PER_PORTION, MAX_KNOWN_TOKENS, OVERLAP)
        for portion in await self.structured_output.split_to_fit(
            TaskKind.FACTS, FactsAnswer, lines, *sizes, about=names, known=""
        ):
            shown = select_related_facts(portion, known)
            found_here = [fact.fact for fact in found if fact.source in portion]
            texts = await self._select_fitting([*(fact.fact for fact in shown), *found_here], MAX_KNOWN_TOKENS)
            answer = await self.structured_output.ask(
                TaskKind.FACTS,
                FactsAnswer,
                conversation=_format_portion(portion),
                about=names,
                known="\n".join(texts) or NOTHING,
            )
            portion_parts = [parts[line.id] for line in portion]
            for stated in answer.facts:
                supported, support = _read(stated, portion, portion_parts, shown)
                if supported is None or is_repeated(supported, found) or not _is_about(supported, about, lines):
                    continue
                if support is SupportLevel.FULL or await self._confirms(stated.fact, portion, portion.index(supported.source)):
                    found.append(supported)
        return found

    async def compare_facts(self, old: str, new: str) -> str:
        """Return the relation of a new fact to a similar old one: “same”, “update”, “contradiction” or “new”."""
        return (await self.structured_output.ask(TaskKind.SETTLE, FactRelationAnswer, old=old, new=new)).verdict

    async def supports(self, claim: Claim, lines: Sequence[Utterance], parts: Sequence[MessageParts]) -> Quotation | None:
        """Return where the conversation supports the claim, asking the model if rules cannot decide; None if nowhere."""
        checked = check_claim(claim, lines, parts)
        if checked.quotation is None or checked.support is SupportLevel.NONE:
            return None
        if checked.support is SupportLevel.FULL or await self._confirms(claim.fact, lines, checked.quotation.message_index):
            return checked.quotation
        return None

    async def _confirms(self, fact: str, lines: Sequence[Utterance], index: int) -> bool:
        first = max(0, index - LINES_BEFORE)
        try:
            answer = await self.structured_output.ask(
                TaskKind.CONFIRM,
                ConfirmationAnswer,
                conversation=_format_portion(lines[first : index + 1]),
                line=str(index + 1 - first),
                fact=fact,
            )
        except AnswerUnusable:
            return False
        return answer.is_said

    async def _select_fitting(self, texts: Sequence[str], tokens: int) -> list[str]:
        """Return the first texts, numbered, as many as fit into `tokens`."""
        numbered = [f"{number}. {text}" for number, text in enumerate(texts, 1)]
        sizes = accumulate(count + 1 for count in await self.structured_output.count(numbered))
        return [text for text, size in zip(numbered, sizes, strict=True) if size <= tokens]


def _read(
    stated_fact: StatedFact, lines: Sequence[Utterance], parts: Sequence[MessageParts], known: Sequence[ExtractedFact]
) -> tuple[SupportedFact | None, SupportLevel]:
    """Return a stated fact as it would be stored, and how far its message supports it."""
    checked = check_claim(Claim(stated_fact.line - 1, stated_fact.quote, stated_fact.fact, stated_fact.about), lines, parts)
    is_english = guess_language(stated_fact.fact) in {"en", ""}
    if (
        checked.quotation is None
        or checked.support is SupportLevel.NONE
        or (is_english and not is_self_contained(stated_fact.fact))
    ):
        return None, SupportLevel.NONE
    source = lines[checked.quotation.message_index]
    fact = resolve_fact_dates(stated_fact.fact, source.time.date(), stated_fact.kind)
    if resolve.RELATIVE_TIME.search(fact):
        return None, SupportLevel.NONE  # it would say something else tomorrow
    changed = known[stated_fact.changes - 1] if 0 < stated_fact.changes <= len(known) else None
    return SupportedFact(fact, source, stated_fact.kind, checked.quotation.in_story, changed), checked.support


def _format_portion(lines: Sequence[Utterance]) -> str:
    return format_lines(lines, numbered=True, dated=True)


def resolve_fact_dates(fact: str, day: date, kind: FactKind) -> str:
    """Return a fact with its relative dates spelled out as seen from `day`."""
    return resolve.resolve_dates(fact, day, event=kind in _DATED)


def select_related_facts(
    lines: Sequence[Utterance], known: Sequence[ExtractedFact], limit: int = MAX_KNOWN_FACTS
) -> list[ExtractedFact]:
    """Return the known facts that share most words with the lines, rare words weighted higher; none that shares no word."""
    words = [content_words(fact.fact) for fact in known]
    line_words = frozenset().union(*(content_words(line.text) for line in lines))
    document_frequency = {word: sum(word in fact_words for fact_words in words) for word in line_words}
    scored = [
        (sum(1 / document_frequency[word] for word in fact_words & line_words), fact)
        for fact_words, fact in zip(words, known, strict=True)
    ]
    ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: (-pair[0], -pair[1].last_seen.timestamp()))
    return [fact for _score, fact in ranked[:limit]]


def is_repeated(fact: SupportedFact, others: Sequence[SupportedFact]) -> bool:
    """Return whether a fact of the same message with at least three quarters of its words is among the others."""
    words = content_words(fact.fact)
    for other in others:
        other_words = content_words(other.fact)
        if other.source.id == fact.source.id and 4 * len(words & other_words) >= 3 * min(len(words), len(other_words)):
            return True
    return False


def _is_about(fact: SupportedFact, about: Collection[str], lines: Sequence[Utterance]) -> bool:
    """Return whether the fact names one of the requested speakers, or names no speaker and was said by one of them."""
    named_speakers = {line.name for line in lines if line.name and find_name_index(line.name, fact.fact) >= 0}
    return not named_speakers.isdisjoint(about) if named_speakers else fact.source.name in about
