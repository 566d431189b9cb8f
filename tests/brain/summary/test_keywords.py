"""What a conversation was about, in words its people used."""

from __future__ import annotations

import pytest

from lethe_app.brain.llm_schemas.archive import clean_title
from lethe_app.brain.summary.digest import build_digest
from lethe_app.brain.summary.titles import MAX_TITLE_LENGTH
from lethe_app.brain.text.utterance import Utterance
from tests.brain.conversations import KEEPER, PORTO, conversation


def title_of(lines: list[Utterance]) -> str:
    return build_digest(lines).title


def test_a_title_names_the_news_a_person_tells():
    assert title_of(PORTO) == "Moving to Porto in May"


def test_a_title_is_what_the_user_said_of_the_main_topic():
    lines = conversation(
        "Tomas: The ferry was late again this morning.",
        "Mira: Is the ferry always late?",
        "Tomas: Only when the old captain sails. My violin lesson starts at nine, and the violin is heavy.",
        "Mira: Then buy a smaller violin.",
    )

    assert title_of(lines) == "My violin lesson starts at nine"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remind me to call my mum on Friday.", "Remind me to call my mum on Friday"),
        ("Hello! Remember that my cat is called Plum.", "Remember that my cat is called Plum"),
        ("*waves* My cat Plum is ill.", "My cat Plum is ill"),
        ("灯台へ行く。", "灯台"),
    ],
)
def test_a_short_statement_is_the_title_instead_of_its_only_topic(text: str, expected: str):
    assert title_of(conversation(f"Tomas: {text}", "Mira: All right.")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I lost my grandmother last night.", "I lost my grandmother last night"),
        ("my sister ana is getting married in june", "My sister ana is getting married in june"),
        ("I quit my job! My boss was quite speechless.", "I quit my job"),
        ("I'm looking for a new flat in Bergen", "Looking for a new flat in Bergen"),
        ("Great news: I got a new job at the harbour!", "New job at the harbour"),
        ("Last night I joined a fantasy literature forum and I liked it", "I joined a fantasy literature forum"),
        ("The vet wants to do an ultrasound of my dog.", "The vet wants to do an ultrasound of my dog"),
    ],
)
def test_a_title_is_what_mattered_in_the_words_of_the_user(text: str, expected: str):
    assert title_of(conversation(f"Tomas: {text}")) == expected


def test_what_somebody_is_not_gives_no_title():
    assert (
        "nurse"
        not in title_of(conversation("Tomas: I'm not a nurse, I work with the surgeon Dr. Lang on a new robot.")).lower()
    )


def test_where_nothing_stands_out_the_title_is_how_the_user_began():
    lines = conversation("Mira: Yes?", "Tomas: so what do you think about it all then?")
    assert title_of(lines) == "So what do you think about it all then"


@pytest.mark.parametrize("lines", [PORTO, KEEPER])
def test_a_title_is_short_and_has_no_asterisks(lines):
    made = title_of(lines)

    assert len(made.split()) >= 2
    assert len(made) <= MAX_TITLE_LENGTH
    assert "*" not in made


def test_a_title_that_is_cut_ends_before_a_preposition_or_a_conjunction():
    made = title_of(conversation("Tomas: I moved the whole library of my uncle in Trieste to the cellar of a school."))

    assert made == "I moved the whole library of my uncle"


def test_a_title_is_never_what_only_the_persona_said():
    lines = conversation(
        "Tomas: What is new?", "Mira: My sister Ines got married in Graz.", "Tomas: Nice! I planted two apple trees today."
    )

    assert title_of(lines) == "I planted two apple trees today"


