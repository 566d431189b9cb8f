from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.prompt.macros import MacroContext, expand, unknown_macros

SCENE = MacroContext(
    user="Ben",
    char="Ada",
    moment=datetime(2026, 3, 22, 0, 5, tzinfo=UTC),
    seed=7,
    texts={
        "charbio": "{{char}} keeps a lighthouse. {{scenario}}",
        "userbio": "Ben sails.",
        "scenario": "A storm.",
        "examples": "- short",
        "selfedit": "",
    },
    idle=timedelta(hours=5),
    memory=lambda title: "The lamp failed in {{isodate}}." if "lamp" in title else None,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{user}} and {{CHAR}}", "Ben and Ada"),
        ("<USER> and <bot>", "Ben and Ada"),
        ("{{charbio}}", "Ada keeps a lighthouse. A storm."),
        ("{{description}} / {{persona}}", "Ada keeps a lighthouse. A storm. / Ben sails."),
        ("[{{selfedit}}]", "[]"),
        ("{{date}} {{time}} {{day}} {{weekday}}", "March 22nd, 2026 12:05 AM Sunday Sunday"),
        ("{{isodate}} {{isotime}}", "2026-03-22 00:05"),
        ("{{idle_duration}}", "5 hours"),
        ("a{{newline}}b", "a\nb"),
        ("a\n\n{{trim}}\nb", "ab"),
        ("a{{// do not read {this} }}b{{comment: c}}{{noop}}", "ab"),
        ("{{reverse:abc}}", "cba"),
        ("{{memory:the lamp}}", "The lamp failed in 2026-03-22."),
        ("{{random::only}}", "only"),
        ("{{random:{{user}}}}", "Ben"),
        ("{{roll:d1}}{{roll:1}}{{roll 3d1+4}}", "117"),
        ("{{ user }}", "Ben"),
    ],
)
def test_known_macros_are_filled_in(text: str, expected: str):
    assert expand(text, SCENE) == expected


@pytest.mark.parametrize(
    "text", ["{{unknown}}", "{{memory:no such}}", "{{roll:d0}}", "{{}}", "{ {user} }", "<users>", "{{setvar::a::{{b}}}}"]
)
def test_unknown_macros_stay_as_they_are(text: str):
    assert expand(text, SCENE) == text


def test_unknown_macros_can_be_listed():
    text = "{{user}} {{lastMessage}} {{getvar::x}} {{random:a,b}} {{lastMessage}} {{memory:x}} {{charbio}}"

    assert unknown_macros(text) == ["lastMessage", "getvar::x"]


def test_chance_is_the_same_for_the_same_session_and_differs_between_places():
    text = "{{random:a,b,c,d,e,f,g,h}} {{roll:1000}} " * 8

    assert expand(text, SCENE) == expand(text, SCENE)
    assert len(set(expand(text, SCENE).split())) > 4
    assert expand(text, SCENE) != expand(text, replace(SCENE, seed=8))


def test_a_pick_is_the_same_wherever_it_stands():
    first, second = expand("{{pick::a::b::c::d::e}} {{pick::a::b::c::d::e}}", SCENE).split()

    assert first == second


def test_commas_in_options_can_be_escaped():
    assert expand(r"{{random:a\,b}}", SCENE) == "a,b"


def test_texts_that_name_themselves_end():
    loop = replace(SCENE, texts={"charbio": "a {{charbio}} {{scenario}}", "scenario": "b {{charbio}}"})

    assert expand("{{charbio}}", loop).split() == ["a", "b"]


def test_texts_that_explode_stop_growing():
    bomb = {f: "{{" + g + "}}" * 1 + ("{{" + g + "}}") * 300 for f, g in [("charbio", "userbio"), ("userbio", "scenario")]}
    bomb["scenario"] = "x{{examples}}" * 300
    scene = replace(SCENE, texts={**bomb, "examples": "y" * 100})

    assert len(expand("{{charbio}}", scene)) < 3_000_000


def test_values_cannot_be_put_together_to_new_macros():
    scene = replace(SCENE, user="{{", char="char}}")

    assert expand("{{user}}{{char}}", scene) == "{{char}}"


@given(st.text("{}:, userchardm<>/\\\n", max_size=60))
def test_any_text_is_survived(text: str):
    expand(text, SCENE)
    unknown_macros(text)


@given(st.text(max_size=60).filter(lambda text: "{{" not in text and "<" not in text))
def test_text_without_macros_is_left_alone(text: str):
    assert expand(text, SCENE) == text
