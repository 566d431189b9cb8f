"""The guard lets through what was said in whatever words, and nothing that was not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.fact_guard.claims import SupportLevel
from tests.brain.guarded_facts import FALSE, FALSE_ELSEWHERE, TRUE, TRUE_ELSEWHERE, Case, checked, one


def accepted(cases: Sequence[Case]) -> int:
    """How many are accepted without asking anybody."""
    return sum(checked(case).support is SupportLevel.FULL for case in cases)


def test_true_facts_in_free_words_are_accepted():
    refused = [case.fact for case in TRUE if checked(case).support is SupportLevel.NONE]

    assert len(TRUE) >= 40
    assert refused == []
    assert accepted(TRUE) >= 0.8 * len(TRUE)


@pytest.mark.parametrize("case", FALSE, ids=lambda case: case.fact)
def test_a_false_fact_is_never_accepted_without_asking(case: Case):
    assert checked(case).support is not SupportLevel.FULL


def test_nearly_all_false_facts_are_refused_without_asking():
    doubtful = sum(checked(case).support is SupportLevel.DOUBTFUL for case in FALSE)

    assert doubtful * 6 <= len(FALSE)


@pytest.mark.parametrize("language", TRUE_ELSEWHERE)
def test_ten_of_eleven_true_facts_in_other_languages_are_accepted(language: str):
    cases = TRUE_ELSEWHERE[language]

    assert len(cases) == 11
    assert accepted(cases) >= 10


@pytest.mark.parametrize("case", FALSE_ELSEWHERE, ids=lambda case: case.fact)
def test_a_false_fact_in_another_language_is_never_accepted_without_asking(case: Case):
    assert checked(case).support is not SupportLevel.FULL


@pytest.mark.parametrize(
    "text",
    [
        "Pracuję jako pielęgniarz w Gdańsku.",
        "我在上海做护士。",
        "Jag jobbar som sjuksköterska i Malmö.",
        "Я работаю медбратом в Омске.",
    ],
)
def test_a_language_without_rules_leaves_it_to_the_question(text: str):
    assert checked(one(text, text, f"Tom: {text}")).support is SupportLevel.DOUBTFUL


def test_a_quotation_on_the_wrong_line_is_found_where_it_stands():
    case = Case(("Tom: I keep bees.", "Mira: Really?", "Tom: Yes, six hives."), 3, "I keep bees", "Tom", "Tom keeps bees.")

    found = checked(case)

    assert found.support is SupportLevel.FULL
    assert found.quotation.message_index == 0


@pytest.mark.parametrize("quote", ["", "...", "I keep wasps", "bees keep I"])
def test_a_quotation_nobody_said_supports_nothing(quote: str):
    assert checked(one("I keep bees.", quote, "Tom keeps bees.")).support is SupportLevel.NONE


@pytest.mark.parametrize(
    "quote", ["i KEEP  bees", "“I keep bees”", "I keep bees!", "I keep ... in the orchard", "I’ve, I keep bees"]
)
def test_marks_spaces_and_capitals_of_a_quotation_do_not_count(quote: str):
    assert checked(one("I've... I keep bees in the orchard", quote, "Tom keeps bees.")).support is SupportLevel.FULL


def test_what_is_said_in_character_is_known_as_such():
    found = checked(
        one(
            "*draws my sword, for I am the last king of Ulm* Nice evening.",
            "I am the last king of Ulm",
            "Tom is the last king of Ulm.",
        )
    )

    assert found.quotation.in_story


@pytest.mark.parametrize(
    ("user", "support"), [("Tom: Yes, that's right.", SupportLevel.DOUBTFUL), ("Tom: Pass the salt.", SupportLevel.NONE)]
)
def test_a_personas_word_about_the_user_counts_only_where_they_agree(user: str, support: SupportLevel):
    case = Case(("Mira: You keep bees, Tom.", user), 1, "You keep bees", "Tom", "Tom keeps bees.")

    assert checked(case).support is support


@given(st.text(), st.text(), st.text(), st.text())
def test_any_text_can_be_checked(text: str, quote: str, about: str, fact: str):
    assert checked(Case((f"Tom: {text}", f"Mira: {quote}"), 1, quote, about, fact)).support in SupportLevel
