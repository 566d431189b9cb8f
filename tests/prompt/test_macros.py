from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.prompt.macros import MACROS, TEXTS, VALUES, MacroContext, expand, expand_greetings, unknown_macros
from lethe_app.prompt.variables import Variables

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
    "text", ["{{unknown}}", "{{memory:no such}}", "{{roll:d0}}", "{{}}", "{ {user} }", "<users>", "{{foo::{{b}}}}", "{{/if}}"]
)
def test_unknown_macros_stay_as_they_are(text: str):
    assert expand(text, SCENE) == text


CARD = replace(
    SCENE,
    texts=SCENE.texts | {"personality": "Dry.", "charprompt": "Be {{char}}.", "chardepthprompt": "", "charversion": "2.1"},
    values={"lastmessage": "{{char}} <user>", "lastmessageid": "4", "notchar": "Cleo, Ben", "model": "tiny.gguf"},
    greetings=["Hello {{user}}.", "Ahoy."],
    outlets={"harbour": "{{char}} knows the harbour."},
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{charDescription}}", "Ada keeps a lighthouse. A storm."),
        ("{{personality}} {{charPersonality}}", "Dry. Dry."),
        ("{{charScenario}}/{{mesExamplesRaw}}", "A storm./- short"),
        ("{{charPrompt}}{{charInstruction}}{{charJailbreak}}{{charDepthPrompt}}{{original}}", "Be Ada."),
        ("{{greeting}} {{charFirstMessage::1}}{{greeting::7}}", "Hello Ben. Ahoy."),
        ("{{charVersion}} {{char_version}}{{creatorNotes}}", "2.1 2.1"),
        ("{{lastMessage}} {{lastMessageId}} {{notChar}}{{lastUserMessage}}", "{{char}} <user> 4 Cleo, Ben"),
        ("{{group}} {{charIfNotGroup}} <GROUP>", "Ada Ada Ada"),
        ("{{model}}{{maxPrompt}}{{input}} {{isMobile}}", "tiny.gguf false"),
        ("{{idleDuration}}", "5 hours"),
        ("{{time_UTC+2}} {{time::UTC-1}}", "02:05 AM 11:05 PM"),
        ("{{datetimeformat::YYYY-MM-DD HH:mm:ss}}", "2026-03-22 00:05:00"),
        ("{{datetimeformat dddd, Do MMMM [at] h A}}", "Sunday, 22nd March at 12 AM"),
        (
            "{{datetimeformat::LLLL}} {{datetimeformat::ll l LT}}",
            "Sunday, March 22, 2026 12:05 AM Mar 22, 2026 3/22/2026 12:05 AM",
        ),
        ("{{timeDiff::2023-01-01 15:00:00::2023-01-01 12:00:00}}", "in 3 hours"),
        ("a{{newline::2}}b{{space::3}}c", "a\n\nb   c"),
        ('{{outlet::harbour}}{{outlet::none}}{{banned "delve"}}', "Ada knows the harbour."),
        ("{{trim}}\n  x {{user}}\n{{/trim}}!", "x Ben!"),
        ("a {{//}} two\nlines {{user}} {{///}}b", "a b"),
        (r"\{\{user\}\} {{{user}}}", "{{user}} {Ben}"),
        ("{{if personality}}\n  # P\n    {{personality}}\n{{else}}none{{/if}}", "# P\n  Dry."),
        ("{{if !personality}}a{{else}}b{{if chardepthprompt}}c{{else}}d{{/if}}e{{/if}}", "bde"),
        ("{{if {{getvar::no}}}}a{{/if}}{{if 0}}b{{/if}}{{if off}}c{{/if}}{{if yes}}d{{/if}}", "d"),
        ("{{if::1::yes {{user}}}}{{if {{user}}::x}}", "yes Benx"),
        ("{{#if 1}} a {{/if}}", " a "),
        ("{{if $open}}a{{else}}b{{/if}}{{if .x}}c{{/if}}", "b"),
        ("{{if a}}{{setvar::x::1}}{{else}}{{setvar::x::2}}{{/if}}{{getvar::x}}", "1"),
    ],
)
def test_macros_of_sillytavern_are_filled_in(text: str, expected: str):
    assert expand(text, replace(CARD, variables=Variables())) == expected
    assert not unknown_macros(text)


