from __future__ import annotations

import json
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.domain.model import LoadedModel, LoadOptions, ModelFile
from lethe_app.domain.presets import InstructPreset
from lethe_app.domain.prompt import PromptTurn
from lethe_app.paths import shipped_root
from lethe_app.prompt.format.instruct import RECOGNITION, InstructRenderer, choose_renderer, recognise_preset
from lethe_app.prompt.format.thinking import ThinkingMarkers
from tests.prompt import templates
from tests.sweep import examples

FILES = sorted((shipped_root() / "resources" / "presets" / "instruct").glob("*.json"))
LOADED = [InstructPreset.model_validate(json.loads(file.read_text("utf-8"))) for file in FILES]
PRESETS = {preset.name: preset for preset in LOADED}
MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
DIALOGUE = [PromptTurn("system", "S"), PromptTurn("user", "U"), PromptTurn("assistant", "A"), PromptTurn("user", "V")]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_shipped_preset_loads_and_renders(file: Path):
    preset = InstructPreset.model_validate(json.loads(file.read_text("utf-8")))

    spoken = [
        PromptTurn("system", "Quiet."),
        PromptTurn("user", "Question."),
        PromptTurn("assistant", "Answer."),
        PromptTurn("user", "Again."),
    ]

    text = InstructRenderer(preset).render(spoken)

    places = [text.index(turn.content) for turn in spoken]
    assert places == sorted(places)
    assert PRESETS[preset.name] == preset, "two presets share a name"
    assert InstructRenderer(preset).stop_strings


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "ChatML",
            (
                "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\nA<|im_end|>\n"
                "<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n"
            ),
        ),
        (
            "Llama 3",
            (
                "<|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nU<|eot_id|>"
                "<|start_header_id|>assistant<|end_header_id|>\n\nA<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nV<|eot_id|>"
                "<|start_header_id|>assistant<|end_header_id|>\n\n"
            ),
        ),
        ("Llama 2", "[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST] A </s>[INST] V [/INST]"),
        ("Mistral V1", " [INST] S\n\nU [/INST] A</s> [INST] V [/INST]"),
        ("Mistral V3", "[INST] S\n\nU[/INST] A</s>[INST] V[/INST]"),
        ("Mistral V3 Tekken", "[INST]S\n\nU[/INST]A</s>[INST]V[/INST]"),
        ("Mistral V7 Tekken", "[SYSTEM_PROMPT]S[/SYSTEM_PROMPT][INST]U[/INST]A</s>[INST]V[/INST]"),
        (
            "Gemma 2 and 3",
            (
                "<start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n<start_of_turn>user\nV<end_of_turn>\n"
                "<start_of_turn>model\n"
            ),
        ),
        ("DeepSeek V3", "S<｜User｜>U<｜Assistant｜>A<｜end▁of▁sentence｜><｜User｜>V<｜Assistant｜>"),
        ("DeepSeek R1", "S<｜User｜>U<｜Assistant｜>A<｜end▁of▁sentence｜><｜User｜>V<｜Assistant｜><think>\n"),
        ("GLM-4", "[gMASK]<sop><|system|>\nS<|user|>\nU<|assistant|>\nA<|user|>\nV<|assistant|>\n"),
        (
            "Phi-4",
            (
                "<|im_start|>system<|im_sep|>S<|im_end|><|im_start|>user<|im_sep|>U<|im_end|>"
                "<|im_start|>assistant<|im_sep|>A<|im_end|><|im_start|>user<|im_sep|>V<|im_end|><|im_start|>assistant<|im_sep|>"
            ),
        ),
        ("Vicuna", "S USER: U ASSISTANT: A</s>USER: V ASSISTANT:"),
        ("Alpaca", "S\n\n### Instruction:\nU\n\n### Response:\nA\n\n### Instruction:\nV\n\n### Response:\n"),
        ("Metharme", "<|system|>S<|user|>U<|model|>A<|user|>V<|model|>"),
    ],
)
def test_a_dialogue_is_spelled_as_the_format_says(name: str, expected: str):
    assert InstructRenderer(PRESETS[name]).render(DIALOGUE) == expected


def test_harmony_thinks_in_a_channel_of_its_own():
    renderer = InstructRenderer(PRESETS["GPT-OSS"])

    assert renderer.render(DIALOGUE).endswith("<|start|>user<|message|>V<|end|><|start|>assistant")
    assert renderer.render(DIALOGUE, thinking=False).endswith("<|start|>assistant<|channel|>final<|message|>")
    assert "<|start|>assistant<|channel|>final<|message|>A<|end|>" in renderer.render(DIALOGUE)
    assert "<|end|>" not in renderer.stop_strings


def test_thinking_off_sends_an_empty_thought_where_the_format_needs_one():
    assert InstructRenderer(PRESETS["ChatML Thinking"]).render(DIALOGUE, thinking=False).endswith("<think>\n\n</think>\n\n")
    assert InstructRenderer(PRESETS["Gemma 4"]).render(DIALOGUE, thinking=False).endswith("<|channel>thought\n<channel|>")
    assert InstructRenderer(PRESETS["ChatML"]).render(DIALOGUE, thinking=False).endswith("assistant\n")


