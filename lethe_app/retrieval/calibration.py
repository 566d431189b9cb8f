"""Finds out, for the embedding model that is loaded, how near two texts must be to be the same, changed or meant."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import numpy as np
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.domain.clock import now
from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.calibration_threshold import FARTHEST, DistanceSample
from lethe_app.retrieval.contradictions import contrast
from lethe_app.storage.files.json_files import read_model

BATCH = 16
"""Texts embedded at once; the pause between two batches is where a calibration can be cancelled."""
NEAR_IDENTITY = 0.02
"""Below it lies nothing but a repetition, whatever the embedder."""
PRECISE = 0.95
"""Of what is called a duplicate, this much is to be one."""
SAFE = 0.90
"""Of memories that replace each other, this much is to be a duplicate or an update."""
WORTHLESS = 0.75
"""Where no limit reaches these, the best one counts, but not if it is right less often than this."""


class PairKind(StrEnum):
    """What the second text of a pair is to the first."""

    DUPLICATE = "duplicate"
    """The same fact in other words."""
    UPDATE = "update"
    """The same matter, changed or corrected later."""
    RELATED = "related"
    """The same topic or person, another fact."""
    UNRELATED = "unrelated"
    QUESTION = "question"
    """First a message, second the fact or memory that it should bring up."""
    QUESTION_OTHER = "question_other"
    """First a message, second one of the same topic that it should not."""
    QUESTION_STRANGER = "question_stranger"
    """First a message, second a memory of another topic."""


FACTS = (PairKind.DUPLICATE, PairKind.UPDATE, PairKind.RELATED, PairKind.UNRELATED)
MESSAGES = (PairKind.QUESTION, PairKind.QUESTION_OTHER, PairKind.QUESTION_STRANGER)


class Pair(BaseModel):
    """Two texts of which it is known what they are to each other."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: PairKind
    topic: str = Field(min_length=1)
    first: str = Field(min_length=1)
    second: str = Field(min_length=1)


class PairFile(BaseModel):
    """`resources/calibration/pairs.json`."""

    model_config = ConfigDict(extra="forbid")

    about: str = ""
    pairs: list[Pair] = Field(min_length=1)


class Thresholds(BaseModel):
    """Cosine distances (1 − dot, 0 to 2); what lies below one passes it. They hold for one embedder only.

    They are for the plain texts as `nearness` compares them, without the day that is embedded with what is stored: two days
    alone would keep two tellings of one fact apart.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    duplicate: float = Field(ge=0, le=FARTHEST)
    """The same fact, by distance alone."""
    same_words: float = Field(ge=0, le=FARTHEST)
    """The same fact where the words do not speak against it (`contrast.Contrast.agrees`)."""
    same_memory: float = Field(ge=0, le=FARTHEST)
    """A memory that replaces another one."""
    update: float = Field(ge=0, le=FARTHEST)
    """The same or a changed fact: near enough to be worth a closer look."""
    natural: float = Field(ge=0, le=FARTHEST)
    """A memory that wants to be told, and whose moment this message is."""
    rag_limit: float = Field(ge=0, le=FARTHEST)
    """A memory that may compete for a message's few slots."""
    embedder: str
    fitted: AwareDatetime
    quality: dict[str, float] = Field(default_factory=dict)
    """Precision and recall of each limit on the pairs it was fitted on (each kind counted alike), so rather too good."""


ORIGINAL = Thresholds(
    duplicate=0.05, same_words=0.05, same_memory=0.07, update=0.075, natural=0.09, rag_limit=0.10,
    embedder="gte-large", fitted=datetime(2024, 1, 1, tzinfo=UTC),
)  # fmt: skip
"""The limits of the program that Lethe follows. They fit gte-large, whose distances are all small; the starter embedder puts
nearly every question farther than any of them. The day means nothing."""


