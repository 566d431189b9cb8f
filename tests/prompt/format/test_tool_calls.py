"""How calls of tools are heard in a stream, and how templates that know tools are told of them."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from lethe_app.domain.presets import InstructPreset
from lethe_app.domain.prompt import PromptTurn
from lethe_app.domain.tools import MALFORMED
from lethe_app.prompt.format.chat_template import ChatTemplate
from lethe_app.prompt.format.instruct import InstructRenderer
from lethe_app.prompt.format.thinking import ThinkingSplitter
from lethe_app.prompt.format.tool_calls import ToolCallDetector, has_native_tools, parse_calls, with_tools
from tests.prompt.templates import CHATML, HERMES, LATE_TOOLS

NAMES = ("memory_save", "memory_search", "dice_roll")
ROLL = {"dice": "2d6"}
NOW = datetime(2026, 3, 4, tzinfo=UTC)
SPELLED = {
    "hermes": '<tool_call>\n{"name": "dice_roll", "arguments": {"dice": "2d6"}}\n</tool_call>',
    "hermes, not closed": '<tool_call>\n{"name": "dice_roll", "arguments": {"dice": "2d6"}}',
    "llama 3": '{"name": "dice_roll", "parameters": {"dice": "2d6"}}',
    "llama 3 with its mark": '<|python_tag|>{"name": "dice_roll", "parameters": {"dice": "2d6"}}',
    "llama 3, a function": '{"type": "function", "function": {"name": "dice_roll", "parameters": {"dice": "2d6"}}}',
    "python": '<|python_tag|>dice_roll.call(dice="2d6")',
    "mistral": '[TOOL_CALLS] [{"name": "dice_roll", "arguments": {"dice": "2d6"}, "id": "abc123def"}]',
    "mistral, newer": '[TOOL_CALLS]dice_roll[ARGS]{"dice": "2d6"}',
    "mistral, mark unseen": '[{"name": "dice_roll", "arguments": {"dice": "2d6"}}]',
    "mistral, newer, mark unseen": 'dice_roll[ARGS]{"dice": "2d6"}',
    "phi": '<|tool_call|>[{"name": "dice_roll", "arguments": {"dice": "2d6"}}]<|/tool_call|>',
    "phi mini": 'functools[{"name": "dice_roll", "arguments": {"dice": "2d6"}}]',
    "granite": '<tool_call>[{"name": "dice_roll", "arguments": {"dice": "2d6"}}]',
    "qwen coder": "<tool_call>\n<function=dice_roll>\n<parameter=dice>\n2d6\n</parameter>\n</function>\n</tool_call>",
    "glm": "<tool_call>dice_roll\n<arg_key>dice</arg_key>\n<arg_value>2d6</arg_value>\n</tool_call>",
    "deepseek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>dice_roll\n```json\n"
    '{"dice": "2d6"}\n```<｜tool▁call▁end｜>',
    "deepseek, newer": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>dice_roll<｜tool▁sep｜>{"dice": "2d6"}<｜tool▁call▁end｜>',
    "cohere": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "dice_roll", "parameters": {"dice": "2d6"}}]<|END_ACTION|>',
    "gpt-oss": '<|channel|>commentary to=functions.dice_roll <|constrain|>json<|message|>{"dice": "2d6"}<|call|>',
    "gpt-oss, behind its thoughts": 'functions.dice_roll <|constrain|>json<|message|>{"dice": "2d6"}<|call|>',
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.dice_roll:0<|tool_call_argument_begin|>"
    '{"dice": "2d6"}<|tool_call_end|><|tool_calls_section_end|>',
    "lfm": '<|tool_call_start|>[dice_roll(dice="2d6")]<|tool_call_end|>',
    "llama 3.2 and 4": '[dice_roll(dice="2d6")]',
    "olmo": '<function_calls>\ndice_roll(dice="2d6")\n</function_calls>',
    "nemotron": '<TOOLCALL>[{"name": "dice_roll", "arguments": {"dice": "2d6"}}]</TOOLCALL>',
    "internlm": '<|action_start|><|plugin|>{"name": "dice_roll", "parameters": {"dice": "2d6"}}<|action_end|>',
    "seed": "<seed:tool_call><function=dice_roll><parameter=dice>2d6</parameter></function></seed:tool_call>",
    "minimax": '<minimax:tool_call>\n<invoke name="dice_roll">\n<parameter name="dice">2d6</parameter>\n</invoke>'
    "\n</minimax:tool_call>",
    "gemma": '<|tool_call>call:dice_roll{dice:<|"|>2d6<|"|>}<tool_call|>',
    "function gemma": "<start_function_call>call:dice_roll{dice:<escape>2d6<escape>}<end_function_call>",
    "a name with trimmings": '<tool_call>{"name": "functions.Dice_Roll", "arguments": {"dice": "2d6"}}</tool_call>',
    "other quotes": "<tool_call>{'name': 'dice_roll', 'arguments': {'dice': '2d6'}}</tool_call>",
    "a comma too many": '<tool_call>{"name": "dice_roll", "arguments": {"dice": "2d6",}}</tool_call>',
    "a bracket too few": '<tool_call>{"name": "dice_roll", "arguments": {"dice": "2d6"}</tool_call>',
    "fenced": '```json\n{"name": "dice_roll", "arguments": {"dice": "2d6"}}\n```',
    "arguments as text": '<tool_call>{"name": "dice_roll", "arguments": "{\\"dice\\": \\"2d6\\"}"}</tool_call>',
}


def received(*pieces: str) -> tuple[str, ToolCallDetector]:
    ears = ToolCallDetector(NAMES)
    said = "".join(map(ears.feed, pieces))
    return said + ears.finish(), ears


@pytest.mark.parametrize("text", SPELLED.values(), ids=SPELLED)
def test_a_call_is_understood_wherever_the_stream_is_cut(text: str):
    for cut in range(len(text) + 1):
        said, ears = received(text[:cut], text[cut:])
        assert said.strip() == "", f"shown when cut at {cut}"
        assert [(call.name, call.arguments) for call in ears.calls] == [("dice_roll", ROLL)], f"cut at {cut}"
    said, ears = received(*text)
    assert (said.strip(), [call.arguments for call in ears.calls]) == ("", [ROLL])


@pytest.mark.parametrize("text", [one for one in SPELLED.values() if one[0] in "<["][:2], ids=("closed", "open"))
def test_what_is_said_before_a_call_is_shown(text: str):
    for cut in range(len(text) + 8):
        whole = f"Let me. {text}"
        said, ears = received(whole[:cut], whole[cut:])
        assert said == "Let me. "
        assert len(ears.calls) == 1


@pytest.mark.parametrize(
    "text",
    [
        "[She smiles.] Good evening.",
        "{{char}} nods.",
        "{ a brace, and nothing more",
        "`code` and ```python\nprint(1)\n``` and words",
        '{"colour": "red"} is what the letter says.',
        "memory_save is a strange word for it.",
        "a < b and <tool is not a mark",
        "functools is a module",
        "[memory_save is what you call it?]",
        "functions.of my heart",
        "",
    ],
)
def test_ordinary_words_are_shown_whole_wherever_they_are_cut(text: str):
    for cut in range(len(text) + 1):
        said, ears = received(text[:cut], text[cut:])
        assert said == text
        assert not ears.calls


def test_ordinary_words_are_not_held_back_longer_than_need_be():
    ears = ToolCallDetector(NAMES)
    assert ears.feed("[She ") == "[She "
    assert ears.feed("smiles] and <too") == "smiles] and "


def test_several_calls_come_in_their_order():
    second = '<tool_call>{"name": "memory_save", "arguments": {"content": "x"}}</tool_call>'
    _said, ears = received(SPELLED["hermes"], "\n", second)
    assert [call.name for call in ears.calls] == ["dice_roll", "memory_save"]


TWO = {
    "glm": "<tool_call>dice_roll\n<arg_key>dice</arg_key>\n<arg_value>2d6</arg_value>\n</tool_call>\n<tool_call>memory_save\n"
    "<arg_key>content</arg_key>\n<arg_value>Ines (her sister) sails.</arg_value>\n</tool_call>",
    "python": '[dice_roll(dice="2d6"), memory_save(content="Ines (her sister) sails.")]',
    "deepseek": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>dice_roll<｜tool▁sep｜>{"dice": "2d6"}<｜tool▁call▁end｜>'
    '<｜tool▁call▁begin｜>memory_save<｜tool▁sep｜>{"content": "Ines (her sister) sails."}<｜tool▁call▁end｜>',
}


@pytest.mark.parametrize("text", TWO.values(), ids=TWO)
def test_two_calls_keep_to_themselves(text: str):
    _said, ears = received(*text)
    assert [(call.name, call.arguments) for call in ears.calls] == [
        ("dice_roll", ROLL),
        ("memory_save", {"content": "Ines (her sister) sails."}),
    ]


@pytest.mark.parametrize("text", ["<tool_call>dice_roll\n</tool_call>", "<function=dice_roll>\n</function>", "[dice_roll()]"])
def test_a_call_without_arguments_is_one(text: str):
    _said, ears = received(text)
    assert [(call.name, call.arguments) for call in ears.calls] == [("dice_roll", {})]


def test_what_a_model_thought_before_its_call_stays_a_thought():
    splitter = ThinkingSplitter()
    text = f"<|channel|>analysis<|message|>A roll.<|end|><|start|>assistant{SPELLED['gpt-oss']}"
    splits = [*map(splitter.feed, text), splitter.finish()]
    assert "".join(one.thought for one in splits) == "A roll."
    said, ears = received(*(one.answer for one in splits))
    assert (said, [call.arguments for call in ears.calls]) == ("", [ROLL])


@pytest.mark.parametrize("text", ["[", "{", "[{", '{"a":', "dice_roll(", "dice_roll())", "call:a{", "<function=a>", "{,"])
def test_noise_without_end_is_read_in_no_time(text: str):
    began = time.process_time()
    parse_calls(text * (20_000 // len(text)), NAMES)
    assert time.process_time() - began < 1.0


def test_a_call_that_cannot_be_read_is_known_as_one():
    said, ears = received("<tool_call>{name: dice, oh dear</tool_call>")
    assert said == ""
    assert [call.name for call in ears.calls] == [MALFORMED]


def test_a_model_that_makes_up_the_result_is_not_heard_any_longer():
    ears = ToolCallDetector(NAMES)
    ears.feed(SPELLED["hermes"])
    assert not ears.can_stop
    ears.feed("\n<tool_response>\n7")
    assert ears.can_stop
    assert (ears.finish(), len(ears.calls)) == ("", 1)


# Templates

TOOL = {
    "type": "function",
    "function": {
        "name": "dice_roll",
        "description": "Roll dice.",
        "parameters": {"type": "object", "properties": {"dice": {"type": "string"}}, "required": ["dice"]},
    },
}
CALL = PromptTurn("calls", json.dumps([{"id": "a1b2c3d4e", "function": {"name": "dice_roll", "arguments": ROLL}}]), "Mira")
TALK = [
    PromptTurn("system", "You are Mira."),
    PromptTurn("user", "Roll!"),
    CALL,
    PromptTurn("tool", "7 in all.", "a1b2c3d4e dice_roll"),
]


def test_a_template_that_knows_tools_tells_of_them_and_spells_calls_its_own_way():
    renderer = with_tools(ChatTemplate(HERMES, moment=NOW), [TOOL])
    assert has_native_tools(renderer)
    text = renderer.render(TALK)
    assert '"name": "dice_roll"' in text.split("<|im_end|>")[0]
    assert '<tool_call>\n{"name": "dice_roll", "arguments": {"dice": "2d6"}}\n</tool_call>' in text
    assert "<tool_response>\n7 in all.\n</tool_response>" in text


def test_what_was_written_of_calls_stays_when_more_is_said():
    renderer = with_tools(ChatTemplate(HERMES, moment=NOW), [TOOL])
    reply = PromptTurn("assistant", "A seven!")
    before = renderer.render(TALK)
    after = renderer.render([*TALK, reply, PromptTurn("user", "Again!")])
    assert after.startswith(before)


def test_without_tools_it_writes_what_it_always_wrote():
    plain = ChatTemplate(HERMES, moment=NOW)
    before = plain.render(TALK[:2])
    with_tools(plain, [TOOL])
    assert plain.render(TALK[:2]) == before
    assert with_tools(plain, []) is plain


@pytest.mark.parametrize("source", [CHATML, LATE_TOOLS], ids=["no tools", "tools that move"])
def test_other_templates_stay_as_they_are_and_are_told_in_words(source: str):
    plain = ChatTemplate(source, moment=NOW)
    renderer = with_tools(plain, [TOOL])
    assert renderer is plain
    assert not has_native_tools(renderer)
    text = renderer.render(TALK)
    assert "7 in all." in text
    assert "Mira uses dice_roll (dice: 2d6)" in text


def test_instruct_formats_are_told_in_words():
    preset = InstructPreset(name="x", user_start="U:", user_end="\n", bot_start="B:", bot_end="\n")
    renderer = with_tools(InstructRenderer(preset), [TOOL])
    assert not has_native_tools(renderer)
    assert "7 in all." in renderer.render(TALK)
