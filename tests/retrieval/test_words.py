"""Any text can be asked with; only words that lead somewhere are kept."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.retrieval.words import MOST_WORDS, STOP_WORDS, cut, day, fold, question, searchable

ANY_TEXT = st.text(alphabet=st.characters())  # surrogates and control characters too


def test_stop_words_lead_nowhere():
    asked = question("When did you go to the Lighthouse with Zoë's brother?")

    assert asked.words == ("go", "lighthouse", "zoe", "brother")
    assert asked.names == {"lighthouse", "zoe"}


def test_neighbours_are_words_with_only_stop_words_between():
    asked = question("the red boat of the old harbour")

    assert [(asked.words[left], asked.words[right]) for left, right in asked.neighbours] == [
        ("red", "boat"),
        ("boat", "old"),
        ("old", "harbour"),
    ]


def test_a_text_without_any_word_asks_nothing():
    assert question("… ?! 👍 * and the").words == ()
    assert question("").words == ()


def test_scripts_without_spaces_are_cut_into_characters():
    assert cut("日本語 ok") == ["日", "本", "語", "ok"]
    assert searchable("灯台に行く").split() == list("灯台に行く")


def test_a_text_is_searched_with_its_day():
    assert searchable("Hello.", datetime(2026, 5, 9, tzinfo=UTC)) == "(9 May, 2026) Hello."
    assert day(datetime(2026, 12, 1, tzinfo=UTC)) == "1 December, 2026"


def test_of_a_long_message_only_some_words_are_looked_up():
    asked = question(" ".join(f"word{number}" for number in range(200)))

    assert len(asked.words) == MOST_WORDS
    assert all(max(pair) < MOST_WORDS for pair in asked.neighbours)


@given(ANY_TEXT)
def test_no_text_is_refused(text: str):
    asked = question(text)

    assert len(set(asked.words)) == len(asked.words) <= MOST_WORDS
    assert all(word and word == fold(word) and word not in STOP_WORDS for word in asked.words)
    assert all(0 <= left < len(asked.words) and 0 <= right < len(asked.words) for left, right in asked.neighbours)
    assert "\0" not in searchable(text)
