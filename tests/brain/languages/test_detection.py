"""The language of a message is told where it is sure, and left open where it is not."""

from __future__ import annotations

import pytest

from lethe_app.brain.languages.detection import detect_by_words, detect_language
from lethe_app.brain.languages.requests import find_requested_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The galley was on fire again.", "en"),
        ("I am allergic to peanuts.", "en"),
        ("Hello Vera, I am allergic to peanuts.", "en"),
        ("Das ist doch gar nicht wahr, oder?", "de"),
        ("Je suis fatigué ce soir", "fr"),
        ("Me gusta mucho el mar y los barcos", "es"),
        ("Ik ben in de stad en ik wil naar huis", "nl"),
        ("Jeg er her for at se dig i dag", "da"),
        ("La casa di Maria è in centro", "it"),
        ("Eu moro em uma casa de pedra com meu irmão", "pt"),
        ("Dziękuję bardzo za wszystko dzisiaj", "pl"),
        ("Benim adım Ayşe, İstanbul'da yaşıyorum", "tr"),
        ("今日は何をしましたか", "ja"),
        ("안녕하세요", "ko"),
        ("مرحبا كيف حالك", "ar"),
    ],
)
def test_a_sentence_is_told(text: str, language: str):
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "haha ok",
        "Mira",
        "Guten Morgen!",
        "C'est la vie",
        "Tomas Edmund Blackwood Petrel Aiko",
        "ok ok haha yes no maybe",
        "*smiles* Lena, Tomas, Edmund!",
        "That was schön, wirklich.",
        "Wij gaan morgen samen zwemmen. Jutro idziemy razem popływać.",
        "```python\nprint('this is the code that you and they want')\n```",
        "😂😂 1234",
        "",
    ],
)
def test_greetings_names_code_and_mixtures_are_left_open(text: str):
    assert detect_language(text) == ""


def test_english_prose_is_told_without_the_model():
    lines = ["What do you know of the storm?", "She said that it would be late.", "I was at the harbour with my sister."]

    assert [detect_by_words(line) for line in lines] == ["en"] * 3
    assert detect_by_words("Wij gaan morgen samen zwemmen") is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Please speak German with me.", "de"),
        ("Hello. Could we continue in Italian, please?", "it"),
        ("Let's switch to Spanish.", "es"),
        ("Sprich bitte Französisch mit mir", "fr"),
        ("Parlons anglais !", "en"),
        ("Habla alemán por favor", "de"),
        ("I speak German.", ""),
        ("Tell me about German history", ""),
        ("Talk about the French revolution", ""),
        ("Did they talk about Greek food?", ""),
        ("Speak up!", ""),
    ],
)
def test_a_request_for_a_language_is_told_from_a_mention_of_it(text: str, language: str):
    assert find_requested_language(text) == language
