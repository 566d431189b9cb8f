"""What people say of themselves is read from dictated, dialect, learners' and phone English, and jokes are left out."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from lethe_app.brain.run_on import clauses_of
from lethe_app.brain.said import Said
from lethe_app.brain.statements import Statement, extract
from lethe_app.brain.varieties import standard
from lethe_app.domain.chat import Role
from lethe_app.domain.facts import FactKind

TUESDAY = datetime(2026, 11, 10, 19, 0, tzinfo=UTC)


def statements(text: str) -> list[Statement]:
    return extract([Said(uuid4(), Role.USER, "Tomas", text, TUESDAY)])


def texts(text: str) -> list[str]:
    return [statement.text for statement in statements(text)]


@pytest.mark.parametrize(
    ("said", "clauses"),
    [
        (
            "I play the fiddle in a ceilidh band we play weddings mostly",
            ["I play the fiddle in a ceilidh band.", "we play weddings mostly"],
        ),
        ("I live near the harbour do you know it?", ["I live near the harbour.", "do you know it?"]),
        ("honestly the school I went to was in Leeds", ["honestly the school I went to was in Leeds"]),
        ("my gran always told me I was born in the car", ["my gran always told me I was born in the car"]),
        ("if I had a dog I would call it Rex", ["if I had a dog I would call it Rex"]),
        ("I fell on the stairs and broke my left wrist badly", ["I fell on the stairs and broke my left wrist badly"]),
    ],
)
def test_a_run_on_sentence_is_cut_where_a_clause_begins_and_nowhere_else(said: str, clauses: list[str]):
    assert clauses_of(said) == clauses


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("I am having 2 sisters", "I have 2 sisters"),
        ("I work like waiter", "I work as a waiter"),
        ("I live since three years in Berlin", "I have lived in Berlin for three years"),
        ("Since 2019 live I in Graz", "I have lived in Graz since 2019"),
        ("we moved in oh nine", "we moved in 2009"),
        ("it happened on the third of december", "it happened on 3 December"),
        ("going there 28.3. with a friend", "going there on 28 March with a friend"),
        ("version 12.40. is out", "version 12.40. is out"),
    ],
)
def test_varieties_of_english_become_standard(said: str, plain: str):
    assert standard(said) == plain


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("so I haul logs for Pine Ridge been with em nine years and my back is shot", "Tomas's back is shot."),
        ("I am electrician in a big factory", "Tomas is an electrician in a big factory."),
        ("I have 34 years", "Tomas is 34."),
        ("we live in a wee flat in Leith and i cannae stand the stairs", "Tomas can't stand the stairs."),
        ("I used to live in Leeds, now I'm in York", "Tomas lives in York."),
        ("i run the night shift at a depot, well used to", "Tomas used to run the night shift at a depot."),
        ("I've been learning the accordion since september", "Tomas has been learning the accordion since September 2026."),
        ("my surgery is scheduled for the 2nd of february", "Tomas's surgery is scheduled for 2 February 2027."),
        ("i'm on the late shift from monday", "Tomas is on the late shift from 16 November 2026."),
        ("I'm not religious", "Tomas is not religious."),
        ("I'm on blood thinners", "Tomas is on blood thinners."),
        ("im lactose intolerant which as a baker is hilarious", "Tomas is lactose intolerant."),
        ("I passed it 😂 i live in Hull now", "Tomas lives in Hull."),
    ],
)
def test_what_is_said_in_any_variety_is_known(said: str, known: str):
    assert known in texts(said)


@pytest.mark.parametrize(
    "said",
    [
        "my boss thinks I'm a robot",
        "I'm allergic to mondays",
        "i almost bought a motorbike",
        "I nearly moved to Spain",
        "I live in my pyjamas",
        "I am going to apply",
        "I had 11 kids in the flat on saturday",
        "I was going to open a bakery",
        "we ring on saturdays",
        "I am trying not to gloat about the prize in Vienna",
    ],
)
def test_jokes_near_misses_and_lost_objects_are_no_facts(said: str):
    assert texts(said) == []


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("my wife is a speech therapist", FactKind.PEOPLE),
        ("I'm in a book club with my neighbours", FactKind.TASTE),
        ("I'm on the night shift", FactKind.WORK),
        ("I was a nurse for thirty years", FactKind.WORK),
        ("my knees are bad", FactKind.HEALTH),
        ("I get migraines", FactKind.HEALTH),
    ],
)
def test_a_statement_has_the_kind_of_what_it_is_about(said: str, kind: FactKind):
    assert [statement.kind for statement in statements(said)] == [kind]


def test_living_alone_does_not_replace_where_one_lives():
    assert [statement.key for statement in statements("I live alone. I live in Hull.")] == ["household", "home"]


@pytest.mark.parametrize(
    ("said", "in_story"),
    [
        ("*bows* “I am the lost prince!” ...and im allergic to nuts", False),
        ("*grins* “You will never catch me!” haha ok brb. my shift starts at 6", False),
        ("*bows* “I am the lost prince, and I am allergic to nuts!”", True),
    ],
)
def test_what_follows_a_played_speech_as_a_chat_is_typed_is_no_part_of_the_story(said: str, in_story: bool):
    assert all(statement.in_story is in_story for statement in statements(said))
    assert bool(statements(said)) or in_story
