"""Limits follow the embedder: they part what it parts, and where it parts nothing they let nothing through."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.domain.passage import PassageKind, TextEmbedding
from lethe_app.errors import FileError
from lethe_app.paths import shipped_root
from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.calibration import (
    BATCH,
    MAX_IDENTITY_DISTANCE,
    ORIGINAL,
    CalibrationPair,
    PairKind,
    Thresholds,
    add_unrelated_pairs,
    calibrate,
    fit_thresholds,
    load_pairs,
    measure_distances,
)
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.storage.index.passages import Passages
from tests.retrieval.conftest import embed

SHIPPED = shipped_root() / "resources" / "calibration" / "pairs.json"
MIDDLES = {
    PairKind.DUPLICATE: 0.05, PairKind.UPDATE: 0.15, PairKind.RELATED: 0.4, PairKind.UNRELATED: 0.8,
    PairKind.QUESTION: 0.3, PairKind.QUESTION_OTHER: 0.6, PairKind.QUESTION_STRANGER: 0.8,
}  # fmt: skip
"""Where a good embedder might put each kind."""


@pytest.fixture(scope="module")
def shipped() -> list[CalibrationPair]:
    return load_pairs(SHIPPED)


def made(number: int = 40) -> list[CalibrationPair]:
    """Pairs whose words agree, so that only distances matter."""
    return [
        CalibrationPair(
            kind=kind,
            topic="home",
            first=f"Mira likes old town {letter(place)}.",
            second=f"Mira likes the old town {letter(place)}.",
        )
        for kind in PairKind
        for place in range(number)
    ]


def letter(place: int) -> str:
    return chr(ord("a") + place % 26) * (1 + place // 26)


def spread(pairs: Sequence[CalibrationPair], width: float, scale: float = 1.0) -> list[float]:
    """Distances around the middle of each kind."""
    random = np.random.default_rng(7)
    return [scale * float(np.clip(MIDDLES[pair.kind] + random.uniform(-width, width), 0, 2)) for pair in pairs]


def fitted(limits: Thresholds) -> dict[str, float]:
    return {name: value for name, value in limits.model_dump().items() if isinstance(value, float)}


def test_the_shipped_pairs_are_many_and_balanced(shipped: list[CalibrationPair]):
    kinds = Counter(pair.kind for pair in shipped)
    topics = {pair.topic for pair in shipped}

    assert len(shipped) >= 360
    assert min(kinds[kind] for kind in PairKind if kind is not PairKind.QUESTION_STRANGER) >= 60
    assert len(topics) == 12
    assert all({pair.kind for pair in shipped if pair.topic == topic} == {*kinds} for topic in topics)


def test_no_shipped_pair_comes_twice_or_is_empty_talk(shipped: list[CalibrationPair]):
    texts = Counter((pair.first, pair.second) for pair in shipped)

    assert texts.most_common(1)[0][1] == 1
    assert all(pair.first != pair.second and len(pair.first) < 120 and len(pair.second) < 120 for pair in shipped)
    assert all(text.endswith((".", "!", "?")) for pair in shipped for text in (pair.first, pair.second))


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("{", ""),
        ('{"pairs": []}', "pairs"),
        ('{"pairs": [{"kind": "same", "topic": "home", "first": "a", "second": "b"}]}', "pairs[0].kind"),
        ('{"pairs": [{"kind": "update", "topic": "home", "first": "", "second": "b"}]}', "pairs[0].first"),
        ('{"pairs": [{"kind": "update", "topic": "home", "first": "a"}]}', "pairs[0].second"),
    ],
)
def test_a_broken_file_is_named_with_its_field(tmp_path: Path, content: str, field: str):
    path = tmp_path / "pairs.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(FileError) as caught:
        load_pairs(path)

    assert caught.value.path == path
    assert caught.value.field == field


def test_each_limit_lies_between_the_kinds_that_it_parts():
    limits = fit_thresholds(pairs := made(), spread(pairs, 0.04))

    assert 0.09 < limits.same_words < 0.15
    assert 0.19 < limits.update < 0.36
    assert 0.34 < limits.rag_limit < 0.80


def test_limits_grow_with_the_distances_of_the_embedder():
    pairs = made()

    near, far = fit_thresholds(pairs, spread(pairs, 0.04, scale=0.2)), fit_thresholds(pairs, spread(pairs, 0.04))

    assert far.update == pytest.approx(5 * near.update)


def test_a_limit_for_duplicates_is_drawn_by_words_where_distance_does_not_part_them():
    duplicates = [
        CalibrationPair(kind=PairKind.DUPLICATE, topic="t", first=f"Ana rows {letter(n)}.", second=f"{letter(n)} Ana rows.")
        for n in range(30)
    ]
    updates = [
        CalibrationPair(kind=PairKind.UPDATE, topic="t", first=f"Ana rows {n} miles.", second=f"Ana rows {n + 1} miles.")
        for n in range(30)
    ]
    related = [
        CalibrationPair(kind=PairKind.RELATED, topic="t", first=f"Ana rows {letter(n)}.", second="Ana owns a kite.")
        for n in range(30)
    ]
    far = [0.1] * 60 + [0.5] * 30

    limits = fit_thresholds([*duplicates, *updates, *related], far)

    assert 0.1 < limits.same_words <= limits.update < 0.5


@pytest.mark.parametrize("distance", [0.0, 0.001, 0.7, 2.0])
def test_an_embedder_that_sees_no_difference_lets_nothing_through(distance: float, shipped: list[CalibrationPair]):
    limits = fit_thresholds(shipped, [distance] * len(shipped))

    assert set(fitted(limits).values()) == {min(MAX_IDENTITY_DISTANCE, distance / 2)}


@pytest.mark.parametrize("distance", [float("nan"), float("inf")])
def test_a_broken_embedder_leaves_only_repetitions(distance: float, shipped: list[CalibrationPair]):
    assert set(fitted(fit_thresholds(shipped, [distance] * len(shipped))).values()) == {MAX_IDENTITY_DISTANCE}


@pytest.mark.parametrize("seed", range(20))
def test_an_embedder_of_pure_chance_is_not_believed(seed: int):
    pairs = made(12)

    limits = fit_thresholds(pairs, np.random.default_rng(seed).uniform(0.2, 1.2, len(pairs)).tolist())

    assert set(fitted(limits).values()) == {MAX_IDENTITY_DISTANCE}


def test_too_few_pairs_are_not_believed_however_clear():
    limits = fit_thresholds(pairs := made(3), spread(pairs, 0.01))

    assert set(fitted(limits).values()) == {max(fitted(limits).values())}
    assert limits.update <= MAX_IDENTITY_DISTANCE


def test_without_pairs_only_repetitions_pass():
    assert set(fitted(fit_thresholds([], [])).values()) == {MAX_IDENTITY_DISTANCE}


def test_rounding_below_zero_is_no_distance_below_zero():
    far = {PairKind.QUESTION: 0.0, PairKind.QUESTION_OTHER: 1.0, PairKind.QUESTION_STRANGER: -1e-8}

    limits = fit_thresholds(pairs := made(), [far.get(pair.kind, 0.5) for pair in pairs])

    assert limits.rag_limit == limits.natural == 0


def test_a_missing_distance_is_our_mistake():
    with pytest.raises(ValueError, match="2 distances"):
        fit_thresholds(made(1), [0.1, 0.2])


@given(st.data())
def test_limits_keep_their_order_whatever_the_embedder(data: st.DataObject):
    pairs = made(data.draw(st.integers(1, 12)))
    far = data.draw(st.lists(st.floats(-0.001, 2.001), min_size=len(pairs), max_size=len(pairs)))

    limits = fit_thresholds(pairs, far)

    assert 0 <= limits.same_memory <= limits.same_words <= limits.update <= 2
    assert limits.natural <= limits.rag_limit <= 2


def test_strangers_narrow_what_a_message_brings_up():
    pairs = [pair for pair in made() if pair.kind is not PairKind.QUESTION_STRANGER]
    strange = [
        CalibrationPair(kind=PairKind.QUESTION_STRANGER, topic="work", first="Who?", second=f"Otis {letter(n)}.")
        for n in range(200)
    ]
    far = spread(pairs, 0.04)

    limits = fit_thresholds([*pairs, *strange], far + [0.28] * 3 + [0.9] * 197)

    assert limits.rag_limit == fit_thresholds(pairs, far).rag_limit
    assert limits.natural == pytest.approx(0.28)


def test_every_message_meets_the_memories_of_other_topics(shipped: list[CalibrationPair]):
    pairs = add_unrelated_pairs(shipped)
    strange = [pair for pair in pairs if pair.kind is PairKind.QUESTION_STRANGER]
    topic_of = {pair.second: pair.topic for pair in shipped if pair.kind is PairKind.QUESTION}

    assert pairs[: len(shipped)] == shipped
    assert len(strange) > 3000
    assert all(topic_of[pair.second] != pair.topic for pair in strange)


@pytest.mark.parametrize("kind", [PassageKind.MEMORY, PassageKind.FACT])
async def test_limits_are_fitted_on_the_distances_that_they_are_used_on(passages: Passages, kind: PassageKind):
    recall, guid = MemoryIndex(passages, embed, "toy"), uuid4()
    asked = CalibrationPair(kind=PairKind.QUESTION, topic="home", first="Where do I live?", second="Mira lives in Porto.")
    await recall.replace(
        [], [passage_builder.make_passage(kind, "mira", guid, guid, asked.second, datetime(2026, 5, 8, tzinfo=UTC))]
    )
    await recall.embed_pending()

    used = await recall.distances(asked.first, [guid])

    assert await measure_distances(embed, [asked]) == [pytest.approx(used[guid])]


async def test_calibrating_embeds_in_small_batches_and_tells_how_far_it_is(shipped: list[CalibrationPair]):
    sizes: list[int] = []
    reported: list[float] = []

    async def counted(texts: Sequence[str]) -> list[TextEmbedding]:
        sizes.append(len(texts))
        return await embed(texts)

    limits = await calibrate(counted, "words", shipped, reported.append)

    assert max(sizes) == BATCH
    assert reported == sorted(reported)
    assert reported[-1] == 1
    assert limits.embedder == "words"
    assert limits.same_words < limits.update < 1
    assert Thresholds.model_validate_json(limits.model_dump_json()) == limits


async def test_calibrating_can_be_cancelled_between_batches(shipped: list[CalibrationPair]):
    begun = asyncio.Event()
    calls = 0

    async def slow(texts: Sequence[str]) -> list[TextEmbedding]:
        nonlocal calls
        calls += 1
        begun.set()
        await asyncio.sleep(0)
        return await embed(texts)

    task = asyncio.create_task(calibrate(slow, "slow", shipped))
    await begun.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls < 3


def test_the_original_limits_keep_their_order_too():
    assert ORIGINAL.same_words <= ORIGINAL.same_memory <= ORIGINAL.update
    assert json.loads(ORIGINAL.model_dump_json())["embedder"] == "gte-large"