@pytest.mark.parametrize(
    ("text", "expected", "local"),
    [
        ("{{setvar::a::{{user}}!}}{{getvar::a}}", "Ben!", {"a": "Ben!"}),
        ("{{setvar :: a :: 1 }}{{ addvar::a::2 }}{{getvar a}}", "3", {"a": "3"}),
        ("{{incvar::a}}{{incvar::a}}{{decvar::a}}", "121", {"a": "1"}),
        ("{{addvar::t::x}}{{addvar::t::y}}{{getvar::t}}", "xy", {"t": "xy"}),
        ('{{setvar::l::["a"]}}{{addvar::l::b}}{{getvar::l}}', '["a", "b"]', {"l": '["a", "b"]'}),
        ("{{setvar x}}\n  two\n  lines\n{{/setvar}}{{getvar::x}}", "two\nlines", {"x": "two\nlines"}),
        ("{{hasvar::a}}{{varexists::a}}{{setvar::a::}}{{hasvar::a}}{{flushvar::a}}", "falsefalsetrue", {}),
        ("{{.a = 5}}{{.a += 1.5}}{{.a++}}{{.a--}}{{.a}}", "7.56.56.5", {"a": "6.5"}),
        ("{{.a -= 2}}{{.a}} {{.b || none}} {{.b ?? x}} {{.b ??= y}} {{.b ||= z}}", "-2 none x y y", {"a": "-2", "b": "y"}),
        (
            "{{.a = 3}}{{.a == 3}} {{.a != 3}} {{.a > 2}} {{.a >= 4}} {{.a < x}} {{.a<=3}}",
            "true false true false false true",
            {"a": "3"},
        ),
        ("{{getvar::{{char}}_mood}}{{setvar::{{char}}_mood::calm}}{{.Ada_mood}}", "calm", {"Ada_mood": "calm"}),
        ("{{setglobalvar::a::1}}{{incglobalvar::a}}{{$a}}{{getvar::a}}{{$a += 3}}{{getglobalvar::a}}", "225", {}),
        ("{{if {{.hp > 0}}}}alive{{else}}dead{{/if}}", "dead", {}),
        ("{{setvar::a::1}}{{if .a}}yes{{/if}}", "yes", {"a": "1"}),
    ],
)
def test_variables_are_set_and_read(text: str, expected: str, local: dict[str, str]):
    variables = Variables()

    assert expand(text, replace(SCENE, variables=variables)) == expected
    assert variables.local == local
    assert not unknown_macros(text)


def test_the_list_of_macros_in_the_documentation_is_true():
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8").partition("## Macros")[2]
    named = set(re.findall(r"\{\{#?([$.]|//|\w+)", text.partition("## ")[0].casefold()))

    assert not unknown_macros(text.partition("- **Names")[2].replace("…", ""))
    assert {*MACROS, *TEXTS, *VALUES} <= named


def test_inserted_values_are_never_split_or_expanded_again():
    scene = replace(
        SCENE, user="a::b, {{char}} <bot> {{trim}}\n", texts={"charbio": "x,y::z {{setvar::v::{{user}}}}{{getvar::v}}"}
    )
    value = scene.user

    assert expand("{{random::{{user}}::{{user}}}}", scene) == value.strip()
    assert expand("{{pick:{{user}},{{user}}}}", scene) == value.strip()
    assert expand("{{setvar::x::{{user}}}}{{getvar::x}}", replace(scene, variables=Variables())) == value.strip()
    assert expand("{{charbio}}", scene) == f"x,y::z {value.strip()}"
    assert expand("<user>{{reverse::{{user}}}}", scene) == value + value.strip()[::-1]
    assert expand("{{if {{user}}}}{{user}}{{/if}}", replace(scene, user="!false")) == "!false"


def test_unknown_macros_never_reach_a_greeting():
    greetings = ["Hi{{foo}} {{user}}{{bar::{{char}}}}, {{baz}}well{{/baz}}{{/if}}.", "{{incvar::n}}", "{{incvar::n}}"]
    variables = Variables(local={"n": "4"})

    expanded = expand_greetings(greetings, replace(SCENE, variables=variables))

    assert [text for text, _ in expanded] == ["Hi Ben, well.", "5", "5"]
    assert [after.local["n"] for _, after in expanded] == ["4", "5", "5"]
    assert variables.local == {"n": "4"}


def test_what_an_unknown_macro_contains_is_expanded():
    assert expand("{{foo::{{user}}}} {{foo}}{{char}}{{/foo}}", SCENE) == "{{foo::Ben}} {{foo}}Ada{{/foo}}"


@pytest.mark.parametrize("piece", ["{{", "{{if a}}", "{{setvar::x::", "{{random:", "{{.x = ", "{{if a}}{{foo}}", "{{//}}"])
def test_deep_nesting_is_survived(piece: str):
    end = "}}{{/if}}{{/foo}}"
    for text in (piece * 3000, piece * 3000 + end * 3000, (piece + "b" + end) * 500):
        expand(text, SCENE)
        unknown_macros(text)


def test_a_variable_does_not_grow_without_end():
    text = "{{setvar::x::abcdefgh}}" + "{{setvar::x::{{getvar::x}}{{getvar::x}}}}" * 60

    assert len(expand(text + "{{getvar::x}}", SCENE)) <= 20_000


def test_unknown_macros_can_be_listed():
    text = "{{user}} {{lastMassage}} {{if x}}{{gettvar::x}}{{else}}{{random:a,{{b}}}}{{/if}} {{lastMassage}} {{memory:x}}"

    assert unknown_macros(text) == ["lastMassage", "gettvar::x", "b"]


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
