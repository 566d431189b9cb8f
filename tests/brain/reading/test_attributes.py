"""Statements have a kind and, where there can be only one, the attribute they state; a newer one is recognised by it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.reading.statements import SpeakerStatement
from lethe_app.domain.facts import FactKind
from tests.brain.conversations import spoken

MONDAY = datetime(2026, 11, 23, 20, 0, tzinfo=UTC)


def statements_of(*texts: str) -> list[SpeakerStatement]:
    return extract_statements(spoken(*texts, user="Tom", start=MONDAY))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I live in Porto.", "I moved to Lisbon last month."),
        ("I live in Leeds", "we've just moved to York"),
        ("I'm a nurse.", "I'm a teacher now."),
        ("I work at a bakery.", "I started at Siemens last week."),
        ("I work as a barista", "got a new job as a receptionist"),
        ("My girlfriend is called Lena.", "My new girlfriend is called Mara."),
        ("I have a girlfriend.", "We broke up, I'm single now."),
        ("I'm engaged", "we got married on saturday!"),
        ("My dog is called Rex.", "We renamed the dog, my dog is called Bruno now."),
        ("My dentist appointment is on Tuesday.", "my dentist appointment got moved to Friday"),
        ("I have a job interview on 3 December", "the job interview is on 5 December now"),
        ("I'm flying to Lisbon on 14 December.", "I'm flying to Lisbon on 20 December instead."),
        ("I want to run Berlin.", "I wanted to run Berlin, I'll do Poznan instead"),
        ("My daughter is nine.", "My daughter isn't nine any more, she turned ten."),
        ("My daughter Emma is nine.", "My daughter Emma turned ten yesterday"),
        ("I'm 33.", "I turned 34 on Monday"),
        ("My favourite colour is blue.", "my favourite color is green now"),
        ("I drive a Honda.", "I drive a Tesla now"),
        ("I'm vegetarian.", "I eat meat again"),
        ("I smoke.", "I quit smoking in October"),
        ("I live in Berlin", "I don't live in Berlin anymore"),
        ("I work for Siemens.", "I don't work for Siemens any more"),
        ("My sister lives in Oslo.", "My sister moved to Bergen"),
        ("My brother is a student.", "my brother works at a bank now"),
        ("I'm studying biology.", "I study chemistry now"),
        ("My boss is called Karen.", "my new boss is called Mehmet"),
        ("My wedding is on 12 June.", "my wedding was postponed to 4 September"),
        ("I want to learn Italian.", "I no longer want to learn Italian"),
        ("I have two cats called Tom and Jerry.", "I have three cats now"),
        ("I'm training for the Berlin marathon.", "I'm training for the Poznan marathon"),
    ],
)
def test_an_update_states_the_same_attribute_or_ends_what_was_said(before: str, after: str):
    old, new = statements_of(before), statements_of(after)

    assert any((one.key and one.key == other.key) or one.text in other.ended_statements for one in old for other in new)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My sister Ana lives in Lisbon.", "My sister Ines lives in Porto."),
        ("I love sushi.", "I love ramen."),
        ("I was born in Amman.", "I grew up in Birmingham."),
        ("My mother is a nurse.", "I'm a teacher."),
        ("My daughter Emma is nine.", "My daughter Lily is four."),
        ("I'm flying to Lisbon on 14 December.", "I'm flying to Rome in May."),
        ("I have a dog.", "I have a cat."),
        ("I live in Porto.", "I moved to Leeds when I was six."),
        ("My maths exam is on 3 December.", "My physics exam is on 7 December."),
    ],
)
def test_what_stands_side_by_side_shares_no_attribute(one: str, other: str):
    first, second = statements_of(one), statements_of(other)

    assert first
    assert second
    assert not any(old.key and old.key == new.key for old in first for new in second)
    assert not any(new.ended_statements for new in second)


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ("I wanted to run Berlin, I'll do Poznan instead.", "Tom wants to run Berlin."),
        ("I don't live in Porto any more.", "Tom lives in Porto."),
        ("I quit my job at Siemens.", "Tom works at Siemens."),
        ("I stopped smoking last year.", "Tom smokes."),
        ("I moved from Leeds to York.", "Tom lives in Leeds."),
        ("I broke up with my girlfriend Lena.", "Tom's girlfriend is called Lena."),
        ("My daughter isn't nine any more, she turned ten.", "Tom's daughter is nine."),
        ("My dog Rex died.", "Tom has a dog called Rex."),
    ],
)
def test_a_changed_mind_ends_what_was_said(said: str, ended: str):
    assert ended in [end for statement in statements_of(said) for end in statement.ended_statements]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("I'm 34.", FactKind.IDENTITY),
        ("I'm from Porto.", FactKind.IDENTITY),
        ("My birthday is on May 3rd", FactKind.IDENTITY),
        ("My sister is called Ana.", FactKind.PEOPLE),
        ("I have a golden retriever called Biscuit.", FactKind.PEOPLE),
        ("I'm allergic to peanuts.", FactKind.HEALTH),
        ("I have a bad knee.", FactKind.HEALTH),
        ("My sister is pregnant.", FactKind.HEALTH),
        ("I'm a nurse at St. Mary's in Leeds.", FactKind.WORK),
        ("I'm studying biology.", FactKind.WORK),
        ("I live in Porto.", FactKind.HOME),
        ("I hate olives.", FactKind.TASTE),
        ("I go running every Sunday.", FactKind.TASTE),
        ("I adopted a dog yesterday.", FactKind.EVENT),
        ("I went to a support group yesterday.", FactKind.EVENT),
        ("On 14 December I'm flying to Lisbon.", FactKind.PLAN),
        ("My exam is on Friday.", FactKind.PLAN),
    ],
)
def test_a_statement_has_its_kind(said: str, kind: FactKind):
    assert {statement.kind for statement in statements_of(said)} == {kind}


def test_what_is_said_in_character_is_a_fact_of_the_story_only():
    (outcome, plain) = statements_of("*I live in a castle on the cliff.*", "I live in Porto.")

    assert (outcome.text, outcome.in_story) == ("Tom lives in a castle on the cliff.", True)
    assert (plain.text, plain.in_story) == ("Tom lives in Porto.", False)
