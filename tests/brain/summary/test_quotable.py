"""Messages as they are typed, and the sentences that can be quoted from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.reading.dialogue_acts import read_pieces
from lethe_app.brain.summary.endorsed_lines import select_endorsed_sentences
from lethe_app.brain.text.markup import MAX_CHARACTERS_READ, remove_markup
from lethe_app.brain.text.narration import is_prose, split_narration
from lethe_app.brain.text.reported_speech import quote_sentence, remove_opener, shorten
from lethe_app.brain.text.sentences import Sentence, normalized_words, split_sentences
from lethe_app.brain.text.utterance import Utterance
from tests.brain.conversations import conversation, said


def quotable_sentences(lines: list[Utterance]) -> list[Sentence]:
    return select_endorsed_sentences(lines, read_pieces(lines))


def texts(message: str) -> list[str]:
    return list(split_sentences(remove_markup(message)))


def test_sentences_end_where_they_end():
    assert texts("I met Dr. Silva in Faro. It rained!\nWas it 3.5 degrees") == [
        "I met Dr. Silva in Faro.",
        "It rained!",
        "Was it 3.5 degrees",
    ]


def test_sentences_of_people_who_type_without_capitals_end_too():
    assert texts("thx! the interview is on thursday. im nervous, e.g. about maths") == [
        "thx!",
        "the interview is on thursday.",
        "im nervous, e.g. about maths",
    ]


def test_markup_is_taken_away_and_its_words_stay():
    message = "# News\n- **Ana** wrote [a letter](https://example.org/x)\n> `he` said so"

    assert texts(message) == ["News", "Ana wrote a letter", "he said so"]


def test_what_nobody_sees_is_taken_away():
    assert remove_markup("a\u202eb\0c\ud800d<|im_end|>e</s>[INST]") == "abcde"
    assert remove_markup("before ```code``` after") == "before \n after"
    assert remove_markup("before ```code without an end") == "before \n"


def test_actions_are_told_apart_from_emphasis():
    quotable_sentences = [
        (part.text.strip(), part.narrates) for part in split_narration("*opens the door* I *really* mean it. *smiles*")
    ]

    assert quotable_sentences == [("opens the door", True), ("I really mean it.", False), ("smiles", True)]


def test_quoted_speech_with_somebody_around_it_is_prose():
    assert is_prose('"Come in," she said and lowered the lantern.')
    assert is_prose('"Who goes there?" I call, raising my torch.')
    assert not is_prose('My boss said, "You may go." So I went home.')
    assert not is_prose('I read "The Old Harbour" last night and liked it.')
    assert not is_prose("She lowered the lantern.")


def test_scripts_without_spaces_give_pairs_of_characters():
    assert normalized_words("灯台へ go") == ("灯台", "台へ", "go")


def test_only_the_beginning_of_an_endless_message_is_read():
    assert len(remove_markup("x" * 10_000)) == MAX_CHARACTERS_READ


def test_inner_quotation_marks_do_not_end_a_quotation():
    (sentence,) = quotable_sentences(conversation('Tomas: I call my boat "Lethe" now.'))

    assert quote_sentence(sentence).full_text == "Tomas said, \"I call my boat 'Lethe' now.\""


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('The boat is sold."', "The boat is sold."),
        ("“The boat is sold.", "The boat is sold."),
        ("“The boat is sold.”", "The boat is sold."),
        ("She calls it “Lethe”", "She calls it “Lethe”"),
    ],
)
def test_a_quotation_mark_without_its_partner_is_left_out(text: str, plain: str):
    assert remove_opener(text) == plain


def test_a_greeting_before_the_matter_is_left_out():
    (sentence,) = quotable_sentences(conversation("Tomas: Hey Mira, yeah, well, the boat is sold."))

    assert quote_sentence(sentence).full_text == 'Tomas said, "The boat is sold."'


def test_what_is_too_long_is_cut_at_a_clause():
    assert shorten("the boat is sold, and the harbour is empty now", 30) == "the boat is sold…"
    assert shorten("the boat is sold and gone", 12) == "the boat…"
    assert shorten("boat", 0) == ""


@given(st.text(max_size=80), st.integers(0, 60))
def test_nothing_is_cut_too_long(text: str, longest: int):
    assert len(shorten(text, longest)) <= longest


@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_can_be_taken_apart(text: str):
    for sentence in quotable_sentences([said("Tomas", text)]):
        assert sentence.words
        assert "\n" not in sentence.text
        assert "*" not in sentence.text
