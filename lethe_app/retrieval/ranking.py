"""Ranking of sources: order, decision which are recalled, and the reasons for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from uuid import UUID

import numpy as np

from lethe_app.retrieval.assertions import is_request, read_line
from lethe_app.retrieval.features import Flags, Floats, PassageFeatures, standard
from lethe_app.retrieval.query_terms import QueryTerms
from lethe_app.retrieval.relevance_gate import BY_MEANING, BY_WORDS, likelihood, telling
from lethe_app.retrieval.signals import WeighedSources
from lethe_app.retrieval.time_expressions import TimeReference
from lethe_app.retrieval.vectors.columns import LINES, Columns, Rows
from lethe_app.retrieval.vectors.top_k import highest_first

MOST_LINES = 50
"""Maximum number of messages returned for a query."""
LEADS = 3
"""Passages given as the reason for one source."""


@dataclass(frozen=True)
class PassageLead:
    """One passage that led to a source."""

    passage: int
    """Passage number."""
    words: tuple[str, ...]
    """Query words that occur in it, in any inflection."""
    cosine: float
    """Cosine of the whole texts; 0 if it was not measured."""
    nearness: float
    """Late-interaction score, 0 to 1."""


@dataclass(frozen=True)
class RankingReason:
    """One signal that raised a source above the others."""

    name: str
    value: float
    """Unscaled value of the signal."""
    part: float
    """Contribution to the score."""


@dataclass(frozen=True)
class RankedSource:
    """A session, memory or World Info entry found for a query."""

    source: UUID
    score: float
    """Comparable only within one query."""
    likelihood: float
    """Estimated probability that the source is meant, 0 to 1."""
    is_sure: bool
    """True if it passed the relevance gate and may be recalled unasked."""
    leads: tuple[PassageLead, ...]
    """Passages that led to it, best first."""
    reasons: tuple[RankingReason, ...]
    """Signals that raised its score, strongest first."""
    time_words: str = ""
    """Words of the query that name its time."""


@dataclass(frozen=True)
class RankedSources:
    """Result of a search, best first."""

    hits: tuple[RankedSource, ...] = ()
    lines: tuple[int, ...] = ()
    """Numbers of the messages that match best, best first."""
    by_meaning: bool = False
    """True if embeddings were compared. Without an embedder, or before its vectors exist, only words are searched."""

    def with_others(self, others: Sequence[RankedSources], limit: int) -> RankedSources:
        """Return this result merged with those of other parts of the same message: its sure hits, then their sure hits, then
        its others.
        """
        sure = sorted((hit for found in others for hit in found.hits if hit.is_sure), key=lambda hit: -hit.likelihood)
        hits: dict[UUID, RankedSource] = {}
        for hit in (*(hit for hit in self.hits if hit.is_sure), *sure, *self.hits):
            hits.setdefault(hit.source, hit)
        return replace(self, hits=tuple(hits.values())[:limit])

    def brought_up(self, slots: int) -> tuple[RankedSource, ...]:
        """Return the hits to insert into the prompt: the sure ones among the first `slots`."""
        return tuple(hit for hit in self.hits[:slots] if hit.is_sure)


@dataclass(frozen=True)
class Weighing:
    """All evidence of one search."""

    question: QueryTerms
    moment: TimeReference
    columns: Columns
    evidence: PassageFeatures
    compared: Rows
    weighed: WeighedSources
    by_meaning: bool
    """True if there were vectors to compare the query with."""

    @cached_property
    def nearness(self) -> Floats:
        """Late-interaction score of every candidate passage; 0 if it was not compared."""
        late = np.zeros(len(self.evidence.rows), np.float32)
        late[self.compared] = self.weighed.late
        return late

    def found(self, limit: int) -> RankedSources:
        """Return the best sources and messages."""
        order = highest_first(self.weighed.score, limit)
        gate = BY_MEANING if self.by_meaning else BY_WORDS
        tells = telling(self.question.words, self.evidence.rarity_in_passages)
        likely = likelihood(self.weighed.values, len(tells), tells, self.evidence.stands, gate)
        if read_line(self.question.text).asks_of_itself:
            # A question about the user's own life is answered even where the gate is unsure, if a passage contains all its
            # distinctive words.
            likely = np.where(self._says_all(tells), np.maximum(likely, np.float32(gate.asking.first)), likely)
        sure = gate.passed(likely, asking=is_request(self.question.text))
        strength = self._strength()
        hits = tuple(self._hit(place, float(likely[place]), strength, is_sure=bool(sure[place])) for place in order.tolist())
        return RankedSources(hits, self._lines(strength), self.by_meaning)

    def _says_all(self, tells: Sequence[bool]) -> Flags:
        """Return a mask of the sources with a passage that contains every distinctive word of the query: “What do I do on
        Thursdays?”.
        """
        said = np.zeros(len(self.evidence.sources), bool)
        if any(tells):
            says = self.evidence.shares[np.asarray(tells, bool)].all(axis=0) & ~self.evidence.silent
            said[self.evidence.source[says]] = True
        return said

    def _hit(self, place: int, likely: float, strength: Floats, *, is_sure: bool) -> RankedSource:
        source = self.columns.sources[int(self.evidence.sources[place])]
        reasons = [
            RankingReason(name, float(self.weighed.values[name][place]), float(part[place]))
            for name, part in self.weighed.parts.items()
            if part[place] > 0
        ]
        members = np.flatnonzero(self.evidence.source == place)
        heard = members[~self.evidence.silent[members]]
        members = heard if len(heard) else members
        best = members[np.argsort(-strength[members], kind="stable")[:LEADS]]
        began = int(self.columns.day[self.evidence.rows[members]].min())
        return RankedSource(
            source=source,
            score=float(self.weighed.score[place]),
            likelihood=likely,
            is_sure=is_sure,
            leads=tuple(self._lead(int(member)) for member in best),
            reasons=tuple(sorted(reasons, key=lambda reason: -reason.part)),
            time_words=self.moment.fit(date.fromordinal(began))[1],
        )

    def _lead(self, place: int) -> PassageLead:
        return PassageLead(
            passage=int(self.columns.number[self.evidence.rows[place]]),
            words=tuple(word for word, there in zip(self.question.words, self.evidence.shares[:, place], strict=True) if there),
            cosine=float(self.evidence.cosine[place]),
            nearness=float(self.nearness[place]),
        )

    def _strength(self) -> Floats:
        """Return how well each passage by itself matches the query."""
        told = standard(self.nearness)
        strength: Floats = told + 0.2 * standard(self.evidence.bm25) + 0.2 * standard(self.evidence.cosine)
        return strength

    def _lines(self, strength: Floats) -> tuple[int, ...]:
        """Return the numbers of messages ranked by their own match and the score of their session."""
        lines = np.flatnonzero(self.evidence.group == LINES)
        score = standard(strength[lines]) + 0.5 * standard(self.weighed.score)[self.evidence.source[lines]]
        best = lines[highest_first(score, MOST_LINES)]
        return tuple(self.columns.number[self.evidence.rows[best]].tolist())