@dataclass(frozen=True)
class Aim:
    """What a limit between messages and memories must keep to."""

    precision: float
    """Among memories of one topic, half of them meant, at least this much of what passes is meant."""
    strangers: float
    """At most this much of the memories of other topics passes."""


AIMS = {
    "rag_limit": Aim(precision=0.80, strangers=0.02),
    "natural": Aim(precision=0.95, strangers=0.005),
}
"""What competes for slots is ranked afterwards, and a natural memory is told unasked."""


def load_pairs(path: Path) -> list[Pair]:
    """The pairs in a file; raises FileError with the file and the field at fault."""
    return read_model(path, PairFile).pairs


def fit(pairs: Sequence[Pair], distances: Sequence[float], embedder: str = "") -> Thresholds:
    """Limits that follow from how far apart an embedder puts the pairs; every kind weighs alike, however many pairs it has.

    - `duplicate`: the widest limit below which at least `PRECISE` are duplicates; else the one with the most, unless that is
      below `WORTHLESS`. `same_words`: the same among pairs whose words do not speak against it.
    - `update`: the limit that best parts duplicates and updates from related and unrelated ones: just below it a pair is
      still more likely one of the former.
    - `same_memory`: the widest limit below which at least `SAFE` are duplicates or updates, but never beyond `same_words`: what
      it replaces is gone, and in a real memory far more of what lies near is merely related than among the pairs.
    - `rag_limit`, `natural`: the widest limit that keeps to `AIMS`.

    duplicate ≤ same_memory ≤ same_words ≤ update; natural ≤ rag_limit.
    Where the wanted pairs do not lie nearer by `limits.SURE` standard errors (an embedder that tells nothing, or too few
    pairs), a limit falls back to near identity: `NEAR_IDENTITY`, or half the distance of the nearest pair that is no
    duplicate, whichever is smaller.

    Raises ValueError where there are not as many distances as pairs; one that is no number counts as the farthest.
    """
    if len(pairs) != len(distances):
        raise ValueError(f"{len(pairs)} pairs, but {len(distances)} distances")
    distances = [min(max(far, 0.0), FARTHEST) if math.isfinite(far) else FARTHEST for far in distances]
    near = near_identity(pairs, distances)
    facts = facts_fitted(pairs, distances)
    meant = messages_fitted(pairs, distances)
    limits = {name: min(limit, FARTHEST) if limit is not None else near for name, (limit, _sample) in (facts | meant).items()}
    widest = limits["update"]
    limits["duplicate"] = least = min(limits["duplicate"], widest)
    for name in ("same_words", "same_memory"):
        limits[name] = min(max(limits[name], least), widest)
    limits["same_memory"] = min(limits["same_memory"], limits["same_words"])
    limits["natural"] = min(limits["natural"], limits["rag_limit"])
    quality: dict[str, float] = {}
    for name, (_limit, sample) in (facts | meant).items():
        quality[f"{name} precision"], quality[f"{name} recall"] = sample.judge(limits[name])
    return Thresholds(**limits, embedder=embedder, fitted=now(), quality=quality)


Fitted = dict[str, tuple[float | None, DistanceSample]]
"""A limit, where there is one, and the pairs that it was drawn between."""


def near_identity(pairs: Sequence[Pair], distances: Sequence[float]) -> float:
    """Below it lie only repetitions; 0, and so nothing, for an embedder that sees no difference at all."""
    others = [
        far for pair, far in zip(pairs, distances, strict=True) if pair.kind in FACTS and pair.kind is not PairKind.DUPLICATE
    ]
    return min(NEAR_IDENTITY, max(0.0, min(others, default=FARTHEST) / 2))


