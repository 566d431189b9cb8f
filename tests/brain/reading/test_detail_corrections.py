"""A detail that a later message puts right."""

from __future__ import annotations

import pytest

from lethe_app.brain.reading.corrections import extract_corrected_statement, find_detail_corrections, replace_detail
from lethe_app.brain.reading.extractor import extract_statements
from tests.brain.conversations import conversation


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("It is twelve years, not eleven.", [("eleven", "twelve")]),
        ("oh wait its not thursday, its wednesday", [("thursday", "wednesday")]),
        ("hes SIXTY two not fifty", [("fifty", "SIXTY two")]),
        ("I'm not hungry, it's nine already", []),
        ("two cats, not dogs", []),
        ("May I? Not in June.", []),
    ],
)
def test_the_wrong_detail_and_the_right_one_are_read(message: str, expected: list[tuple[str, str]]):
    assert list(find_detail_corrections(message)) == expected


def test_a_detail_is_replaced_however_it_is_spelled():
    assert replace_detail("about 50 we think", "fifty", "SIXTY two") == "about sixty two we think"
    assert replace_detail("about 15 we think", "fifty", "sixty") is None


@pytest.mark.parametrize(
    ("said", "corrected", "known"),
    [
        ("My salary is 52000.", "Sorry, I meant 54000", "My salary is 54000."),
        ("My daughter is seven and in second grade.", "I meant eight", "My daughter is eight and in second grade."),
        ("My daughter is seven and in second grade.", "I meant third", "My daughter is seven and in third grade."),
    ],
)
def test_a_single_number_replaces_the_last_one_of_its_kind(said: str, corrected: str, known: str):
    assert extract_corrected_statement(corrected, said) == known


def test_the_earlier_statement_is_learnt_as_corrected():
    lines = conversation(
        "Tomas: My dog is eleven years old.",
        "Mira: And your brother?",
        "Tomas: My brother Nils has not spoken to me for eleven years.",
        "Mira: So long!",
        "Tomas: It is twelve years, not eleven, since my brother spoke to me.",
    )

    reported = " ".join(one.text for one in extract_statements(lines))

    assert "dog is eleven" in reported
    assert "for twelve years" in reported
    assert "for eleven years" not in reported


def test_a_day_given_anew_is_right_where_it_was_first_said():
    lines = conversation(
        "Tomas: maisies school play is on the 10th of december, shes a sheep",
        "Mira: Aww!",
        "Tomas: no wait the plays on the 11th, i read the letter wrong",
    )

    reported = " ".join(one.text for one in extract_statements(lines))

    assert "school play is on the 11th of december, shes a sheep” (11 December" in reported
    assert "10" not in reported


def test_an_interview_somebody_got_is_to_come():
    reported = " ".join(
        one.text
        for one in extract_statements(conversation("Tomas: got a job interview on friday, manager at the sorting office."))
    )

    assert "27 November 2026" in reported
    assert "20 November 2026" not in reported
