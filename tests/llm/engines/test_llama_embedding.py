"""The starter embedder in its own process: the vectors its published weights must give, whatever else is in the batch."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from lethe_app.domain.model import LoadOptions
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelError, ModelUnreadable
from lethe_app.llm.client import ModelClient
from lethe_app.llm.models import bundled
from lethe_app.llm.models.gguf_model import describe_model
from lethe_app.paths import shipped_root
from tests.llm.damaged_weights import write_damaged

REFERENCE = shipped_root() / "resources" / "starter_reference.json"


@pytest.fixture
async def embedder() -> AsyncIterator[ModelClient]:
    client = ModelClient(embeds_texts=True)
    await client.load(describe_model(bundled.embedding_model()), LoadOptions(), lambda _fraction: None)
    yield client
    await client.close()


def product(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_weights_that_are_no_numbers_are_told_when_they_are_loaded(tmp_path: Path):
    damaged = write_damaged(tmp_path / "damaged.gguf", bundled.embedding_model(), "blk.2.layer_output_norm", float("nan"))
    client = ModelClient(embeds_texts=True)

    with pytest.raises(ModelUnreadable, match=r"The weights of “damaged\.gguf” are damaged"):
        await client.load(describe_model(damaged), LoadOptions(), lambda _fraction: None)
    await client.close()


async def test_it_passes_the_self_test(embedder: ModelClient):

    vectors = await embedder.embed(bundled.reference_sentences(REFERENCE))

    passed, figures = bundled.run_self_test(vectors, REFERENCE)

    assert passed, figures


async def test_a_vector_does_not_depend_on_what_else_is_embedded(embedder: ModelClient):
    texts = [f"The harbour has {number} lamps, and one of them is broken." for number in range(150)]
    (alone,) = await embedder.embed([texts[77]])

    together = await embedder.embed(texts)

    assert len(together) == 150
    assert product(alone, together[77]) > 0.9999
    assert product(alone, together[3]) < 0.9999


async def test_vectors_have_length_one_and_near_meanings_are_near(embedder: ModelClient):
    cat, kitten, ship = await embedder.embed(["My cat sleeps.", "The kitten is asleep.", "The engine of the ship failed."])

    assert product(cat, cat) == pytest.approx(1, abs=1e-5)
    assert product(cat, kitten) > product(cat, ship) + 0.2


async def test_long_and_empty_and_odd_texts_are_embedded(embedder: ModelClient):
    vectors = await embedder.embed(["word " * 5000, "", "日本語 👩‍👧 \x00", "short"])

    assert [len(vector) for vector in vectors] == [384] * 4


async def test_it_does_not_speak(embedder: ModelClient):

    with pytest.raises(ModelError, match="generates no text"):
        async for _report in embedder.generate("Hello", SamplerPreset(name="x"), 5):
            pass


async def test_token_vectors_pool_into_the_very_vector_of_the_text(embedder: ModelClient):
    texts = [f"The harbour has {number} lamps, and Zoë's is broken." for number in range(70)] + ["", "word " * 900]

    plain = await embedder.embed(texts)
    meanings = await embedder.embed_tokens(texts)

    assert len(meanings) == len(texts)
    for vector, meaning in zip(plain, meanings, strict=True):
        assert product(vector, array("f", meaning.vector)) > 0.99999
        assert len(meaning.tokens) == len(meaning.pieces) * 384 * 4
    assert [piece for piece in meanings[3].pieces if "harbour" in piece]
