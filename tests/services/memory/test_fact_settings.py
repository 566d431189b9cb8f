"""The distances an expert sets take the place of the measured ones, each where it is read."""

from __future__ import annotations

from uuid import uuid4

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.config.settings import Settings
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.errors import LetheError
from lethe_app.retrieval.calibration import ORIGINAL
from lethe_app.retrieval.ranking import PassageLead, RankedSource
from lethe_app.services.indexing.calibration import apply_settings
from lethe_app.services.memory.search import is_within
from tests.brain.memories import MOMENT
from tests.retrieval.conftest import embed

HER = "mira-test"
TAIL = "with his old friend from school, a dog, two parrots and a garden full of roses, apples and long grass behind it."


async def learnt(services: AppServices, *texts: str) -> list[ExtractedFact]:
    """What is known after these were told in one conversation each, compared by a simple embedder."""
    services.memory_index.set_embedder(embed, "words")
    for text in texts:
        await services.facts.learn(HER, [ExtractedFact(fact=text, source_memories=[uuid4()], source_messages=[uuid4()])])
    return await services.facts.facts_of(HER)


def test_each_distance_stands_for_its_limit():
    settings = Settings(rag_distance=0.5, fact_duplicate_distance=0.03, fact_update_distance=0.2)

    limits = apply_settings(ORIGINAL, settings)

    assert (limits.rag_limit, limits.update) == (0.5, 0.2)
    assert limits.same_words == 0.03


@pytest.mark.parametrize("name", ["rag_distance", "fact_retrieval_distance", "fact_duplicate_distance", "fact_update_distance"])
async def test_no_distance_is_farther_than_one(services: AppServices, name: str):
    with pytest.raises(LetheError):
        await services.preferences.set(**{name: 1.5})


@pytest.mark.parametrize(("distance", "count"), [(0.0, 1), (0.001, 2)])
async def test_the_distance_of_the_same_fact_decides_what_counts_as_said_again(
    services: AppServices, distance: float, count: int
):
    await services.preferences.set(fact_duplicate_distance=distance)

    facts = await learnt(services, f"Tomas owns a white boat {TAIL}", f"Tomas owns a white boat alone {TAIL}")

    assert sum(not fact.superseded for fact in facts) == count


@pytest.mark.parametrize(("distance", "replaced"), [(0.0, True), (0.001, False)])
async def test_the_distance_of_a_changed_fact_decides_what_is_replaced(services: AppServices, distance: float, replaced: bool):
    await services.preferences.set(fact_update_distance=distance)

    facts = await learnt(services, f"Tomas walks in the morning {TAIL}", f"Tomas walks in the evening {TAIL}")

    assert any(fact.superseded for fact in facts) is replaced


def hit_by(kind: PassageKind, cosine: float) -> tuple[RankedSource, dict[int, Passage]]:
    """A memory found by one text of that nearness; 0 is by its words alone."""
    source = uuid4()
    passage = Passage(kind, HER, source, source, "Tomas keeps bees.", "tomas keeps bees", MOMENT, number=1)
    return RankedSource(source, 1.0, 1.0, True, (PassageLead(1, (), cosine),), ()), {1: passage}


@pytest.mark.parametrize(
    ("kind", "cosine", "settings", "comes"),
    [
        (PassageKind.MESSAGE, 0.4, {}, True),
        (PassageKind.MESSAGE, 0.4, {"rag_distance": 0.5}, False),
        (PassageKind.MESSAGE, 0.4, {"rag_distance": 0.7}, True),
        (PassageKind.MESSAGE, 0.0, {"rag_distance": 0.1}, True),
        (PassageKind.MESSAGE, 0.4, {"fact_retrieval_distance": 0.1}, True),
        (PassageKind.FACT, 0.4, {"fact_retrieval_distance": 0.5}, False),
        (PassageKind.FACT, 0.4, {"fact_retrieval_distance": 0.7, "rag_distance": 0.1}, True),
    ],
)
def test_the_recall_distances_keep_out_what_is_farther(
    kind: PassageKind, cosine: float, settings: dict[str, float], comes: bool
):
    hit, texts = hit_by(kind, cosine)

    assert is_within(hit, texts, Settings.model_validate(settings)) is comes
