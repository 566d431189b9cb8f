"""A fact is compared with a known one: whether it tells that this has changed, and whether the two may say the same at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from lethe_app.brain.facts.comparison import is_contained_in, is_name_in_only_one, is_same_attribute, states_change
from lethe_app.domain.facts import ExtractedFact, FactKind

MONDAY = datetime(2026, 11, 23, 20, tzinfo=UTC)


def fact(text: str, key: str = "", kind: FactKind = FactKind.OTHER, subject: str = "Tomas") -> ExtractedFact:
    return ExtractedFact(fact=text, key=key, kind=kind, subject=subject, first_seen=MONDAY, last_seen=MONDAY)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Tomas is going to Rome.", "Tomas said: “We're going to Athens instead of Rome.”"),
        ("Tomas's driving test is on the 13th.", "Tomas said: “my driving test is on the 20th now, got pushed from the 13th”"),
        ("Tomas is taking the night train to Vienna.", "Tomas said: “no night train to Vienna any more, we fly”"),
        ("Tomas said: “the choir meets on Tuesdays”", "Tomas said: “the choir used to meet on Tuesdays, they meet on Fridays”"),
        ("Tomas is selling the boat in spring.", "Tomas decided against selling the boat in spring."),
    ],
)
def test_a_sentence_tells_that_a_known_fact_has_changed(known: str, new: str):
    assert states_change(fact(new), fact(known))


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Tomas's driving test is on the 13th.", "Tomas said: “I passed my driving test on the 13th”"),
        ("Tomas is going to Rome.", "Tomas is going to a wedding in Athens now."),
        ("Tomas's cello belonged to his uncle.", "Tomas said: “my uncle has moved to Ghent now”"),
        ("Tomas sings.", "Tomas said: “I sing the tenor part now instead of the bass”"),
    ],
)
def test_what_adds_to_a_known_fact_or_is_about_something_else_tells_no_change(known: str, new: str):
    assert not states_change(fact(new), fact(known))


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Tomas loves his job at the bank.", "Tomas hates his job at the bank now."),
        ("Tomas hates running.", "Tomas likes running."),
        ("Tomas drives an old Volvo.", "Tomas sold the Volvo."),
        ("Tomas is learning Spanish.", "Tomas gave up Spanish."),
        ("Tomas works at Siemens.", "Tomas got fired from Siemens on 25 November 2026."),
        ("Tomas smokes ten cigarettes a day.", "Tomas quit smoking in March 2026."),
        ("Tomas is engaged to Sam.", "Tomas said: “Sam and I got married in June.”"),
        ("Tomas is a teacher.", "Tomas is not a teacher anymore."),
        ("Tomas's daughter Mia is nine.", "Tomas said: “Mia turned ten last week.”"),
    ],
)
def test_a_fact_ends_the_opposite_one_about_the_same_thing(known: str, new: str):
    assert states_change(fact(new), fact(known))


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("Tomas loves coffee.", "Tomas hates coffee ice cream."),
        ("Tomas has a dog.", "Tomas sold the dog food."),
        ("Tomas's sister loves running.", "Tomas hates running."),
        ("Tomas plays the cello.", "Tomas gave up Spanish."),
        ("Tomas's son Ben is nine.", "Tomas said: “Mia turned ten last week.”"),
    ],
)
def test_a_fact_about_another_thing_or_person_ends_nothing(known: str, new: str):
    assert not states_change(fact(new), fact(known))


@pytest.mark.parametrize(
    ("new", "is_renamed"),
    [
        ("Tomas's cat is now called Luna.", True),
        ("Tomas's cat is called Luna now.", True),
        ("Tomas now has a cat called Luna.", False),
    ],
)
def test_a_second_cat_is_not_the_first_one_renamed(new: str, is_renamed: bool):
    known = fact("Tomas has a cat called Milo.", "cat name")
    later = fact(new, "cat name").model_copy(update={"last_seen": MONDAY + timedelta(days=1)})

    assert is_same_attribute(later, known) == is_renamed


def test_facts_with_an_attribute_change_by_their_key_unless_they_are_plans():
    new = fact("Tomas said: “not Rome with the choir, we're going to Athens instead”")

    assert not states_change(fact("Tomas moved to Rome with the choir.", "home"), fact("Tomas lives in Rome.", "home"))
    assert not states_change(new, fact("Tomas is in a choir in Rome.", "choir"))
    assert states_change(new, fact("Tomas is in Rome with the choir.", "trip", FactKind.PLAN))


def test_what_a_number_names_has_ended_with_its_number():
    known, other = fact("Tomas drives the 220 bus in Cork since 2004.", "job"), fact("Tomas has driven 4 buses.")
    new = fact("Tomas is on the coach to Limerick, no more 220.")

    assert states_change(new, known)
    assert not states_change(new, other)


def test_what_somebody_else_says_changes_nothing():
    known, said = fact("Tomas is going to Rome."), "Mira said: “We're going to Athens instead of Rome.”"

    assert not states_change(fact(said, subject="Mira"), known)


def test_two_facts_of_one_message_tell_no_change_of_each_other():
    message = uuid4()
    known, new = fact("Tomas is going to Rome."), fact("Tomas said: “We're going to Athens instead of Rome.”")

    assert not states_change(*(one.model_copy(update={"source_messages": [message]}) for one in (new, known)))


def test_words_of_the_same_message_say_what_a_statement_says_and_more():
    message = uuid4()
    home = fact("Tomas lives in Porto.", "home").model_copy(update={"source_messages": [message]})
    more = fact("Tomas lives in Porto, the choir rehearses on Tuesdays.").model_copy(update={"source_messages": [message]})
    elsewhere = more.model_copy(update={"source_messages": [uuid4()]})

    assert is_contained_in(home, more)
    assert not is_contained_in(more, home)
    assert not is_contained_in(home, elsewhere)


def test_a_name_and_what_is_told_of_its_bearer_are_never_the_same():
    name = fact("Tomas's brother is called Ben.", "brother name", FactKind.PEOPLE)
    job = fact("Tomas's brother Ben works in construction.", "ben job", FactKind.PEOPLE)

    assert is_name_in_only_one(name, job)
    assert is_name_in_only_one(job, name)
    assert not is_name_in_only_one(name, fact("Tomas's brother's name is Ben.", "brother name", FactKind.PEOPLE))
    assert not is_name_in_only_one(job, fact("Tomas said: “ben is in construction”"))
