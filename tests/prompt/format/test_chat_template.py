from __future__ import annotations

import resource
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import TemplateUnusable
from lethe_app.prompt.format.chat_template import ChatTemplate
from lethe_app.prompt.format.constraints import SCENE_GOES_ON, SCENE_START
from tests.prompt import templates
from tests.sweep import examples

MOMENT = datetime(2026, 3, 1, 20, 15, tzinfo=UTC)
SYSTEM = PromptTurn("system", "You are Ada.")
HELLO = PromptTurn("user", "Hello.")
REPLY = PromptTurn("assistant", "Good evening.")
AGAIN = PromptTurn("user", "And now?")
NOTE = PromptTurn("system", "Ada remembers the lighthouse.")


def template(source: str) -> ChatTemplate:
    return ChatTemplate(source, moment=MOMENT, bos="<s>", eos="</s>")


def own_template(model: Path) -> str:
    """The chat template in a GGUF's header: its key, a type number, its length, its text."""
    with model.open("rb") as file:
        header = file.read(8_000_000)
    place = header.index(b"tokenizer.chat_template") + len(b"tokenizer.chat_template") + 4
    length = int.from_bytes(header[place : place + 8], "little")
    return header[place + 8 : place + 8 + length].decode()


LOADED = {name: template(source) for name, source in templates.FRIENDLY.items()}


@pytest.mark.parametrize("source", templates.HOSTILE.values(), ids=templates.HOSTILE.keys())
def test_a_hostile_template_ends_soon_and_takes_little_memory(source: str):
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()

    with pytest.raises(TemplateUnusable):
        ChatTemplate(source, moment=MOMENT, seconds=0.3)

    assert time.process_time() - start < 1.8
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 400_000


def test_a_template_that_turns_hostile_later_is_stopped_too():
    source = (
        "{% if messages | length > 9 %}{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}{% endif %}"
        + templates.CHATML
    )

    chat = template(source)

    with pytest.raises(TemplateUnusable, match="seconds"):
        chat.render([HELLO, REPLY] * 6)


def test_the_starter_models_own_template_is_understood(starter_model):
    chat = ChatTemplate(own_template(starter_model), moment=MOMENT)

    assert chat.probed.constraints.system
    assert chat.probed.constraints.assistant_first
    assert "SmolLM" not in chat.render([HELLO])
    assert chat.render([SYSTEM, HELLO]) == (
        "<|im_start|>system\nYou are Ada.<|im_end|>\n<|im_start|>user\nHello.<|im_end|>\n<|im_start|>assistant\n"
    )


def test_what_a_lenient_template_accepts_is_left_as_it_is():
    text = LOADED["chatml"].render([SYSTEM, REPLY, HELLO, NOTE, AGAIN])

    roles = ["system", "assistant", "user", "system", "user", "assistant"]
    assert [line.split("\n")[0] for line in text.split("<|im_start|>")[1:]] == roles
    assert SCENE_START not in text


def test_a_refused_system_role_is_merged_into_the_first_question():
    text = LOADED["no system"].render([SYSTEM, HELLO])

    assert text == "<s><start_of_turn>user\nYou are Ada.\n\nHello.<end_of_turn>\n<start_of_turn>model\n"


def test_a_system_text_that_would_move_is_merged_instead():
    text = LOADED["strict"].render([SYSTEM, HELLO, REPLY, AGAIN])

    assert text == "<s>[INST] You are Ada.\n\nHello.[/INST] Good evening.</s>[INST] And now?[/INST]"


def test_a_greeting_first_gets_an_opening_only_where_it_is_demanded():
    lone = LOADED["strict"].render([REPLY, HELLO])
    merged = LOADED["strict"].render([SYSTEM, REPLY, HELLO])

    assert lone == f"<s>[INST] {SCENE_START}[/INST] Good evening.</s>[INST] Hello.[/INST]"
    assert merged == "<s>[INST] You are Ada.[/INST] Good evening.</s>[INST] Hello.[/INST]"
    assert SCENE_START not in LOADED["thinks"].render([SYSTEM, REPLY, HELLO])
    assert SCENE_START in LOADED["demands user"].render([SYSTEM, REPLY])


def test_a_note_in_the_middle_becomes_the_users_where_system_is_refused_or_hoisted():
    strict = LOADED["strict"].render([HELLO, REPLY, NOTE, AGAIN])
    hoisting = LOADED["thinks"].render([SYSTEM, HELLO, REPLY, NOTE, AGAIN])

    assert strict.endswith("[INST] [Ada remembers the lighthouse.]\n\nAnd now?[/INST]")
    assert hoisting.startswith("<s>You are Ada.<|User|>Hello.")
    assert "<|User|>[Ada remembers the lighthouse.]<|User|>And now?" in hoisting