def test_bos_is_left_to_a_tokenizer_that_adds_it():
    preset = InstructPreset(name="x", bos="<s>", user_start="U:")

    assert InstructRenderer(preset, bos="<s>", adds_bos=True).render([PromptTurn("user", "a")]) == "U:a"
    assert InstructRenderer(preset, bos="<s>").render([PromptTurn("user", "a")]) == "<s>U:a"


roles = st.sampled_from(["user", "assistant", "system"])
turns = st.lists(st.tuples(roles, st.text(min_size=1, max_size=9)), min_size=1, max_size=8)


@given(name=st.sampled_from(sorted(PRESETS)), conversation=turns)
@settings(max_examples=examples(150))
def test_appending_turns_changes_nothing_before_them(name: str, conversation: list[tuple[str, str]]):
    renderer = InstructRenderer(PRESETS[name])
    spoken = [DIALOGUE[0], *(PromptTurn(role, content) for role, content in conversation)]

    whole = renderer.render([*spoken, PromptTurn("user", "?"), PromptTurn("assistant", "!")], continue_last=True)

    for place, turn in enumerate(spoken):
        if turn.role == "assistant":
            assert whole.startswith(renderer.render(spoken[: place + 1], continue_last=True))


def model(template: str = "", architecture: str = "", control: tuple[str, ...] = ()) -> LoadedModel:
    file = ModelFile(Path("m.gguf"), "m", 1, architecture)
    return LoadedModel(file, LoadOptions(), context=4096, threads=1, template=template, control_tokens=control)


def test_the_models_own_template_comes_first():
    choice = choose_renderer(model(templates.CHATML), list(PRESETS.values()), "", MOMENT)

    assert choice.template_source == "model"
    assert choice.problem == ""


def test_what_the_user_chose_wins():
    choice = choose_renderer(model(templates.CHATML), list(PRESETS.values()), "Alpaca", MOMENT)

    assert choice.template_source == "chosen: Alpaca"
    assert "### Response:" in choice.renderer.render(DIALOGUE)


def test_a_chosen_format_that_is_gone_is_told():
    choice = choose_renderer(model(templates.CHATML), list(PRESETS.values()), "Mine", MOMENT)

    assert choice.template_source == "model"
    assert "Mine" in choice.problem


def test_a_broken_template_is_recognised_by_its_markers():
    choice = choose_renderer(model("{% for %}<|start_header_id|><|end_header_id|>"), list(PRESETS.values()), "", MOMENT)

    assert choice.template_source == "recognised: Llama 3"
    assert "cannot be used" in choice.problem


def test_an_unknown_model_is_guessed_to_speak_chatml():
    choice = choose_renderer(model("{% for %}"), list(PRESETS.values()), "", MOMENT)

    assert choice.template_source == "guessed: ChatML"


@pytest.mark.parametrize(
    ("template", "architecture", "control", "name"),
    [
        ("", "llama", ("<|im_start|>", "<|im_end|>"), "ChatML"),
        ("", "gemma3", (), "Gemma 2 and 3"),
        ("", "llama", ("<s>", "</s>"), None),
        ("", "llama", ("[INST]", "[/INST]", "[SYSTEM_PROMPT]"), "Mistral V7 Tekken"),
        ("' [INST] ' + system_message", "llama", (), "Mistral V1"),
        ("{{ '<<SYS>>' }}[INST]", "llama", (), "Llama 2"),
        ("<|channel|><|message|>", "gpt-oss", (), "GPT-OSS"),
        ("<|im_start|><think>", "qwen3", (), "ChatML Thinking"),
    ],
)
def test_families_are_recognised(template: str, architecture: str, control: tuple[str, ...], name: str | None):
    assert recognise_preset(template, architecture, control) == name


def test_every_recognised_family_has_a_preset():
    table = tomllib.loads(RECOGNITION.read_text(encoding="utf-8"))

    assert {name for name, _markers in table["markers"]} | set(table["architectures"].values()) <= set(PRESETS)


OWN = ThinkingMarkers("<hm>", "</hm>")


def test_a_models_own_marks_of_thinking_replace_those_of_its_template_and_of_a_format_that_thinks():
    by_template = choose_renderer(model(templates.CHATML), list(PRESETS.values()), "", MOMENT, OWN)
    by_format = choose_renderer(model(), list(PRESETS.values()), "ChatML Thinking", MOMENT, OWN)

    assert (by_template.renderer.thinking_start, by_template.renderer.thinking_end) == OWN
    assert by_format.renderer.render(DIALOGUE).endswith("<hm>")


def test_marks_of_thinking_make_no_format_open_a_thought_that_did_not_before():
    renderer = choose_renderer(model(), list(PRESETS.values()), "ChatML", MOMENT, OWN).renderer

    assert renderer.thinking_end == "</hm>"
    assert renderer.render(DIALOGUE) == InstructRenderer(PRESETS["ChatML"]).render(DIALOGUE)
