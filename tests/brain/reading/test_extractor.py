"""Lasting statements are taken by rules and can be read alone; talk of the moment is left where it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.fact_guard.grounding import is_grounded
from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from tests.brain.conversations import conversation

TUESDAY = datetime(2025, 3, 11, 19, 0, tzinfo=UTC)


def user(text: str, time: datetime = TUESDAY) -> Utterance:
    return Utterance(uuid4(), Role.USER, "Tomas", text, time)


def persona(text: str, time: datetime = TUESDAY) -> Utterance:
    return Utterance(uuid4(), Role.ASSISTANT, "Mira", text, time)


def texts(*lines: Utterance) -> list[str]:
    return [statement.text for statement in extract_statements(lines)]


def test_one_sentence_may_state_several_things():
    assert texts(user("I was born in Amman but grew up in Birmingham, and I teach maths.")) == [
        "Tomas was born in Amman.",
        "Tomas grew up in Birmingham.",
        "Tomas teaches maths.",
    ]


def test_she_may_have_been_named_in_the_message_before():
    lines = [user("My grandmother is a witch."), persona("How old is she?"), user("She's ninety-one.")]

    (_witch, age) = extract_statements(lines)

    assert age.text == "Tomas's grandmother is ninety-one."
    assert age.message_ids == (lines[0].id, lines[2].id)


def test_she_may_be_whom_the_other_asked_for():
    assert texts(persona("How is your grandmother?"), user("She's ninety-one.")) == ["Tomas's grandmother is ninety-one."]


def test_she_is_not_understood_where_the_other_spoke_of_somebody_else():
    lines = [user("My grandmother is a witch."), persona("My mother is one too."), user("She's ninety-one.")]

    assert "Tomas's grandmother is ninety-one." not in texts(*lines)


@pytest.mark.parametrize("said", ["My exam is tomorrow, on Friday.", "I have an exam this weekend, on Tuesday."])
def test_a_date_that_contradicts_itself_is_quoted_with_the_day_it_was_said(said: str):
    assert texts(user(said)) == [f"Tomas said on 11 March 2025: “{said}”"]


@pytest.mark.parametrize(
    ("question", "answer", "known"),
    [
        ("What's your cat called?", "Whiskers.", "Tomas's cat is called Whiskers."),
        ("And where do you live?", "In Lisbon", "Tomas lives in Lisbon."),
        ("What's your favourite film?", "The Third Man!", "Tomas's favourite film is The Third Man."),
        ("What do you do for a living?", "bus driver", "Tomas is a bus driver."),
        ("What do you do?", "Engineer, at Siemens", "Tomas is an engineer at Siemens."),
        ("What do you do?", "Civil servant", "Tomas is a civil servant."),
        ("What do you do?", "German teacher", "Tomas is a German teacher."),
        ("What do you do?", "Google engineer", "Tomas is a Google engineer."),
        ("Do you have any siblings?", "two brothers", "Tomas has two brothers."),
        ("How old are you?", "34", "Tomas is 34."),
    ],
)
def test_a_question_and_its_short_answer_make_one_fact(question: str, answer: str, known: str):
    lines = [persona(question), user(answer)]

    (statement,) = extract_statements(lines)

    assert statement.text == known
    assert statement.message_ids == (lines[0].id, lines[1].id)


def test_his_name_is_understood_where_only_one_was_spoken_of():
    brother = user("My brother is a pilot.")

    assert "Tomas's brother is called Emil." in texts(brother, persona("What's his name?"), user("Emil"))
    assert texts(user("I'm here."), persona("What's his name?"), user("Emil")) == [
        "Asked “What's his name?”, Tomas said: “Emil”"
    ]


def test_a_question_about_her_is_quoted_with_her_name():
    lines = conversation("Tomas: I am visiting my sister Ines.", "Mira: Where does she live?", "Tomas: Porto, by the river")

    assert "Asked “Where does Ines live?”, Tomas said: “Porto, by the river”" in texts(*lines)


@pytest.mark.parametrize(
    "asked",
    [
        "Taylor Swift has a new album! Where does she live?",
        "There is a new singer in town. Where does she live?",
        "Where do you think she's living now?",
    ],
)
def test_a_question_about_her_who_may_be_somebody_else_is_quoted_as_asked(asked: str):
    lines = conversation("Tomas: I am visiting my sister Anna.", f"Mira: {asked}", "Tomas: Porto, by the river")

    assert not any("Asked" in text and "Anna" in text for text in texts(*lines))


def test_the_persona_is_a_subject_too():
    (statement,) = extract_statements([persona("I was born on a lightship.")])

    assert statement.subject == "Mira"
    assert statement.text == "Mira was born on a lightship."
    assert statement.time == TUESDAY


def test_what_is_said_twice_is_one_statement_with_both_messages():
    lines = [user("I live in Porto."), user("i live in Porto!", TUESDAY + timedelta(days=1))]

    (statement,) = extract_statements(lines)

    assert statement.message_ids == (lines[0].id, lines[1].id)
    assert statement.time == TUESDAY
    assert statement.key == "home"


def test_the_name_is_a_fact_only_where_it_is_not_the_one_on_the_messages():
    assert texts(user("My name is Tomas.")) == []
    assert texts(Utterance(uuid4(), Role.USER, "User", "My name is Daniel.", TUESDAY)) == ["User's name is Daniel."]


def test_every_statement_is_grounded_in_its_messages():
    lines = [persona("What's your cat called?"), user("Whiskers. I ran a marathon yesterday, and I don't eat meat.")]
    reported = {line.id: line.text for line in lines}

    statements = extract_statements(lines)

    assert len(statements) == 3
    assert all(is_grounded(one.text, [reported[each] for each in one.message_ids], ["Tomas", "Mira"]) for one in statements)


@given(st.lists(st.text(), max_size=4))
def test_any_conversation_can_be_read(said: list[str]):
    for statement in extract_statements([user(text) if place % 2 else persona(text) for place, text in enumerate(said)]):
        assert statement.text.endswith((".", "”"))
        assert statement.subject in statement.text


@given(st.datetimes(timezones=st.just(UTC)))
def test_any_day_of_the_calendar_will_do(time: datetime):
    assert texts(user("I adopted a dog two weeks ago and I'm moving to Porto on the 31st.", time))


def test_both_sides_of_a_contrast_are_one_fact():
    assert texts(user("I've never had a cat before but I have one now")) == [
        "Tomas has never had a cat before but they have one now."
    ]


def test_a_sentence_tells_more_than_the_name_in_it():
    assert texts(user("My husband Lars baked a cake.")) == [
        "Tomas's husband is called Lars.",
        "Tomas's husband Lars baked a cake.",
    ]


def test_a_name_known_from_before_is_whose_it_is():
    assert "Tomas's daughter Emma turned ten on 10 March 2025." in texts(
        user("My daughter Emma loves maths."), user("Emma turned ten yesterday")
    )


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("I ran my first marathon yesterday", "Tomas ran their first marathon on 10 March 2025."),
        ("I'm moving to Porto in February", "Tomas is moving to Porto in February 2026."),
        ("My sister got married last summer", "Tomas's sister got married in the summer of 2024."),
        ("My flight is on Friday the 28th", "Tomas's flight is on 28 March 2025."),
    ],
)
def test_dates_that_move_are_spelled_out(said: str, known: str):
    assert texts(user(said)) == [known]


def test_both_actions_of_a_day_have_its_date():
    assert texts(user("Last Friday I entered a chess tournament and won a trophy")) == [
        "On 7 March 2025 Tomas entered a chess tournament and won a trophy."
    ]


def test_its_name_is_asked_of_no_person():
    lines = conversation(
        "Tomas: My mum has a bad hip, I don't want to put everything on her.",
        "Mira: I think I'd get along with the octopus. What's its name, by the way?",
        "Tomas: Mister Tinte.",
    )

    assert not [one.text for one in extract_statements(lines) if "called" in one.text]


def test_a_lie_told_by_mistake_takes_back_the_sentence_before():
    lines = conversation(
        "Mira: When is the operation?",
        "Tomas: On the 20th of November. No, I tell a lie, that is the dentist. The eye is on the 24th.",
    )

    reported = " ".join(one.text for one in extract_statements(lines))

    assert "24" in reported
    assert "20 November" not in reported


def test_wow_is_an_exclamation_and_no_game():
    lines = conversation("Mira: I run every day.", "Tomas: Wow! I love running too. I ran my first marathon in Berlin in 2019.")

    assert any("marathon" in one.text and not one.in_story for one in extract_statements(lines))


def test_a_name_answered_to_the_persona_is_not_the_persona_s_own():
    lines = conversation("Mira: Hi! What's your name?", "Tomas: Mira!")

    assert not [one.text for one in extract_statements(lines) if one.key == "name"]


def test_a_day_put_right_takes_nothing_else_back():
    known = texts(
        user("maisies school play is on the 10th of december, shes a sheep"),
        persona("Aw."),
        user("been veggie since i was 15"),
        persona("Mm."),
        user("no wait the plays on the 11th, i read the letter wrong"),
    )
    assert known == [
        "Tomas said: “maisies school play is on the 11th of december, shes a sheep” (11 December 2025)",
        "Tomas has been vegetarian since they were 15.",
    ]