def test_neighbours_of_one_role_are_joined_with_a_blank_line():
    text = LOADED["no system"].render([HELLO, AGAIN])

    assert "Hello.\n\nAnd now?<end_of_turn>" in text


def test_the_persona_can_speak_twice_where_roles_must_alternate():
    text = LOADED["strict"].render([HELLO, REPLY])

    assert text.endswith(f"[INST] {SCENE_GOES_ON}[/INST]")


@pytest.mark.parametrize("name", LOADED)
def test_a_reply_can_be_continued(name: str):
    text = LOADED[name].render([SYSTEM, HELLO, PromptTurn("assistant", "Once upon ")], continue_last=True)

    assert text.endswith("Once upon ")
    assert "You are Ada." in text


def test_thinking_is_switched_and_an_open_thought_closed():
    assert LOADED["thinks"].render([HELLO]).endswith("<|Assistant|><think>\n")
    assert LOADED["thinks"].render([HELLO], thinking=False).endswith("<think>\n\n</think>\n\n")
    assert LOADED["switches"].render([HELLO]).endswith("<|turn>model\n")
    assert LOADED["switches"].render([HELLO], thinking=False).endswith("<|channel>thought\n<channel|>")
    assert (LOADED["switches"].thinking_start, LOADED["switches"].thinking_end) == ("<|channel>thought", "<channel|>")


@pytest.mark.parametrize(
    ("name", "stops"),
    [
        ("chatml", ("<|im_end|>", "<|im_start|>user")),
        ("no system", ("<end_of_turn>", "<start_of_turn>user")),
        ("strict", ("</s>", "[INST]")),
        ("thinks", ("<|end_of_sentence|>", "<|User|>")),
    ],
)
def test_the_end_of_a_turn_is_discovered(name: str, stops: tuple[str, ...]):
    assert LOADED[name].stop_strings == stops


def test_an_invented_system_text_is_silenced():
    assert "helpful machine" in templates.INVENTS_SYSTEM
    assert "helpful machine" not in LOADED["invents system"].render([HELLO])


def test_bos_is_not_spelled_where_the_tokenizer_adds_it():
    chat = ChatTemplate(templates.NO_SYSTEM, moment=MOMENT, bos="<s>", adds_bos=True)

    assert chat.render([HELLO]).startswith("<start_of_turn>")


def test_what_usual_templates_use_is_there():
    source = (
        "{% set ns = namespace(n=0) %}{% for message in messages %}{% if message.role == 'tool' %}{% continue %}{% endif %}"
        "{% generation %}{{ message.role.upper() ~ ': ' ~ message['content'] | tojson }}\n{% endgeneration %}"
        "{% set ns.n = ns.n + 1 %}{% endfor %}{{ strftime_now('%d %b %Y') }} {{ ns.n }}"
        "{% if tools %}{{ tools | tojson(indent=4) | indent(2) }}{% endif %}"
    )

    text = template(source).render([PromptTurn("user", "a <b> & 'ü'")])

    assert text == "USER: \"a <b> & 'ü'\"\n01 Mar 2026 1"


characters = st.characters(codec="utf-8", exclude_categories=("Cs", "Co"))
contents = st.text(characters, min_size=1, max_size=20).filter(lambda text: text.strip() == text)
conversations = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), contents), min_size=1, max_size=8)


@pytest.mark.parametrize("name", [name for name in LOADED if name != "demands user"])
@given(conversation=conversations)
@settings(max_examples=examples(40))
def test_appending_turns_changes_nothing_before_them(name: str, conversation: list[tuple[str, str]]):
    chat = LOADED[name]
    turns = [SYSTEM, *(PromptTurn(role, content) for role, content in conversation)]
    spoken = [place for place, turn in enumerate(turns) if turn.role == "assistant"]

    whole = chat.render([*turns, PromptTurn("user", "?"), PromptTurn("assistant", "!")], continue_last=True)

    for place in spoken:
        part = chat.render(turns[: place + 1], continue_last=True)
        assert whole.startswith(part)


@pytest.mark.parametrize("name", LOADED)
@given(conversation=conversations, thinking=st.booleans())
@settings(max_examples=examples(40))
def test_no_word_is_lost_and_nothing_is_refused(name: str, conversation: list[tuple[str, str]], thinking: bool):
    turns = [PromptTurn(role, content.replace("</think>", "")) for role, content in conversation]

    text = LOADED[name].render(turns, thinking=thinking)

    assert all(turn.content in text for turn in turns)
