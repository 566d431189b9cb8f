"""Any text can be asked with; only words that lead somewhere are kept."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.retrieval.query_terms import MOST_WORDS, STOP_WORDS, cut, day, fold, question, searchable

ANY_TEXT = st.text(alphabet=st.characters())  # surrogates and control characters too


def test_stop_words_lead_nowhere():
    asked = question("When did you go to the Lighthouse with Zoë's brother?")

    assert asked.words == ("go", "lighthouse", "zoe", "brother")
    assert asked.names == {"lighthouse", "zoe"}


def test_a_text_without_any_word_asks_nothing():
    assert question("… ?! 👍 * and the").words == ()
    assert question("").words == ()


def test_scripts_without_spaces_are_cut_into_characters():
    assert cut("日本語 ok") == ["日", "本", "語", "ok"]
    assert searchable("灯台に行く").split() == list("灯台に行く")


def test_a_question_in_a_script_without_spaces_asks_for_pairs_of_characters():
    asked = question("昨日、灯台の犬を見ました")

    assert asked.words == ("昨日", "日灯", "灯台", "犬", "見")
    assert [lookup.split() for lookup in asked.lookups[2:4]] == [["灯", "台"], ["犬"]]


def test_auxiliary_verbs_with_not_are_no_words_of_their_own():
    assert question("I haven't slept and I won't, ive dont").words == ("slept",)
    assert question("Who won the race?").words == ("won", "race")


def test_a_text_is_searched_with_its_day():
    assert searchable("Hello.", datetime(2026, 5, 9, tzinfo=UTC)) == "(9 May, 2026) Hello."
    assert day(datetime(2026, 12, 1, tzinfo=UTC)) == "1 December, 2026"


def test_of_a_long_message_only_some_words_are_looked_up():
    asked = question(" ".join(f"word{number}" for number in range(200)))

    assert len(asked.words) == MOST_WORDS


@given(ANY_TEXT)
def test_no_text_is_refused(text: str):
    asked = question(text)

    assert len(set(asked.words)) == len(asked.words) <= MOST_WORDS
    assert all(word and word == fold(word) and word not in STOP_WORDS for word in asked.words)
    assert "\0" not in searchable(text)
