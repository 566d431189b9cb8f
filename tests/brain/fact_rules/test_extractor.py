"""Lasting statements are taken by rules and can be read alone; talk of the moment is left where it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.fact_guard.grounding import is_grounded
from lethe_app.brain.fact_rules.extractor import extract_statements
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


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("oh and i'm allergic to peanuts btw", "Tomas is allergic to peanuts."),
        ("My sister Ana lives in Lisbon, you know.", "Tomas's sister Ana lives in Lisbon."),
        ("I work as a nurse, it's tough.", "Tomas works as a nurse."),
        ("I'm 34", "Tomas is 34."),
        ("I don't eat meat", "Tomas doesn't eat meat."),
        ("My favourite book is “Middlemarch”.", "Tomas's favourite book is Middlemarch."),
        ("My grandmother, who raised me, died in 2019.", "Tomas's grandmother, who raised Tomas, died in 2019."),
        ("I can't swim.", "Tomas can't swim."),
        ("I go to the gym three times a week", "Tomas goes to the gym three times a week."),
        ("I've lived in Germany for eleven years", "Tomas has lived in Germany for eleven years."),
        ("We're getting married in June!", "Tomas is getting married in June 2025."),
        ("It's my birthday today!", "Tomas's birthday is on 11 March."),
        ("Last weekend I climbed Ben Nevis", "Tomas climbed Ben Nevis on the weekend of 8 March 2025."),
        ("We've been engaged since 2020", "Tomas has been engaged since 2020."),
        ("everyone calls me Tommy", "Everyone calls Tomas Tommy."),
        ("I stopped smoking in March", "Tomas stopped smoking in March 2025."),
        ("My sister Ines sails a boat called the Heron.", "Tomas's sister Ines sails a boat called the Heron."),
        ("My therapist's name is Dr. Okafor.", "Tomas's therapist's name is Dr. Okafor."),
        ("I broke up with Lena.", "Tomas broke up with Lena."),
        ("We moved to Leeds three years ago.", "Tomas moved to Leeds in 2022."),
        ("We have two kids, Emma and Paul.", "Tomas has two kids, Emma and Paul."),
        ("Our wedding is on 12 June.", "Tomas's wedding is on 12 June 2025."),
    ],
)
def test_lasting_statements_stand_alone_in_the_third_person(said: str, known: str):
    assert texts(user(said)) == [known]


def test_one_sentence_may_state_several_things():
    assert texts(user("I was born in Amman but grew up in Birmingham, and I teach maths.")) == [
        "Tomas was born in Amman.",
        "Tomas grew up in Birmingham.",
        "Tomas teaches maths.",
    ]


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("My sister Ana lives in Lisbon. She's a nurse.", "Tomas's sister Ana is a nurse."),
        ("My grandmother lives in Lisbon. She's ninety-one.", "Tomas's grandmother is ninety-one."),
        ("I have a niece. Her name is Ingrid, by the way.", "Tomas's niece's name is Ingrid."),
        ("My nan lives in Lisbon. I visit her every other Sunday.", "Tomas visits their nan every other Sunday."),
        (
            "The coat was my grandfather's. He was a lighthouse keeper on Skye.",
            "Tomas's grandfather was a lighthouse keeper on Skye.",
        ),
        ("My little brother's 17.", "Tomas's little brother is 17."),
        ("It was my aunt's house. She was a seamstress.", "Tomas's aunt was a seamstress."),
        ("My brother's girlfriend paints. She's from Brazil.", "Tomas's brother's girlfriend is from Brazil."),
        ("I'm restoring a dinghy. She's called Petronella.", "Tomas's dinghy is called Petronella."),
        ("I have a dinghy. The launch is on the fourteenth of June.", "The launch of Tomas's dinghy is on 14 June 2025."),
        ("I have an exam in May. The exam is on the twelfth of May.", "Tomas's exam is on 12 May 2025."),
        ("My ex is called Lukas. We split up in February.", "Tomas and their ex split up in February 2025."),
        ("We still share the dog. Bruno, a big stupid Newfoundland.", "Tomas's dog is called Bruno."),
        ("I work at a bakery. I started in March two years ago.", "Tomas started working at a bakery in March 2023."),
    ],
)
def test_a_pronoun_stands_for_the_only_one_it_can_mean(said: str, known: str):
    assert known in texts(user(said))


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("My sister and my aunt are late. She's a nurse.", ["Tomas said: “My sister and my aunt are late. She's a nurse.”"]),
        (
            "My sister's husband is late. My cousin is late. She's a nurse.",
            ["Tomas said: “My cousin is late. She's a nurse.”"],
        ),
        ("I told Anna about my sister. She's a nurse.", ["Tomas said: “I told Anna about my sister. She's a nurse.”"]),
        ("My boss called my sister. She's a nurse.", ["Tomas said: “My boss called my sister. She's a nurse.”"]),
        ("Imagine my sister as a queen. She's a nurse.", []),
        ("I saw the queen. She's a nurse.", ["Tomas said: “I saw the queen. She's a nurse.”"]),
        ("My brother called. She's a nurse.", ["Tomas said: “My brother called. She's a nurse.”"]),
        ("My wife and my ex met. We split up in February.", ["Tomas said: “We split up in February.”"]),
        ("The launch is on the fourteenth of June.", ["Tomas said: “The launch is on 14 June 2025.”"]),
        ("Sorry, my dog. Sorry, a long story.", []),
    ],
)
def test_a_pronoun_that_may_mean_several_or_nobody_stays_in_the_users_own_words(said: str, known: list[str]):
    assert [text for text in texts(user(said)) if not text.startswith("Tomas has a ")] == known


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


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("I ran my first marathon yesterday", "Tomas ran their first marathon on 10 March 2025."),
        ("I adopted a dog last week", "Tomas adopted a dog in the week of 3 March 2025."),
        ("My exam is on friday", "Tomas's exam is on 14 March 2025."),
        ("I'm moving to Porto in May", "Tomas is moving to Porto in May 2025."),
        ("I'm moving to Porto in February", "Tomas is moving to Porto in February 2026."),
        ("I quit smoking three months ago", "Tomas quit smoking in December 2024."),
        ("I have a dentist appointment tomorrow morning", "Tomas has a dentist appointment on the morning of 12 March 2025."),
        ("My sister got married last summer", "Tomas's sister got married in the summer of 2024."),
        ("next week I have my hearing with the director, on Friday", "Tomas has a hearing with the director on 21 March 2025."),
        ("next week I've got an audition, on friday, for a show", "Tomas has got an audition on 21 March 2025, for a show."),
        ("This weekend, on Sunday, I'm running a marathon", "Tomas is running a marathon on 16 March 2025."),
        ("I have an exam tomorrow at noon, Wednesday", "Tomas has an exam at noon on 12 March 2025."),
        ("Next month, on the third, I have an operation", "Tomas has an operation on 3 April 2025."),
        ("My wedding is next year in May", "Tomas's wedding is in May 2026."),
        ("My flight is on Friday the 28th", "Tomas's flight is on 28 March 2025."),
    ],
)
def test_dates_that_move_are_spelled_out(said: str, known: str):
    assert texts(user(said)) == [known]


@pytest.mark.parametrize("said", ["My exam is tomorrow, on Friday.", "I have an exam this weekend, on Tuesday."])
def test_a_date_that_contradicts_itself_is_quoted_with_the_day_it_was_said(said: str):
    assert texts(user(said)) == [f"Tomas said on 11 March 2025: “{said}”"]


@pytest.mark.parametrize(
    "said",
    [
        "Do I look like I live in Porto?",
        "If I live in Porto one day, I'll be happy",
        "I wish I had a dog",
        "maybe I'm a genius",
        "I'm tired",
        "I have a headache",
        "I have a question for you",
        "I love that idea!",
        "I love you",
        "*I'm wearing my red dress* hello",
        "“I am the king of Spain,” he says",
        "I walk to the window and look out.",
        "I could eat a horse",
        "I live there too",
        "I'm basically the queen of England",
        "I'm going to take a shower",
        "lol yes",
        "you are a terrible liar",
        "tell me a story",
        "My boss is such an idiot",
        "I am an AI, so I won't judge.",
        "```\nI live in Porto\n```",
        "Soy de Sevilla y tengo dos hermanos.",
        "Ich bin Lehrer und wohne in Berlin.",
        "I Promessi Sposi è un romanzo.",
        "",
    ],
)
def test_talk_of_the_moment_yields_nothing(said: str):
    assert texts(user(said)) == []


@pytest.mark.parametrize(
    ("question", "answer", "known"),
    [
        ("What's your cat called?", "Whiskers.", "Tomas's cat is called Whiskers."),
        ("And where do you live?", "In Lisbon", "Tomas lives in Lisbon."),
        ("What's your favourite film?", "The Third Man!", "Tomas's favourite film is The Third Man."),
        ("What do you do for a living?", "bus driver", "Tomas is a bus driver."),
        ("Do you have any siblings?", "two brothers", "Tomas has two brothers."),
        ("How old are you?", "34", "Tomas is 34."),
    ],
)
def test_a_question_and_its_short_answer_make_one_fact(question: str, answer: str, known: str):
    lines = [persona(question), user(answer)]

    (statement,) = extract_statements(lines)

    assert statement.text == known
    assert statement.message_ids == (lines[0].id, lines[1].id)


@pytest.mark.parametrize("answer", ["Guess!", "I don't know yet", "Why do you ask?", "lol yes", "not telling you"])
def test_an_evasive_answer_makes_none(answer: str):
    assert texts(persona("What's your cat called?"), user(answer)) == []


def test_his_name_is_understood_where_only_one_was_spoken_of():
    brother = user("My brother is a pilot.")

    assert "Tomas's brother is called Emil." in texts(brother, persona("What's his name?"), user("Emil"))
    assert texts(user("I'm here."), persona("What's his name?"), user("Emil")) == [
        "Asked “What's his name?”, Tomas said: “Emil”"
    ]


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


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("my moms a nurse", "Tomas's mom is a nurse."),
        ("ill be in berlin next week", "Tomas will be in berlin in the week of 17 March 2025."),
        ("i live in porto with my gf", "Tomas lives in Porto with their girlfriend."),
        ("dont like mushrooms tbh", "Tomas doesn't like mushrooms."),
        ("just moved to Leeds", "Tomas moved to Leeds."),
        ("gonna see my grandma on friday", "Tomas is going to see their grandma on 14 March 2025."),
        ("my cats name is luna", "Tomas's cat's name is Luna."),
        ("Been learning Dutch lately", "Tomas has been learning Dutch lately."),
        ("Married with two kids.", "Tomas is married with two kids."),
        ("been veggie since i was 15", "Tomas has been vegetarian since they were 15."),
        ("fave band is pulp", "Tomas's favourite band is pulp."),
        ("sister's a vet", "Tomas's sister is a vet."),
        ("best friend is called Jo", "Tomas's best friend is called Jo."),
        ("work as a nurse", "Tomas works as a nurse."),
        ("turning 30 in may", "Tomas is turning 30 in May 2025."),
    ],
)
def test_phone_spelling_and_omitted_subjects_are_read(said: str, known: str):
    assert known in texts(user(said))


@pytest.mark.parametrize(
    "said",
    ["just sat down w a brew", "Just had my breakfast", "I must go now", "been a long day", "work as a team and you win",
     "live in the moment", "cat is asleep on me", "best thing is a hot bath"],
)  # fmt: skip
def test_trifles_of_the_moment_are_no_facts(said: str):
    assert texts(user(said)) == []


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("can my dog eat grapes?", "Tomas has a dog."),
        ("hang out with my girlfriend today", "Tomas has a girlfriend."),
        ("Practised my violin, badly.", "Tomas has a violin."),
        ("As a nurse, I see that a lot.", "Tomas is a nurse."),
        ("My colleague Priya brought cake.", "Tomas's colleague is called Priya."),
        ("I was scared when my son broke his arm.", "Tomas's son broke his arm."),
    ],
)
def test_what_is_told_in_passing_is_a_fact(said: str, known: str):
    assert known in texts(user(said))


@pytest.mark.parametrize(
    ("question", "answer", "known"),
    [
        ("What do you do?", "Engineer, at Siemens.", ["Tomas is an engineer at Siemens."]),
        ("Are you married?", "yep", ["Tomas is married."]),
        ("Do you have any siblings?", "No", ["Tomas doesn't have any siblings."]),
        ("Do you have kids?", "Yes, two.", ["Tomas has two kids."]),
        ("When's your exam?", "On Friday", ["Tomas's exam is on 14 March 2025."]),
        ("What's your favourite game?", "Yep.", []),
        ("Do you play any instruments?", "Yeah, rock's awesome!", []),
    ],
)
def test_short_answers_say_what_was_asked_for_or_nothing(question: str, answer: str, known: list[str]):
    assert texts(persona(question), user(answer)) == known


@pytest.mark.parametrize(
    "said",
    [
        "I enjoy playing it occasionally",
        "I like shooting people",
        "Oh sure, I just love getting up at five",
        "My mother is tired",
        "I'm sick today",
        "I had a headache yesterday",
        "I think I might move to Oslo",
        "I dreamt I was a bird",
        "We talked about Oslo yesterday",
        "I've been playing for about four months",
        "Love can be so powerful",
        "I had three calls before noon",
    ],
)
def test_moods_irony_and_trifles_are_no_facts(said: str):
    assert texts(user(said)) == []


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
        "Tomas said: “maisies school play is on 11 December 2025, shes a sheep”",
        "Tomas has been vegetarian since they were 15.",
    ]
