"""The shipped weights tell what is worth keeping from small talk, and of which kind it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.reading.rated_sentences import KEEP_THRESHOLD
from lethe_app.brain.reading.sentence_classifier import BIAS, is_plausible_question, predict_kind, predict_probability
from lethe_app.brain.reading.sentence_features import extract_features, question_word_features
from lethe_app.domain.facts import FactKind
from lethe_app.paths import shipped_root

TELLING = (
    "my brother lives in Cork with his three kids",
    "I've been a nurse at St James's for eleven years",
    "we moved here from Lagos when I was nine",
    "I'm allergic to shellfish and penicillin",
    "my wife is pregnant, due in October",
    "i broke my wrist skating last winter",
    "I'm learning Welsh because my nan spoke it",
    "we've got two rescue greyhounds called Fig and Plum",
    "my dad died of a stroke when I was twelve",
    "i work nights at a petrol station",
    "I'm flying to Osaka on the 4th of May",
    "my daughter starts school in September",
    "I grew up on a sheep farm in Galloway",
    "I play the cello in a community orchestra",
    "my best friend Yusuf is getting married in June",
    "I've had type 1 diabetes since I was seven",
    "we're saving for a house near the sea",
    "my birthday is on the 2nd of February",
    "i quit my job at the bank last month",
    "I live with my grandmother in a flat in Porto",
    "my ex and I split up two years ago",
    "I'm vegetarian but my husband hunts",
    "I've got an interview at the museum on Thursday",
    "my son plays football for the county",
    "I bake sourdough every Sunday for my neighbours",
    "my boss is called Ingrid and she is from Bergen",
    "we adopted a girl from Vietnam in 2014",
    "I drive an old Land Rover that belonged to my uncle",
    "my knee surgery is booked for the 12th",
    "I'm doing a master's in marine biology in Plymouth",
)
SMALL_TALK = (
    "haha that's a good one",
    "what do you mean",
    "ok tell me more",
    "you're so funny",
    "good night then",
    "that sounds lovely",
    "I don't think so",
    "wow really",
    "how are you today",
    "let me think about it",
    "it is what it is",
    "thanks for listening",
    "I'll be right back",
    "no way",
    "that's true I suppose",
    "can we talk about something else",
    "you always say that",
    "sorry, I was making tea",
    "I like the way you put that",
    "hmm maybe",
    "yes please",
    "it's raining again",
    "I'm just bored",
    "go on then",
    "that made me laugh",
    "what would you do",
    "nothing much really",
    "I have no idea what to say",
    "fair enough",
    "see you later",
)


def test_every_weight_of_the_shipped_file_is_a_number_for_being_kept_and_for_each_kind():
    read = json.loads((shipped_root() / "resources" / "facts" / "weights.json").read_text(encoding="utf-8"))

    assert {FactKind(name) for name in read["kinds"]} == set(FactKind) - {FactKind.OTHER}
    assert BIAS in read["weights"]
    assert {len(row) for row in read["weights"].values()} == {1 + len(read["kinds"])}
    assert all(isinstance(value, int | float) for row in read["weights"].values() for value in row)


def test_small_talk_is_not_kept_and_nearly_all_that_tells_of_a_life_is():
    assert not [text for text in SMALL_TALK if predict_probability(extract_features(text)) >= KEEP_THRESHOLD]
    assert sum(predict_probability(extract_features(text)) >= KEEP_THRESHOLD for text in TELLING) >= 0.9 * len(TELLING)


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
