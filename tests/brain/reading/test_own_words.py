"""What users tell is kept in their own words where no rule has put all of it into a statement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.reading.own_words import MAX_FACT_LENGTH
from lethe_app.brain.reading.statements import SpeakerStatement
from lethe_app.domain.facts import FactKind
from tests.brain.conversations import spoken


def statements_of(*messages: str) -> list[SpeakerStatement]:
    return extract_statements(spoken(*messages))


def texts(*messages: str) -> list[str]:
    return [statement.text for statement in statements_of(*messages)]


def test_a_sentence_is_quoted_with_the_one_that_it_refers_to():
    assert texts("I bought an old boat in Ghent. haha. it leaks since May") == [
        "Joan said: “I bought an old boat in Ghent. it leaks since May”"
    ]


def test_quotation_marks_of_the_user_do_not_end_the_quotation():
    assert texts("we named our boat “Lark” and keep it in Ghent") == [
        "Joan said: “we named our boat 'Lark' and keep it in Ghent”"
    ]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What do you do for work?", "night shifts at the sorting office in Leith"),
        ("Where did you grow up?", "on a barge, mostly around Ghent"),
        ("Who taught you to cook?", "my grandad, he was a ship's cook"),
    ],
)
def test_an_answer_is_quoted_with_its_question_and_comes_from_both_messages(question: str, answer: str):
    lines = spoken(f"P: *smiles* Nice! {question}", answer)

    (statement,) = extract_statements(lines)

    assert statement.text == f"Asked “{question}”, Joan said: “{answer}”"
    assert statement.message_ids == (lines[0].id, lines[1].id)


def test_an_answer_that_says_all_comes_without_its_question():
    lines = spoken("P: What do you do on Thursdays?", "i've been doing pottery on thursdays since the divorce")

    (statement,) = extract_statements(lines)

    assert statement.text == "Joan has been doing pottery on thursdays since the divorce."
    assert statement.message_ids == (lines[1].id,)


@pytest.mark.parametrize(
    "question",
    [
        "Remember when we climbed Mount Zorbulax?",
        "Did the Velmora festival with your cousin Quentin change you?",
        "And since the curse of the glass heron, have you slept?",
    ],
)
@pytest.mark.parametrize("answer", ["yes, in 2019 with two friends from Leith", "Yes, I went with my sister in 2019", "it did"])
def test_what_the_persona_makes_up_in_its_question_is_in_no_fact(question: str, answer: str):
    known = " ".join(texts(f"P: {question}", answer)).lower()

    assert not [word for word in ("zorbulax", "velmora", "quentin", "cousin", "heron", "curse") if word in known]


def test_a_name_in_a_question_is_quoted_once_the_user_has_used_it():
    asked = "Asked “How is Marek?”, Joan said: “moved to leeds in june”"

    assert asked in texts("my brother Marek plays the tuba", "P: How is Marek?", "moved to leeds in june")
    assert texts("P: How is Marek?", "moved to leeds in june") == []


def test_the_answer_to_an_imagined_question_is_made_up():
    assert texts("P: If you were a baker in Ghent, what would you sell?", "mostly rye bread and three kinds of cake") == []


def test_yes_repeats_no_statement_of_the_rules():
    assert texts("P: Are you married?", "yep") == ["Joan is married."]
    assert texts("P: Do you smoke?", "yep") == ["Joan smokes."]


def test_a_rule_and_the_users_own_words_do_not_say_the_same_twice():
    assert texts("My exam is on friday") == ["Joan's exam is on 13 March 2026."]
    assert texts("We moved to Leeds three years ago.") == ["Joan moved to Leeds in 2023."]


def test_a_statement_without_an_attribute_gives_way_to_the_words_that_say_more():
    assert texts("I'm scared of dentists and of the smell of hospitals since my operation in Ghent") == [
        "Joan is scared of dentists and of the smell of hospitals since their operation in Ghent."
    ]


def test_a_sentence_about_somebody_who_was_not_named_is_left_out():
    assert texts("He left when I was six.") == []


def test_what_is_told_twice_is_one_fact_with_both_messages():
    statements_of = "our landlord is putting the rent up by 200 euros in March"
    lines = spoken(statements_of, "P: Oh no.", statements_of)

    (statement,) = extract_statements(lines)

    assert statement.message_ids == (lines[0].id, lines[2].id)


def test_each_sentence_of_a_quotation_has_its_own_date():
    (fact,) = texts("our cat went missing yesterday. she came home from the woods this morning with a limp")

    assert fact == (
        "Joan said: “our cat went missing yesterday. she came home from the woods this morning with a limp” "
        "(9 March 2026, the morning of 10 March 2026)"
    )


def test_a_day_of_every_week_has_no_date():
    assert texts("I swim outdoors with a group of women on Sunday mornings") == [
        "Joan swims outdoors with a group of women on Sunday mornings."
    ]


def test_a_plan_has_its_year():
    assert texts("we're flying to Lisbon in May with my parents") == [
        "Joan said: “we're flying to Lisbon in May with my parents” (May 2026)"
    ]
    assert texts("our move was meant to be in May but they pushed it to January") == [
        "Joan said: “our move was meant to be in May but they pushed it to January”"
    ]
    assert texts("in May we always go camping with the cousins from Bristol") == [
        "Joan said: “in May we always go camping with the cousins from Bristol”"
    ]


def test_a_day_that_is_to_come_is_not_taken_for_a_past_one_because_something_was_moved():
    assert "Joan's driving test is on 20 March 2026 now, it got pushed from the 13th." in texts(
        "my driving test is on the 20th now, it got pushed from the 13th"
    )
    assert not [text for text in texts("my driving test is on the 2nd now, it got pushed") if "2 March" in text]


def test_words_of_time_that_cannot_be_resolved_come_with_the_day_they_were_said():
    assert texts("My exam is tomorrow, on Friday.") == ["Joan said on 10 March 2026: “My exam is tomorrow, on Friday.”"]


def test_a_fact_has_its_kind():
    (work,) = statements_of("P: What do you do for work?", "night shifts at the sorting office in Leith")
    (plan,) = statements_of("we're flying to Lisbon in May with my parents")

    assert (work.kind, plan.kind) == (FactKind.WORK, FactKind.PLAN)


def test_what_the_persona_says_is_never_kept_as_a_quotation():
    assert texts("P: our landlord is putting the rent up by 200 euros in March") == []


@pytest.mark.parametrize(
    "said",
    [
        "my sister moved to ghent with her three kids and " * 80,
        "I'm just really " * 250,
        "(" * 4000,
        "yeah, well, so, and " * 200,
        "on the morning of the first " * 140 + "I left",
        "“" * 2000 + "\"'" * 1000,
        "😀 " * 2000 + "I moved",
    ],
)
def test_a_long_or_hostile_line_is_read_and_no_quotation_is_longer_than_allowed(said: str):
    for fact in texts(f"P: {said}?", said):
        quoted = fact.partition("said: “")[2].removesuffix("”")
        assert len(quoted or fact) <= MAX_FACT_LENGTH + len("Joan has their ")


@given(st.text(max_size=200), st.text(max_size=200))
def test_whatever_is_written_every_fact_is_one_line_about_its_speaker(question: str, answer: str):
    for statement in statements_of(f"P: {question}", answer):
        assert "\n" not in statement.text
        assert {"Joan", "Nora"} & set(
            statement.text.replace("'s", " ").replace(",", " ").split()
        ) or not statement.text.isascii()


@pytest.mark.parametrize(
    ("question", "answer"),
    [("What do you play?", "nothing"), ("How is Beth?", "moved to leeds in june"), ("How old is Aoife?", "31")],
)
def test_an_evasion_or_an_answer_about_somebody_else_says_nothing_of_the_speaker(question: str, answer: str):
    assert not any(text.startswith("Joan ") for text in texts(f"P: {question}", answer))


def test_initials_end_no_sentence():
    (text,) = texts("P: Who is your favourite author?", "J.K. Rowling since I was nine")

    assert "J.K. Rowling since I was nine" in text


def test_milestones_on_a_weekday_are_to_come():
    assert "16 March 2026" in " ".join(texts("i did quit vaping though, 6 weeks clean on monday"))


def test_what_follows_the_announcement_of_a_dream_is_left_out():
    said = (
        "had the weirdest dream last night",
        "P: Tell me!",
        "i was living inside a mango with my landlord",
        "i work at a bank",
    )

    assert texts(*said) == ["Joan works at a bank."]


def test_a_joke_within_a_question_takes_back_nothing_said_before():
    said = ("i cant do milk or cream at all, lactose intolerant", "did i tell u im a secret prince? haha kidding obvs")

    assert texts(*said) == ["Joan can't do milk or cream at all, lactose intolerant."]


def test_an_announced_change_ends_the_plan_that_it_changes():
    plan, change = statements_of(
        "we want to paint the kitchen yellow", "P: Lovely.", "ok we changed our minds, kitchen is going to be dark green"
    )

    assert change.text == "Joan said: “kitchen is going to be dark green”"
    assert change.ended_statements == (plan.text,)


def test_a_fragment_that_answers_a_question_is_not_told_with_the_message_before():
    said = ("my laptop died halfway through my set on friday", "P: And what do you lift all day, glorbs?", "parcels")

    assert not any("parcels" in text and "laptop" in text for text in texts(*said))


def test_sentences_that_need_each_other_come_together():
    said = "the old skoda broke down again, on the m5 this time. its a 2009 octavia"

    assert texts(said) == [
        "Joan said on 10 March 2026: “the old skoda broke down again, on the m5 this time. its a 2009 octavia”"
    ]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("My divorce became final on Friday, and I'm feeling better already.", "on 6 March 2026"),
        ("I gave notice on Friday, and my last shift is on the thirtieth of April.", "on 6 March 2026"),
        ("I've signed up for the Victoria Marathon in October, my first full one.", "October 2026"),
        ("My grandad died four years ago last May, a stroke.", "in May 2022"),
        ("My dad retired from the bank this January, he is reorganising the kitchen.", "in January 2026"),
    ],
)
def test_each_time_is_past_or_to_come_as_its_own_clause_says(said: str, fact: str):
    assert any(fact in text for text in texts(said)), texts(said)


def test_an_intolerance_is_of_health_whatever_else_is_said():
    (fact,) = statements_of("i cant do milk or cream at all, lactose intolerant. a chef. i know")

    assert fact.kind is FactKind.HEALTH