def facts_fitted(pairs: Sequence[Pair], distances: Sequence[float]) -> Fitted:
    """The limits between facts."""
    rows = [(pair, far) for pair, far in zip(pairs, distances, strict=True) if pair.kind in FACTS]
    agreeing = [contrast(pair.first, pair.second).agrees for pair, _far in rows]
    kinds, far = [pair.kind for pair, _far in rows], [far for _pair, far in rows]
    same = DistanceSample.of(far, [kind is PairKind.DUPLICATE for kind in kinds], kinds)
    worded = [distance if agrees else np.inf for distance, agrees in zip(far, agreeing, strict=True)]
    same_words = DistanceSample.of(worded, [kind is PairKind.DUPLICATE for kind in kinds], kinds)
    matter = DistanceSample.of(far, [kind in {PairKind.DUPLICATE, PairKind.UPDATE} for kind in kinds], kinds)
    told, parted = same.is_parted(), matter.is_parted()
    return {
        "duplicate": (same.precise(PRECISE, WORTHLESS) if told else None, same),
        "same_words": (same_words.precise(PRECISE, WORTHLESS) if told else None, same_words),
        "same_memory": (matter.precise(SAFE, WORTHLESS) if parted else None, matter),
        "update": (matter.parting() if parted else None, matter),
    }


def messages_fitted(pairs: Sequence[Pair], distances: Sequence[float]) -> Fitted:
    """The limits between messages and memories; those of other topics are left out where there are none."""
    rows = [(pair.kind, far) for pair, far in zip(pairs, distances, strict=True) if pair.kind in MESSAGES]
    strangers = np.sort(np.array([far for kind, far in rows if kind is PairKind.QUESTION_STRANGER], np.float64))
    near = [(kind, far) for kind, far in rows if kind is not PairKind.QUESTION_STRANGER]
    kinds = [kind for kind, _far in near]
    sample = DistanceSample.of([far for _kind, far in near], [kind is PairKind.QUESTION for kind in kinds], kinds)
    found: Fitted = {}
    for name, aim in AIMS.items():
        limit = sample.precise(aim.precision, aim.precision) if sample.is_parted() else None
        if limit is not None and len(strangers):
            limit = min(limit, float(strangers[int(aim.strangers * len(strangers))]))
        found[name] = (limit, sample)
    return found


def with_strangers(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, and every message once more with the memories of all other topics, which it does not mean."""
    asked = list({pair.first: pair for pair in pairs if pair.kind is PairKind.QUESTION}.values())
    kept = list({pair.second: pair for pair in pairs if pair.kind is PairKind.QUESTION}.values())
    return [*pairs] + [
        Pair(kind=PairKind.QUESTION_STRANGER, topic=message.topic, first=message.first, second=memory.second)
        for message in asked
        for memory in kept
        if memory.topic != message.topic
    ]


async def calibrate(
    embed: Callable[[Sequence[str]], Awaitable[list[TextEmbedding]]],
    embedder: str,
    pairs: Sequence[Pair],
    progress: Callable[[float], None] = lambda _fraction: None,
) -> Thresholds:
    """Embed the pairs and fit the limits; about a thousand short texts. `progress` is told a fraction after every batch.

    Cancelling it between two batches leaves nothing behind. Errors of `embed` pass through.
    """
    every = with_strangers(pairs)
    return fit(every, await measure(embed, every, progress), embedder)


async def measure(
    embed: Callable[[Sequence[str]], Awaitable[list[TextEmbedding]]],
    pairs: Sequence[Pair],
    progress: Callable[[float], None] = lambda _fraction: None,
) -> list[float]:
    """The cosine distance of each pair of texts; every text is embedded once."""
    if not pairs:
        return []
    wanted = list(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))
    vectors: list[bytes] = []
    for start in range(0, len(wanted), BATCH):
        vectors += [meaning.vector for meaning in await embed(wanted[start : start + BATCH])]
        progress(len(vectors) / len(wanted))
    rows = np.frombuffer(b"".join(vectors), np.float32).reshape(len(wanted), -1)
    place = {text: number for number, text in enumerate(wanted)}
    first, second = rows[[place[pair.first] for pair in pairs]], rows[[place[pair.second] for pair in pairs]]
    distances: list[float] = (1 - np.einsum("ij,ij->i", first, second)).tolist()
    return distances
