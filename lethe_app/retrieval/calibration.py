"""Calibration of distance thresholds to the loaded embedding model, fitted on labelled pairs of texts."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, Field

from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.contradictions import compare_sentences
from lethe_app.storage.files.json_files import read_model

BATCH = 16
"""Texts embedded per call; a calibration can be cancelled between two batches."""
MAX_IDENTITY_DISTANCE = 0.02
"""Cosine distance below which only repetitions lie, whatever the embedder."""
DUPLICATE_PRECISION = 0.95
"""Target precision of `same_words`."""
REPLACEMENT_PRECISION = 0.90
"""Target precision of `same_memory`: share of pairs below it that are duplicates or updates."""
MIN_PRECISION = 0.75
"""Minimum precision of the best available threshold where the target precision is not reached."""
Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FARTHEST = 2.0
"""Cosine distance of opposite unit vectors."""
MIN_STANDARD_ERRORS = 3.0
"""Standard errors by which positive pairs must be nearer than negative ones for the difference to count as real."""
MIN_POSITIVES, MIN_POSITIVE_SHARE = 5, 0.05
"""Minimum number of positive pairs, and minimum share of all positive pairs, that a threshold must let through."""
MARGIN = 1e-6
"""Margin by which a threshold exceeds the farthest pair that it lets through."""


@dataclass(frozen=True)
class DistanceSample:
    """Distances of pairs, ascending, with labels and weights. A pair with infinite distance passes no threshold."""

    distances: Numbers
    positive: Mask
    weight: Numbers

    @classmethod
    def from_distances(
        cls, distances: Sequence[float] | Numbers, positive: Sequence[bool] | Mask, kinds: Sequence[str]
    ) -> DistanceSample:
        """Create a sample in which every kind has a total weight of 1, however many pairs it has."""
        count = {kind: kinds.count(kind) for kind in set(kinds)}
        weight = np.array([1 / count[kind] for kind in kinds], np.float64)
        clipped = np.clip(np.nan_to_num(np.asarray(distances, np.float64), nan=np.inf, posinf=np.inf), 0, np.inf)
        order = np.argsort(clipped, kind="stable")
        return cls(clipped[order], np.asarray(positive, bool)[order], weight[order])

    def candidate_thresholds(self) -> tuple[Numbers, Numbers, Numbers, Mask]:
        """Return all candidate thresholds, ascending, halfway between neighbouring distances, with three arrays for each.

        The arrays are the positive weight below it, the total weight below it, and whether enough positive pairs are below it.
        """
        if not len(self.distances):
            return np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, bool)
        after = np.append(self.distances[1:], np.inf)
        is_cut = np.isfinite(self.distances) & (self.distances < after)
        limits = np.where(np.isfinite(after), (self.distances + after) / 2, self.distances + MARGIN)
        number = np.cumsum(self.positive)
        has_enough = number >= max(MIN_POSITIVES, MIN_POSITIVE_SHARE * number[-1])
        positive_weight = np.cumsum(self.weight * self.positive)
        return limits[is_cut], positive_weight[is_cut], np.cumsum(self.weight)[is_cut], has_enough[is_cut]

    def is_separable(self) -> bool:
        """Return whether the positive pairs are significantly nearer, by the rank-sum test of Mann and Whitney (1947), with
        ties counted half.
        """
        positive, others = self.distances[self.positive], self.distances[~self.positive]
        if not len(positive) or not len(others):
            return False
        below = np.searchsorted(others, positive, "left")
        not_above = np.searchsorted(others, positive, "right")
        nearer = 1 - float((below + not_above).mean()) / 2 / len(others)
        error = float(np.sqrt((len(positive) + len(others) + 1) / (12 * len(positive) * len(others))))
        return nearer - 0.5 >= MIN_STANDARD_ERRORS * error

    def find_threshold(self, target: float, min_precision: float) -> float | None:
        """Return the largest threshold with a precision of at least `target`.

        If none reaches it, return the most precise one, or None if its precision is below `min_precision`.
        """
        limits, positive_weight, total_weight, has_enough = self.candidate_thresholds()
        if not has_enough.any():
            return None
        precision = np.where(has_enough, positive_weight / total_weight, 0)
        reached = min(target, float(precision.max()))
        if reached < min_precision:
            return None
        return float(limits[np.flatnonzero(precision >= reached)[-1]])

    def find_separating_threshold(self) -> float | None:
        """Return the threshold that maximises positive minus negative weight below it, where both are equally dense; None if
        none gains.
        """
        limits, positive_weight, total_weight, has_enough = self.candidate_thresholds()
        if not has_enough.any():
            return None
        gain = np.where(has_enough, 2 * positive_weight - total_weight, -np.inf)
        return float(limits[int(gain.argmax())]) if gain.max() > 0 else None


class PairKind(StrEnum):
    """Relation of the second text of a pair to the first."""

    DUPLICATE = "duplicate"
    """The same fact in other words."""
    UPDATE = "update"
    """The same matter, changed or corrected later."""
    RELATED = "related"
    """The same topic or person, another fact."""
    UNRELATED = "unrelated"
    QUESTION = "question"
    """A message and the fact or memory that it should recall."""
    QUESTION_OTHER = "question_other"
    """A message and a memory of the same topic that it should not recall."""
    QUESTION_STRANGER = "question_stranger"
    """A message and a memory of another topic."""


FACT_KINDS = (PairKind.DUPLICATE, PairKind.UPDATE, PairKind.RELATED, PairKind.UNRELATED)
MESSAGE_KINDS = (PairKind.QUESTION, PairKind.QUESTION_OTHER, PairKind.QUESTION_STRANGER)


class CalibrationPair(BaseModel, extra="forbid", frozen=True):
    """Two texts with their known relation."""

    kind: PairKind
    topic: str = Field(min_length=1)
    first: str = Field(min_length=1)
    second: str = Field(min_length=1)


class CalibrationPairs(BaseModel, extra="forbid"):
    """Contents of `resources/calibration/pairs.json`."""

    about: str = ""
    pairs: list[CalibrationPair] = Field(min_length=1)


class Thresholds(BaseModel, frozen=True):
    """Cosine distances (1 - dot, 0 to 2) below which a pair passes. They hold for one embedder only. Further values that
    another version stored are ignored.

    They apply to plain texts as `vectors.distances` compares them, without the date that stored texts are embedded with: two
    dates alone would keep two versions of one fact apart.
    """

    same_words: float = Field(ge=0, le=FARTHEST)
    """The same fact, if the words do not contradict it (`contradictions.SentenceContrast.is_agreeing`)."""
    same_memory: float = Field(ge=0, le=FARTHEST)
    """A memory that replaces another one."""
    update: float = Field(ge=0, le=FARTHEST)
    """The same or a changed fact: near enough for a closer look."""
    natural: float = Field(ge=0, le=FARTHEST)
    """A memory that the persona may mention by itself, and for which this message is the occasion."""
    rag_limit: float = Field(ge=0, le=FARTHEST)
    """A memory that may compete for the few recall slots of a message."""
    embedder: str


ORIGINAL = Thresholds(
    same_words=0.05, same_memory=0.07, update=0.075, natural=0.09, rag_limit=0.10, embedder="gte-large",
)  # fmt: skip
"""Thresholds of the program that Lethe follows, used until an embedder is calibrated. They fit gte-large, whose distances
are all small; the starter embedder puts nearly every question farther than any of them.
"""


THRESHOLD_TARGETS = {"rag_limit": (0.80, 0.02), "natural": (0.95, 0.005)}
"""Requirements on a threshold between messages and memories: the minimum precision among memories of one topic, half of which
are meant, and the maximum share of memories of other topics that pass. Those on `natural` are stricter, because such a memory
is mentioned unasked; candidates below `rag_limit` are still ranked.
"""


def load_pairs(path: Path) -> list[CalibrationPair]:
    """Read the pairs of a file. Raise FileError naming the file and the field at fault."""
    return read_model(path, CalibrationPairs).pairs


def fit_thresholds(pairs: Sequence[CalibrationPair], distances: Sequence[float], embedder: str = "") -> Thresholds:
    """Fit the thresholds to the distances that an embedder gives the pairs. Every kind weighs alike, however many pairs it
    has.

    - `same_words`: the largest threshold with a precision of at least `DUPLICATE_PRECISION` for duplicates among pairs whose
    words do not contradict it; else the most precise one, unless its precision is below `MIN_PRECISION`.
    - `update`: the threshold that best separates duplicates and updates from related and unrelated pairs: just below it a
      pair is still more likely one of the former.
    - `same_memory`: the largest threshold with a precision of at least `REPLACEMENT_PRECISION` for duplicates and updates, but
    never above `same_words`: the replaced memory is lost, and in a real memory far more near neighbours are merely related than
    among the pairs.
    - `rag_limit`, `natural`: the largest threshold that meets `THRESHOLD_TARGETS`.

    same_memory ≤ same_words ≤ update; natural ≤ rag_limit.

    If the positive pairs are not nearer by `MIN_STANDARD_ERRORS` standard errors (an uninformative
    embedder, or too few pairs), a threshold falls back to near identity: `MAX_IDENTITY_DISTANCE`, or half the distance of the
    nearest pair that is no duplicate, whichever is smaller.

    Raise ValueError if the numbers of pairs and distances differ. A distance that is not finite counts as the farthest.
    """
    if len(pairs) != len(distances):
        raise ValueError(f"{len(pairs)} pairs, but {len(distances)} distances")
    distances = [min(max(distance, 0.0), FARTHEST) if math.isfinite(distance) else FARTHEST for distance in distances]
    identity_limit = identity_distance(pairs, distances)
    fitted = fit_facts(pairs, distances) | fit_messages(pairs, distances)
    limits = {name: min(limit, FARTHEST) if limit is not None else identity_limit for name, limit in fitted.items()}
    # The thresholds were fitted independently; the order that callers rely on is restored here.
    limits["same_words"] = min(limits["same_words"], limits["update"])
    limits["same_memory"] = min(limits["same_memory"], limits["same_words"])
    limits["natural"] = min(limits["natural"], limits["rag_limit"])
    return Thresholds(**limits, embedder=embedder)


FittedThresholds = dict[str, float | None]
"""Name of a threshold → its value, or None if there is none."""


def identity_distance(pairs: Sequence[CalibrationPair], distances: Sequence[float]) -> float:
    """Return the distance below which only repetitions lie; 0, so that nothing passes, for an embedder that sees no
    difference at all.
    """
    others = [
        distance
        for pair, distance in zip(pairs, distances, strict=True)
        if pair.kind in FACT_KINDS and pair.kind is not PairKind.DUPLICATE
    ]
    return min(MAX_IDENTITY_DISTANCE, max(0.0, min(others, default=FARTHEST) / 2))


def fit_facts(pairs: Sequence[CalibrationPair], distances: Sequence[float]) -> FittedThresholds:
    """Fit the thresholds between facts."""
    rows = [(pair, distance) for pair, distance in zip(pairs, distances, strict=True) if pair.kind in FACT_KINDS]
    agreeing = [compare_sentences(pair.first, pair.second).is_agreeing for pair, _distance in rows]
    kinds, all_distances = [pair.kind for pair, _distance in rows], [distance for _pair, distance in rows]
    duplicates = DistanceSample.from_distances(all_distances, [kind is PairKind.DUPLICATE for kind in kinds], kinds)
    # Pairs whose words disagree are never called duplicates, so they must not tighten this threshold either.
    agreeing_distances = [distance if agrees else np.inf for distance, agrees in zip(all_distances, agreeing, strict=True)]
    same_words = DistanceSample.from_distances(agreeing_distances, [kind is PairKind.DUPLICATE for kind in kinds], kinds)
    duplicates_and_updates = DistanceSample.from_distances(
        all_distances, [kind in {PairKind.DUPLICATE, PairKind.UPDATE} for kind in kinds], kinds
    )
    thresholds: FittedThresholds = dict.fromkeys(("same_words", "same_memory", "update"))
    if duplicates.is_separable():
        thresholds["same_words"] = same_words.find_threshold(DUPLICATE_PRECISION, MIN_PRECISION)
    if duplicates_and_updates.is_separable():
        thresholds["same_memory"] = duplicates_and_updates.find_threshold(REPLACEMENT_PRECISION, MIN_PRECISION)
        thresholds["update"] = duplicates_and_updates.find_separating_threshold()
    return thresholds


def fit_messages(pairs: Sequence[CalibrationPair], distances: Sequence[float]) -> FittedThresholds:
    """Fit the thresholds between messages and memories. Without pairs of other topics, only precision is required."""
    rows = [(pair.kind, distance) for pair, distance in zip(pairs, distances, strict=True) if pair.kind in MESSAGE_KINDS]
    unrelated = np.sort(np.array([distance for kind, distance in rows if kind is PairKind.QUESTION_STRANGER], np.float64))
    near = [(kind, distance) for kind, distance in rows if kind is not PairKind.QUESTION_STRANGER]
    kinds = [kind for kind, _distance in near]
    sample = DistanceSample.from_distances(
        [distance for _kind, distance in near], [kind is PairKind.QUESTION for kind in kinds], kinds
    )
    fitted: FittedThresholds = {}
    for name, (min_precision, max_unrelated_share) in THRESHOLD_TARGETS.items():
        limit = sample.find_threshold(min_precision, min_precision) if sample.is_separable() else None
        if limit is not None and len(unrelated):
            # The quantile of the unrelated pairs' distances is the largest threshold with the allowed share of them below it.
            limit = min(limit, float(unrelated[int(max_unrelated_share * len(unrelated))]))
        fitted[name] = limit
    return fitted


def add_unrelated_pairs(pairs: Sequence[CalibrationPair]) -> list[CalibrationPair]:
    """Return the pairs plus every message paired with the memories of all other topics, as QUESTION_STRANGER."""
    messages = list({pair.first: pair for pair in pairs if pair.kind is PairKind.QUESTION}.values())
    memories = list({pair.second: pair for pair in pairs if pair.kind is PairKind.QUESTION}.values())
    return [*pairs] + [
        CalibrationPair(kind=PairKind.QUESTION_STRANGER, topic=message.topic, first=message.first, second=memory.second)
        for message in messages
        for memory in memories
        if memory.topic != message.topic
    ]


async def calibrate(
    embed: Callable[[Sequence[str]], Awaitable[list[TextEmbedding]]],
    embedder: str,
    pairs: Sequence[CalibrationPair],
    progress: Callable[[float], None] = lambda _fraction: None,
) -> Thresholds:
    """Embed the pairs (about a thousand short texts) and fit the thresholds. `progress` gets a fraction after every batch.

    Cancellation between two batches has no side effect. Errors of `embed` propagate.
    """
    all_pairs = add_unrelated_pairs(pairs)
    return fit_thresholds(all_pairs, await measure_distances(embed, all_pairs, progress), embedder)


async def measure_distances(
    embed: Callable[[Sequence[str]], Awaitable[list[TextEmbedding]]],
    pairs: Sequence[CalibrationPair],
    progress: Callable[[float], None] = lambda _fraction: None,
) -> list[float]:
    """Return the cosine distance of each pair of texts; every distinct text is embedded once."""
    if not pairs:
        return []
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))
    vectors: list[bytes] = []
    for start in range(0, len(texts), BATCH):
        vectors += [embedding.vector for embedding in await embed(texts[start : start + BATCH])]
        progress(len(vectors) / len(texts))
    rows = np.frombuffer(b"".join(vectors), np.float32).reshape(len(texts), -1)
    row_by_text = {text: number for number, text in enumerate(texts)}
    first, second = rows[[row_by_text[pair.first] for pair in pairs]], rows[[row_by_text[pair.second] for pair in pairs]]
    distances: list[float] = (1 - np.einsum("ij,ij->i", first, second)).tolist()
    return distances
