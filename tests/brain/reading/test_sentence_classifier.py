"""The shipped weights tell what is worth keeping from small talk, and of which kind it is."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.reading.rated_sentences import KEEP_THRESHOLD
from lethe_app.brain.reading.sentence_classifier import BIAS, is_plausible_question, predict_kind, predict_probability
from lethe_app.brain.reading.sentence_features import extract_features, question_word_features
from lethe_app.domain.facts import FactKind
from lethe_app.paths import shipped_root

SENTENCES = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8"))


def test_every_weight_of_the_shipped_file_is_a_number_for_being_kept_and_for_each_kind():
    read = json.loads((shipped_root() / "resources" / "facts" / "weights.json").read_text(encoding="utf-8"))

    assert {FactKind(name) for name in read["kinds"]} == set(FactKind) - {FactKind.OTHER}
    assert BIAS in read["weights"]
    assert {len(row) for row in read["weights"].values()} == {1 + len(read["kinds"])}
    assert all(isinstance(value, int | float) for row in read["weights"].values() for value in row)


def test_small_talk_is_not_kept_and_nearly_all_that_tells_of_a_life_is():
    kept = {
        kind: [text for text in texts if predict_probability(extract_features(text)) >= KEEP_THRESHOLD]
        for kind, texts in SENTENCES.items()
    }

    assert kept["small_talk"] == []
    assert len(kept["telling"]) >= 0.9 * len(SENTENCES["telling"])


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("my best friend Yusuf is getting married in June", FactKind.PEOPLE),
        ("I'm allergic to shellfish and penicillin", FactKind.HEALTH),
        ("I've been a nurse at St James's for eleven years", FactKind.WORK),
        ("I live with my grandmother in a flat in Porto", FactKind.HOME),
        ("I bake sourdough every Sunday for my neighbours", FactKind.TASTE),
        ("we got married in a barn last summer", FactKind.EVENT),
        ("I've got an interview at the museum on Thursday", FactKind.PLAN),
    ],
)
def test_a_sentence_is_of_the_kind_of_what_it_tells(said: str, known: FactKind):
    assert predict_kind(extract_features(said)) is known


@given(st.text(), st.text())
def test_any_text_has_a_probability_and_a_kind(sentence: str, question: str):
    described = extract_features(sentence, question)

    assert 0 <= predict_probability(described) <= 1
    assert predict_kind(described) in FactKind


def test_a_question_is_known_if_all_that_it_is_about_is_common_or_was_heard():
    question = "What does Quentin do for work?"

    assert is_plausible_question("What do you do for work?")
    assert is_plausible_question("")
    assert not is_plausible_question(question)
    assert is_plausible_question(question, question_word_features("my cousin Quentin rang"))
