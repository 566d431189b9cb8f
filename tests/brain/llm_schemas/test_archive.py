"""What models answer, and what is made of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.llm_schemas.archive import (
    ConfirmationAnswer,
    FactRelationAnswer,
    FactsAnswer,
    GoalsAnswer,
    KeywordsAnswer,
    LlmAnswer,
    LongSummaryAnswer,
    MomentsAnswer,
    MoodChangeAnswer,
    RelevanceAnswer,
    RoleplayAnswer,
    SummaryAnswer,
    TitleAnswer,
    clean_answer_text,
    is_self_contained,
)
from lethe_app.domain.facts import FactKind
from lethe_app.errors import ModelError
from lethe_app.llm.engines.llama_sampling import grammar_from_schema
from lethe_app.prompt.task_prompts import TaskKind, TaskPrompts

KINDS: dict[TaskKind, type[LlmAnswer]] = {
    TaskKind.TITLE: TitleAnswer,
    TaskKind.SUMMARY: SummaryAnswer,
    TaskKind.MERGE: SummaryAnswer,
    TaskKind.KEYWORDS: KeywordsAnswer,
    TaskKind.GOALS: GoalsAnswer,
    TaskKind.RELEVANCE: RelevanceAnswer,
    TaskKind.ROLEPLAY: RoleplayAnswer,
    TaskKind.FACTS: FactsAnswer,
    TaskKind.CONFIRM: ConfirmationAnswer,
    TaskKind.SETTLE: FactRelationAnswer,
    TaskKind.MOOD: MoodChangeAnswer,
    TaskKind.RECAP: SummaryAnswer,
    TaskKind.MOMENTS: MomentsAnswer,
}


@pytest.mark.parametrize("task", TaskKind)
def test_the_worked_examples_are_answers_we_would_take_as_they_are(task: TaskKind):
    for _question, answer in TaskPrompts(Path(__file__).parents[3] / "resources" / "prompts").load_prompt(task).examples:
        assert KINDS[task].parse(answer).model_dump() == json.loads(answer)


@pytest.mark.parametrize("kind", [*dict.fromkeys(KINDS.values()), LongSummaryAnswer], ids=lambda kind: kind.__name__)
def test_every_schema_becomes_a_grammar(kind: type[LlmAnswer]):
    assert "root ::=" in grammar_from_schema(kind.schema_text())


def test_what_is_no_schema_becomes_no_grammar():
    with pytest.raises(ModelError):
        grammar_from_schema('{"type": "unheard-of"}')


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Certainly! Here is the title: A green boat", "A green boat"),
        ("Sure thing, here's a summary of the conversation: Tomas came late.", "Tomas came late."),
        ("In this conversation, the boat was painted.", "The boat was painted."),
        ("Summary: it rained.", "It rained."),
        ("```json\nIt rained.\n```", "It rained."),
        ("- **Tomas** came late.", "Tomas came late."),
        ("Of course Tomas came late.", "Of course Tomas came late."),
        ("Here lies the boat.", "Here lies the boat."),
        ("eBay was mentioned.", "eBay was mentioned."),
    ],
)
def test_preambles_and_markup_are_taken_away_and_nothing_else(said: str, meant: str):
    assert clean_answer_text(said) == meant


@given(st.text())
def test_tidying_adds_nothing_and_leaves_one_line(text: str):
    once = clean_answer_text(text)

    assert len(once) <= len(text)
    assert "\n" not in once


def test_an_object_is_found_between_fences_and_pleasantries():
    assert (
        TitleAnswer.parse('Sure!\n```json\n{"title": "\\"The green boat.\\""}\n```\nAnything else?').title == "The green boat"
    )


@pytest.mark.parametrize("text", ["", "no object", "{", '{"title": ""}', '{"title": "Certainly!"}', '{"name": "x"}', "[1]"])
def test_useless_answers_are_refused(text: str):
    with pytest.raises(ValueError):
        TitleAnswer.parse(text)


def test_a_sentence_broken_off_is_left_out():
    long = "Tomas came much too late. " * 2 + "He had walked " + "on and " * 200

    assert SummaryAnswer.parse(json.dumps({"paragraphs": [long[:700]]})).text == "Tomas came much too late."


def test_a_sentence_that_lacks_its_full_stop_gets_it():
    answer = SummaryAnswer.parse('{"paragraphs": ["Tomas came much too late. Mira waited"]}')

    assert answer.text == "Tomas came much too late. Mira waited."


GOOD_FACT = {"line": 1, "quote": "I keep bees", "about": "Tomas", "kind": "work", "fact": "Tomas keeps bees.", "changes": 0}


@pytest.mark.parametrize(
    "bad",
    [
        GOOD_FACT | {"fact": ("Tomas does not " + "ever " * 80)[:200]},
        GOOD_FACT | {"fact": "Tomas keeps " + "many " * 60 + "bees."},
        GOOD_FACT | {"line": 0},
        GOOD_FACT | {"quote": ""},
        {"line": 2, "fact": "Tomas keeps wasps."},
        "Tomas keeps bees.",
        None,
    ],
)
def test_one_fact_that_cannot_be_used_spoils_no_other(bad: object):
    answer = FactsAnswer.parse(json.dumps({"facts": [bad, GOOD_FACT]}))

    assert [fact.fact for fact in answer.facts] == ["Tomas keeps bees."]
    with pytest.raises(ValueError, match="can be used"):
        FactsAnswer.parse(json.dumps({"facts": [bad]}))


def test_a_list_that_ran_out_of_tokens_keeps_the_facts_that_are_whole():
    text = json.dumps({"facts": [GOOD_FACT, GOOD_FACT | {"fact": "Tomas keeps wasps."}]})

    assert [fact.fact for fact in FactsAnswer.parse(text[:-20]).facts] == ["Tomas keeps bees."]


def test_more_facts_than_allowed_are_cut_and_an_unknown_kind_is_other():
    answer = FactsAnswer.parse(json.dumps({"facts": [GOOD_FACT | {"kind": "bees"}] * 12}))

    assert [fact.kind for fact in answer.facts] == [FactKind.OTHER] * 8


def test_a_plan_too_long_is_left_out():
    assert GoalsAnswer.parse(json.dumps({"goals": ["Tomas will " + "walk and " * 40, "Tomas will bring bread."]})).goals == [
        "Tomas will bring bread."
    ]


def test_a_summary_that_ran_out_of_tokens_is_kept_as_far_as_it_came():
    assert SummaryAnswer.parse('{"paragraphs": ["Tomas came much too late. He had').text == "Tomas came much too late."
    with pytest.raises(ValueError):
        FactsAnswer.parse('{"facts": [{"line": 1, "fact": "Tomas doesn')


def test_a_summary_says_nothing_twice_and_one_that_goes_round_in_circles_is_refused():
    once = SummaryAnswer.parse('{"paragraphs": ["Tomas came late. Mira waited. Tomas came late."]}')

    assert once.text == "Tomas came late. Mira waited."
    with pytest.raises(ValueError, match="repeats"):
        SummaryAnswer.parse(json.dumps({"paragraphs": ["Tomas came late. " + "She is a baker. " * 5]}))
    with pytest.raises(ValueError, match="repeats"):
        SummaryAnswer.parse(json.dumps({"paragraphs": ["Tomas came late. " + "She is a baker." * 5]}))


def test_lines_broken_inside_a_string_are_no_trouble():
    assert SummaryAnswer.parse('{"paragraphs": ["Tomas came late.\nMira waited."]}').text == "Tomas came late. Mira waited."


def test_keywords_are_distinct_and_enough():
    assert KeywordsAnswer.parse('{"keywords": ["boat", "Boat", "rope", "tide", "Luis"]}').keywords == [
        "boat",
        "rope",
        "tide",
        "Luis",
    ]
    with pytest.raises(ValueError, match="too few"):
        KeywordsAnswer.parse('{"keywords": ["boat", "Boat", "BOAT", "rope"]}')


@pytest.mark.parametrize(("felt", "stars"), [(1, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 3), (8, 4), (9, 4), (10, 5)])
def test_relevance_is_brought_down_to_five_steps(felt: int, stars: int):
    assert RelevanceAnswer.parse(json.dumps({"relevance": felt})).stars == stars


def test_a_fact_is_one_sentence():
    answer = FactsAnswer.parse(json.dumps({"facts": [GOOD_FACT | {"fact": "Tomas met Dr. Vale in Leeds. He liked her"}]}))

    assert answer.facts[0].fact == "Tomas met Dr. Vale in Leeds."


@pytest.mark.parametrize(
    ("fact", "alone"),
    [
        ("Tomas can't swim.", True),
        ("Ada and Rosa turned five in spring.", True),
        ("Tomas moved to the US.", True),
        ("I can't swim.", False),
        ("Tomas is my brother.", False),
        ("She lives in Leeds.", False),
        ("That is where Tomas lives.", False),
        ("Tomas likes you.", False),
        ("The chair would have been warm.", False),
        ("Andrea keeps bees.", True),
    ],
)
def test_a_fact_stands_alone_only_if_it_names_whom_it_is_about(fact: str, alone: bool):
    assert is_self_contained(fact) is alone
