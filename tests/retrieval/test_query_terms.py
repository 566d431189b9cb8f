"""Any text can be asked with; only words that lead somewhere are kept."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.retrieval.query_terms import MAX_TERMS, STOP_WORDS, format_day, parse_query, to_searchable
from lethe_app.searchable_text import fold, split_words

ANY_TEXT = st.text(alphabet=st.characters())  # surrogates and control characters too


def test_stop_words_lead_nowhere():
    asked = parse_query("When did you go to the Lighthouse with Zoë's brother?")

    assert asked.words == ("go", "lighthouse", "zoe", "brother")
    assert asked.names == {"lighthouse", "zoe"}


def test_a_text_without_any_word_asks_nothing():
    assert parse_query("… ?! 👍 * and the").words == ()
    assert parse_query("").words == ()


def test_scripts_without_spaces_are_cut_into_characters():
    assert split_words("日本語 ok") == ["日", "本", "語", "ok"]
    assert to_searchable("灯台に行く").split() == list("灯台に行く")


def test_a_question_in_a_script_without_spaces_asks_for_pairs_of_characters():
    asked = parse_query("昨日、灯台の犬を見ました")

    assert asked.words == ("昨日", "日灯", "灯台", "犬", "見")
    assert [lookup.split() for lookup in asked.lookups[2:4]] == [["灯", "台"], ["犬"]]


def test_auxiliary_verbs_with_not_are_no_words_of_their_own():
    assert parse_query("I haven't slept and I won't, ive dont").words == ("slept",)
    assert parse_query("Who won the race?").words == ("won", "race")


def test_a_text_is_searched_with_its_day():
    assert to_searchable("Hello.", datetime(2026, 5, 9, tzinfo=UTC)) == "(9 may, 2026) hello."
    assert format_day(datetime(2026, 12, 1, tzinfo=UTC)) == "1 December, 2026"


def test_of_a_long_message_only_some_words_are_looked_up():
    asked = parse_query(" ".join(f"word{number}" for number in range(200)))

    assert len(asked.words) == MAX_TERMS


@given(ANY_TEXT)
def test_no_text_is_refused(text: str):
    asked = parse_query(text)

    assert len(set(asked.words)) == len(asked.words) <= MAX_TERMS
    assert all(word and word == fold(word) and word not in STOP_WORDS for word in asked.words)
    assert "\0" not in to_searchable(text)


def test_numbers_of_a_list_are_no_words():
    asked = parse_query("1. paint 2) bike (3) plants, and 24 hours at 5")

    assert asked.words == ("paint", "bike", "plants", "24", "hours", "5")