def test_keywords_keep_their_casing_and_are_neither_speakers_nor_filler():
    lines = conversation(
        "Tomas: Hey Mira, have you read Game of Thrones? Everyone says it's amazing.",
        "Mira: I love Game of Thrones, Tomas! And the LGBTQ reading group in Porto does too.",
        "Tomas: The reading group! Ana from Porto told me about the reading group, Mira.",
    )

    found = build_digest(lines).keywords

    assert {"reading group", "Game of Thrones", "Porto"} <= set(found)
    assert not {"Mira", "Tomas", "amazing", "everyone", "hey"} & {word for keyword in found for word in keyword.split()}


def test_there_are_four_to_six_keywords_where_there_is_enough_text():
    assert 4 <= len(build_digest(PORTO).keywords) <= 6
    assert 4 <= len(build_digest(KEEPER).keywords) <= 6


def test_a_short_form_of_a_speakers_name_is_no_topic():
    lines = conversation("Mira: Tom, the greenhouse is open, Tom!", "Tomas: The greenhouse?", "Mira: Yes, Tom, the greenhouse.")

    assert build_digest(lines).keywords == ("greenhouse",)


def test_one_topic_in_several_forms_is_named_once():
    lines = conversation(
        "Tomas: My game is done.", "Mira: The gaming club wants the game.", "Tomas: Two games, then. The club pays."
    )

    found = [keyword.lower() for keyword in build_digest(lines).keywords]

    assert sum("gam" in keyword for keyword in found) == 1


def test_shouted_words_are_no_names():
    lines = conversation("Tomas: THE LIGHTHOUSE IS ON FIRE", "Mira: Which lighthouse?")

    assert "lighthouse" in build_digest(lines).keywords


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("Tomas: 五月にポルトへ引っ越します。", "Mira: ポルトですか？", "Tomas: 仕事は辞めました。"), {"ポルト", "仕事"}),
        (("Tomas: 我五月份要搬到波尔图去了。", "Mira: 我们明天去看灯塔吧。", "Tomas: 好的，去灯塔。"), {"灯塔", "波尔图"}),
        (("Tomas: Ich ziehe nach Porto.", "Mira: Und die Prüfung?", "Tomas: Die Prüfung ist in Porto."), {"Porto", "Prüfung"}),
    ],
)
def test_other_languages_have_keywords_and_a_title(lines, expected):
    made = build_digest(conversation(*lines))

    assert expected <= set(made.keywords)
    assert any(word in made.title for word in expected)
    assert " and " not in made.title


def test_a_script_whose_words_cannot_be_told_apart_has_its_beginning_as_title():
    assert title_of(conversation("Tomas: ฉันจะย้ายไปปอร์โต", "Mira: จริงเหรอ")) == "ฉันจะย้ายไปปอร์โต"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Is it really?”", "Is it really"),
        ("“Good evening”, I say.", "“Good evening”, I say"),
        ("“And so it is as it was before you came here.”", "And so it is as it was before you came here"),
        ("“And so it is as it was before you came to all of this.”", "And so it is as it was before you came to all…"),
        ("'tis nothing", "'tis nothing"),
    ],
)
def test_the_beginning_of_a_message_keeps_quotation_marks_in_pairs(text: str, expected: str):
    assert title_of(conversation(f"Tomas: {text}")) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("“The Needle”.", "The Needle"),
        ("“The Needle” at night", "“The Needle” at night"),
        ("The “Heron”", "The “Heron”"),
        ('"Tea"', "Tea"),
    ],
)
def test_a_title_of_a_model_loses_only_the_quotation_marks_around_all_of_it(answer: str, expected: str):
    assert clean_title(answer) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is my sister's job, and where does she live?", "What is my sister's job, and where does she live"),
        ("Do you remember me? What do you remember?", "Do you remember me"),
        ("What does she do for a living? I forgot what it was.", "What does she do for a living"),
        ("Well, what do you make of it, when all of it is as it was?", "Well, what do you make of it…"),
    ],
)
def test_the_beginning_of_a_message_ends_with_a_sentence_a_clause_or_a_whole_word(text: str, expected: str):
    assert title_of(conversation(f"Tomas: {text}")) == expected
