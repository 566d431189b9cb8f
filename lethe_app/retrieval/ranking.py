"""Ranking of sources: order, decision which are recalled, and the reasons for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from uuid import UUID

import numpy as np

from lethe_app.retrieval.assertions import classify_line, is_request
from lethe_app.retrieval.features import Flags, Floats, PassageFeatures, standardise
from lethe_app.retrieval.query_terms import QueryTerms
from lethe_app.retrieval.relevance_gate import BY_MEANING, BY_WORDS, compute_likelihoods, find_distinctive
from lethe_app.retrieval.signals import ScoredSources
from lethe_app.retrieval.time_expressions import TimeReference
from lethe_app.retrieval.vectors.columns import LINES, ColumnSnapshot, Rows
from lethe_app.retrieval.vectors.top_k import highest_first

MAX_LINES = 50
"""Maximum number of messages returned for a query."""
MAX_LEADS = 3
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


@dataclass(frozen=True)
class RankingReason:
    """One signal that raised a source above the others."""

    name: str
    value: float
    """Unscaled value of the signal."""
    contribution: float
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

    def merge_parts(self, others: Sequence[RankedSources], limit: int) -> RankedSources:
        """Return this result merged with those of other parts of the same message: its sure hits, then their sure hits, then
        its others.
        """
        sure_hits = sorted((hit for found in others for hit in found.hits if hit.is_sure), key=lambda hit: -hit.likelihood)
        hits: dict[UUID, RankedSource] = {}
        for hit in (*(hit for hit in self.hits if hit.is_sure), *sure_hits, *self.hits):
            hits.setdefault(hit.source, hit)
        return replace(self, hits=tuple(hits.values())[:limit])


@dataclass(frozen=True)
class SearchEvidence:
    """All evidence of one search."""

    query: QueryTerms
    time_reference: TimeReference
    columns: ColumnSnapshot
    features: PassageFeatures
    compared: Rows
    scores: ScoredSources
    by_meaning: bool
    """True if there were vectors to compare the query with."""

    @cached_property
    def nearness(self) -> Floats:
        """Late-interaction score of every candidate passage; 0 if it was not compared."""
        nearness_by_passage = np.zeros(len(self.features.rows), np.float32)
        nearness_by_passage[self.compared] = self.scores.interaction
        return nearness_by_passage

    def rank_sources(self, limit: int) -> RankedSources:
        """Return the best sources and messages."""
        order = highest_first(self.scores.score, limit)
        gate = BY_MEANING if self.by_meaning else BY_WORDS
        is_distinctive = find_distinctive(self.query.words, self.features.rarity_in_passages)
        likelihoods = compute_likelihoods(
            self.scores.values, len(is_distinctive), is_distinctive, self.features.words_by_source, gate
        )
        if classify_line(self.query.text).is_about_speaker:
            # A question about the user's own life is answered even where the gate is unsure, if a passage contains all its
            # distinctive words.
            likelihoods = np.where(
                self._contains_all(is_distinctive), np.maximum(likelihoods, np.float32(gate.question_limits.first)), likelihoods
            )
        is_sure = gate.select_passed(likelihoods, is_question=is_request(self.query.text))
        strength = self._passage_strength()
        hits = tuple(
            self._build_hit(index, float(likelihoods[index]), strength, is_sure=bool(is_sure[index]))
            for index in order.tolist()
        )
        return RankedSources(hits, self._rank_lines(strength), self.by_meaning)

    def _contains_all(self, is_distinctive: Sequence[bool]) -> Flags:
        """Return a mask of the sources with a passage that contains every distinctive word of the query: “What do I do on
        Thursdays?”.
        """
        source_contains = np.zeros(len(self.features.sources), bool)
        if any(is_distinctive):
            passage_contains = self.features.shares[np.asarray(is_distinctive, bool)].all(axis=0) & ~self.features.suppressed
            source_contains[self.features.source[passage_contains]] = True
        return source_contains

    def _build_hit(self, position: int, likelihood: float, strength: Floats, *, is_sure: bool) -> RankedSource:
        source = self.columns.sources[int(self.features.sources[position])]
        reasons = [
            RankingReason(name, float(self.scores.values[name][position]), float(contribution[position]))
            for name, contribution in self.scores.contributions.items()
            if contribution[position] > 0
        ]
        members = np.flatnonzero(self.features.source == position)
        counted = members[~self.features.suppressed[members]]
        members = counted if len(counted) else members
        best = members[np.argsort(-strength[members], kind="stable")[:MAX_LEADS]]
        first_day = int(self.columns.day[self.features.rows[members]].min())
        return RankedSource(
            source=source,
            score=float(self.scores.score[position]),
            likelihood=likelihood,
            is_sure=is_sure,
            leads=tuple(self._build_lead(int(member)) for member in best),
            reasons=tuple(sorted(reasons, key=lambda reason: -reason.contribution)),
            time_words=self.time_reference.fit(date.fromordinal(first_day))[1],
        )

    def _build_lead(self, position: int) -> PassageLead:
        return PassageLead(
            passage=int(self.columns.number[self.features.rows[position]]),
            words=tuple(
                word for word, occurs in zip(self.query.words, self.features.shares[:, position], strict=True) if occurs
            ),
            cosine=float(self.features.cosine[position]),
        )

    def _passage_strength(self) -> Floats:
        """Return how well each passage by itself matches the query."""
        standardised = standardise(self.nearness)
        strength: Floats = standardised + 0.2 * standardise(self.features.bm25) + 0.2 * standardise(self.features.cosine)
        return strength

    def _rank_lines(self, strength: Floats) -> tuple[int, ...]:
        """Return the numbers of messages ranked by their own match and the score of their session."""
        lines = np.flatnonzero(self.features.group == LINES)
        # Half the score of its session lifts a line among equal ones, but no weak line above one that matches by itself.
        score = standardise(strength[lines]) + 0.5 * standardise(self.scores.score)[self.features.source[lines]]
        best = lines[highest_first(score, MAX_LINES)]
        return tuple(self.columns.number[self.features.rows[best]].tolist())
