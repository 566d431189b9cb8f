"""Fact extraction by a language model; a fact is kept only if the conversation supports it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

from lethe_app.brain.dates import resolve
from lethe_app.brain.dialogue.dialogue_acts import read_parts
from lethe_app.brain.dialogue.dialogue_pieces import MessageParts
from lethe_app.brain.fact_guard.claims import Claim, SupportLevel, find_name_index
from lethe_app.brain.fact_guard.guard import check_claim
from lethe_app.brain.fact_guard.languages import ENGLISH, detect_language
from lethe_app.brain.fact_guard.quotations import Quotation
from lethe_app.brain.llm_schemas.archive import (
    ConfirmationAnswer,
    FactRelationAnswer,
    FactsAnswer,
    StatedFact,
    is_self_contained,
)
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.facts import ExtractedFact, FactKind
from lethe_app.prompt.task_prompts import TaskKind
from lethe_app.services.extraction.structured_output import AnswerUnusable, StructuredOutput

LINES_AT_ONCE = 12
"""Lines per portion; in longer ones models miss facts in the middle."""
OVERLAP = 2
"""Lines of the previous portion that are repeated, so that an answer is read together with its question."""
LINES_BEFORE = 2
"""Lines shown before the one that a model is asked to confirm."""
KNOWN_SHOWN = 5
KNOWN_TOKENS = 200
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


class LlmFactExtraction:
    """Extract facts with a language model. Every method raises ModelError and may be cancelled at any time."""

    def __init__(self, structured_output: StructuredOutput) -> None:
        self._structured_output = structured_output

    async def facts(
        self, lines: Sequence[Utterance], about: Collection[str], known: Sequence[ExtractedFact] = ()
    ) -> list[SupportedFact]:
        """Return the new or changed lasting facts about these speakers; `known` are the facts that hold now."""
        parts = dict(zip((line.id for line in lines), read_parts(lines), strict=True))
        names = " and ".join(sorted(about))
        found: list[SupportedFact] = []
        sizes = (LINES_AT_ONCE, KNOWN_TOKENS, OVERLAP)
        for portion in await self._structured_output.split_to_fit(
            TaskKind.FACTS, FactsAnswer, lines, *sizes, about=names, known=""
        ):
            shown = nearest(portion, known)
            before = [each.fact for each in found if each.source in portion]
            texts = await self._fitting([*(each.fact for each in shown), *before], KNOWN_TOKENS)
            answer = await self._structured_output.ask(
                TaskKind.FACTS,
                FactsAnswer,
                conversation=_shown(portion),
                about=names,
                known="\n".join(texts) or NOTHING,
            )
            here = [parts[line.id] for line in portion]
            for stated in answer.facts:
                noted, support = _read(stated, portion, here, shown)
                if noted is None or is_repeated(noted, found) or not _is_about(noted, about, lines):
                    continue
                if support is SupportLevel.FULL or await self._confirms(stated.fact, portion, portion.index(noted.source)):
                    found.append(noted)
        return found

    async def compare_facts(self, old: str, new: str) -> str:
        """Return the relation of a new fact to a similar old one: `same`, `update`, `contradiction` or `new`."""
        return (await self._structured_output.ask(TaskKind.SETTLE, FactRelationAnswer, old=old, new=new)).verdict

    async def supports(self, claim: Claim, lines: Sequence[Utterance], parts: Sequence[MessageParts]) -> Quotation | None:
        """Return where the conversation supports the claim, asking the model if rules cannot decide; None if nowhere."""
        checked = check_claim(claim, lines, parts)
        if checked.quotation is None or checked.support is SupportLevel.NONE:
            return None
        if checked.support is SupportLevel.FULL or await self._confirms(claim.fact, lines, checked.quotation.message_index):
            return checked.quotation
        return None

    async def _confirms(self, fact: str, lines: Sequence[Utterance], place: int) -> bool:
        first = max(0, place - LINES_BEFORE)
        try:
            answer = await self._structured_output.ask(
                TaskKind.CONFIRM,
                ConfirmationAnswer,
                conversation=_shown(lines[first : place + 1]),
                line=str(place + 1 - first),
                fact=fact,
            )
        except AnswerUnusable:
            return False
        return answer.is_said

    async def _fitting(self, texts: Sequence[str], tokens: int) -> list[str]:
        """Return the first texts, numbered, as many as fit into `tokens`."""
        numbered = [f"{number}. {text}" for number, text in enumerate(texts, 1)]
        sizes = accumulate(count + 1 for count in await self._structured_output.count(numbered))
        return [text for text, size in zip(numbered, sizes, strict=True) if size <= tokens]


def _read(
    stated: StatedFact, lines: Sequence[Utterance], parts: Sequence[MessageParts], known: Sequence[ExtractedFact]
) -> tuple[SupportedFact | None, SupportLevel]:
    """Return a stated fact as it would be stored, and how far its message supports it."""
    checked = check_claim(Claim(stated.line - 1, stated.quote, stated.fact, stated.about), lines, parts)
    is_english = detect_language(stated.fact) in {ENGLISH, None}
    if checked.quotation is None or checked.support is SupportLevel.NONE or (is_english and not is_self_contained(stated.fact)):
        return None, SupportLevel.NONE
    source = lines[checked.quotation.message_index]
    fact = with_dates(stated.fact, source.time.date(), stated.kind)
    if resolve.RELATIVE_TIME.search(fact):
        return None, SupportLevel.NONE  # it would say something else tomorrow
    changed = known[stated.changes - 1] if 0 < stated.changes <= len(known) else None
    return SupportedFact(fact, source, stated.kind, checked.quotation.in_story, changed), checked.support


def _shown(lines: Sequence[Utterance]) -> str:
    return format_lines(lines, numbered=True, dated=True)


def with_dates(fact: str, day: date, kind: FactKind) -> str:
    """Return a fact with its relative dates spelled out as seen from `day`."""
    return resolve.resolve_dates(fact, day, event=kind in _DATED)


def nearest(lines: Sequence[Utterance], known: Sequence[ExtractedFact], most: int = KNOWN_SHOWN) -> list[ExtractedFact]:
    """Return the known facts that share most words with the lines, rare words weighted higher; none that shares no word."""
    words = [content_words(fact.fact) for fact in known]
    said = frozenset().union(*(content_words(line.text) for line in lines))
    spread = {word: sum(word in each for each in words) for word in said}
    scored = [(sum(1 / spread[word] for word in each & said), fact) for each, fact in zip(words, known, strict=True)]
    best = sorted((one for one in scored if one[0]), key=lambda one: (-one[0], -one[1].last_seen.timestamp()))
    return [fact for _score, fact in best[:most]]


def is_repeated(noted: SupportedFact, others: Sequence[SupportedFact]) -> bool:
    """Return whether a fact of the same message with at least three quarters of its words is among the others."""
    words = content_words(noted.fact)
    for other in others:
        theirs = content_words(other.fact)
        if other.source.id == noted.source.id and 4 * len(words & theirs) >= 3 * min(len(words), len(theirs)):
            return True
    return False


def _is_about(noted: SupportedFact, about: Collection[str], lines: Sequence[Utterance]) -> bool:
    """Return whether the fact names one of the requested speakers, or names no speaker and was said by one of them."""
    named = {line.name for line in lines if line.name and find_name_index(line.name, noted.fact) >= 0}
    return not named.isdisjoint(about) if named else noted.source.name in about
