"""Presets of SillyTavern keep their meaning here, and ours there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import FileError, UnknownFormat
from lethe_app.interchange.external_file import read_external_file
from lethe_app.interchange.presets.context import TITLES, convert_story, read_system_prompt, write_system_prompt
from lethe_app.interchange.presets.instruct import read_instruct, write_instruct
from lethe_app.interchange.presets.preset import read_presets, write_preset
from lethe_app.interchange.presets.samplers import read_sampler, write_sampler
from lethe_app.prompt.format.instruct import InstructRenderer
from tests.bench.templates import differences_of, made_up
from tests.interchange.external_files import as_bytes, lost

CHATML = {
    "name": "ChatML",
    "input_sequence": "<|im_start|>user",
    "output_sequence": "<|im_start|>assistant",
    "system_sequence": "<|im_start|>system",
    "input_suffix": "<|im_end|>\n",
    "output_suffix": "<|im_end|>\n",
    "system_suffix": "<|im_end|>\n",
    "stop_sequence": "<|im_end|>",
    "wrap": True,
    "names_behavior": "always",
}


def test_an_instruct_preset_has_its_newlines_where_they_are_written():
    preset = read_instruct(CHATML, "x", ImportNotes())

    assert (preset.user_start, preset.user_end) == ("<|im_start|>user\n", "<|im_end|>\n")
    assert (preset.bot_start, preset.note_start) == ("<|im_start|>assistant\n", "<|im_start|>system\n")
    assert (preset.system_start, preset.system_end) == ("", "\n")
    assert preset.stop_strings == ["<|im_end|>", "<|im_start|>user", "<|im_start|>system"]
    assert (preset.add_names, preset.system_role, preset.reply_start) == (True, True, "")


def test_an_instruct_preset_without_wrap_and_in_the_older_form():
    values = {
        "name": "Old",
        "input_sequence": "### I:",
        "output_sequence": "### R:",
        "separator_sequence": "</s>",
        "wrap": False,
    }
    values |= {"last_output_sequence": "### R (think):", "activation_regex": "llama", "system_same_as_user": True}
    notes = ImportNotes()

    preset = read_instruct(values, "x", notes)

    assert (preset.user_start, preset.bot_end, preset.reply_start) == ("### I:", "</s>", "### R (think):")
    assert (preset.system_start, preset.note_start) == ("", "### I:")
    assert [(note.kind, note.location) for note in notes.notes] == [(NoteKind.NO_EFFECT, "activation_regex")]


OURS = (
    InstructPreset(
        name="P",
        user_start="<u>\n",
        user_end="</u>",
        bot_start="<b>",
        bot_end="</b>\n",
        system_start="<s>",
        reply_start="<b t>",
        stop_strings=["</b>", "<u>", "<s>"],
        add_names=True,
    ),
    InstructPreset(name="P", system_start="<s>", system_end="</s>", stop_strings=["</s>"], system_role=False),
    InstructPreset(name="P", user_start="<u>", bot_start="[A] ", note_start="<n>", note_end="", opening_message="Begin."),
    InstructPreset(
        name="P", user_start="<u>\n", user_end="</u>", bot_start="<b>\n", bot_end="\n", note_start="", note_end="\n"
    ),
    InstructPreset(
        name="P", user_start="<u>\n", user_end="</u>", bot_start="<b>\n", bot_end="\n", system_end="\n", reply_on_new_line=True
    ),
    InstructPreset(name="P", first_user_start="<1>", last_user_start="<n>", first_bot_start="<g>", stop_strings=["a", "b"]),
)


@pytest.mark.parametrize("preset", OURS)
def test_our_instruct_presets_return_the_same(preset: InstructPreset):
    assert read_instruct(write_instruct(preset), "x", ImportNotes()) == preset


@pytest.mark.parametrize("values", [{"wrap": True}, {"wrap": False, "names": True}])
@pytest.mark.parametrize(
    "kept", [{"sequences_as_stop_strings": False, "stop_sequence": "</a>\n</b>"}, {"system_suffix": "</s>"}]
)
def test_stop_strings_and_the_systems_sequences_survive_the_way_back(values: dict[str, object], kept: dict[str, object]):
    values = {"input_sequence": "<u>", "output_sequence": "<b>", "system_sequence": "<s>", **values, **kept}
    preset = read_instruct(values, "x", ImportNotes())

    again = read_instruct(write_instruct(preset), "x", ImportNotes())

    assert (again.stop_strings, again.note_start, again.note_end) == (preset.stop_strings, preset.note_start, preset.note_end)
    assert preset.stop_strings == (["</a>", "</b>"] if "stop_sequence" in kept else ["<u>", "<s>"])


async def test_an_instruct_template_renders_here_as_it_does_there():
    differing = {name: found[0] for name, values in made_up() if (found := await differences_of(values))}

    assert differing == {}


def test_a_template_that_begins_a_thought_begins_none_where_none_is_wanted():
    values = {**CHATML, "last_output_sequence": "<|im_start|>assistant\n<think>", "names_behavior": "none"}
    renderer = InstructRenderer(read_instruct(values, "x", ImportNotes()))

    assert renderer.render([PromptTurn("user", "Hi.")]).endswith("assistant\n<think>\n")
    assert renderer.render([PromptTurn("user", "Hi.")], thinking=False).endswith("assistant\n")
    assert renderer.thinking_end == "</think>"


def test_samplers_are_taken_over_and_those_without_an_engine_are_named():
    values = {
        "temp": "1.15",
        "top_p": 0.9,
        "min_p": 0.05,
        "rep_pen": 1.1,
        "rep_pen_range": -1,
        "dry_multiplier": 0.8,
        "tfs": 0.95,
        "top_a": 0,
    }
    values |= {"dry_sequence_breakers": '["\\n", ":"]', "xtc_probability": 5, "smoothing_factor": 0.2, "seed": -1}
    notes = ImportNotes()

    preset = read_sampler(values, "Mine", notes)

    assert (preset.name, preset.temperature, preset.top_p, preset.min_p) == ("Mine", 1.15, 0.9, 0.05)
    assert (preset.repetition_penalty, preset.repetition_range, preset.dry_breakers) == (1.1, -1, ["\n", ":"])
    assert preset.xtc_probability == 1.0
    assert {(note.kind, note.location) for note in notes.notes} == {
        (NoteKind.NO_EFFECT, "tfs"),
        (NoteKind.NO_EFFECT, "smoothing_factor"),
        (NoteKind.OUT_OF_RANGE, "xtc_probability"),
    }


def test_dynamic_temperature_is_a_middle_and_a_range():
    preset = read_sampler({"temp": 1, "dynatemp": True, "min_temp": 0.5, "max_temp": 1.5}, "x", ImportNotes())

    assert (preset.temperature, preset.dynatemp_range) == (1.0, 0.5)
    assert read_sampler(write_sampler(preset), "x", ImportNotes()) == preset


def test_our_presets_return_the_same():
    sampler = SamplerPreset(
        name="S", temperature=0.8, top_k=40, min_p=0.02, mirostat=2, dry_multiplier=0.5, dry_breakers=['"', "é"]
    )
    system = SystemPreset(name="S", prompt="You are {{char}}.", **TITLES)

    assert read_sampler(write_sampler(sampler), "S", ImportNotes()) == sampler
    assert read_system_prompt(write_system_prompt(system), "x", ImportNotes()) == system


SAMPLERS = {"temp": 1.1, "top_p": 0.9, "top_k": 0, "tfs": 0.95, "rep_pen": 1.07, "sampler_order": [6, 0, 1], "dynatemp": False}
SYSTEM_PROMPT = {"name": "Tale", "content": "Tell.", "post_history": "Stay in role."}


@pytest.mark.parametrize("values", [CHATML, SAMPLERS, SYSTEM_PROMPT], ids=["instruct", "sampler", "system"])
def test_an_imported_preset_returns_as_it_came_and_an_edited_one_keeps_what_nobody_edited(values: dict[str, object]):
    (preset,) = read_presets(values, "Mine", ImportNotes())
    field, theirs = ("temperature", ".temp") if isinstance(preset, SamplerPreset) else ("name", ".name")

    assert lost(values, write_preset(preset)) == []
    edited = preset.model_copy(update={field: 0.3 if field == "temperature" else "Other"})
    assert [place.partition(":")[0] for place in lost(values, write_preset(edited))] == [theirs]


fields = st.sampled_from([*CHATML, *SAMPLERS, *SYSTEM_PROMPT, "first_output_sequence", "dry_sequence_breakers", "unknown"])
numbers = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | st.text(max_size=20)
json_values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=4)


@given(st.sampled_from([CHATML, SAMPLERS, SYSTEM_PROMPT]), st.dictionaries(fields, json_values, max_size=6))
def test_whatever_a_preset_holds_returns(values: dict[str, object], changes: dict[str, object]):
    changed = {**values, **changes}

    for preset in read_presets(changed, "Mine", ImportNotes()):
        assert lost(changed, write_preset(preset)) == []


@pytest.mark.parametrize(
    "preset",
    [
        SamplerPreset(name="S", dynatemp_range=0.5),
        InstructPreset(name="I", bos="<s>"),
        SystemPreset(name="T", prompt="P", scenario_title="Now"),
    ],
)
def test_a_preset_that_lethe_exported_is_read_as_it_is(preset: InstructPreset | SamplerPreset | SystemPreset):
    assert read_external_file(as_bytes(preset.model_dump()), "x.json").presets == (preset,)


def test_a_master_file_holds_several_presets():
    master = {
        "instruct": CHATML,
        "sysprompt": {"name": "Tale", "content": "Tell."},
        "preset": {"temp": 1, "top_p": 1, "top_k": 0},
    }
    master |= {
        "context": {"name": "C", "story_string": "{{system}}"},
        "reasoning": {"prefix": "<t>", "suffix": "</t>", "separator": ""},
    }

    found = read_external_file(as_bytes(master), "Master.json")

    assert [(type(preset), preset.name) for preset in found.presets] == [
        (InstructPreset, "ChatML"),
        (SystemPreset, "C"),
        (SystemPreset, "Tale"),
        (SamplerPreset, "Master"),
    ]
    assert {note.location for note in found.notes} == {"reasoning"}


@pytest.mark.parametrize("content", [b"{}", b'{"a": 1}', b"5", b"null", b'"text"', b'[{"a": 1}]', b""])
def test_a_file_of_no_known_format_is_refused(content: bytes):
    with pytest.raises(FileError, match=r"a format that Lethe cannot import|not valid JSON"):
        read_external_file(content, "x.json")


STORY = (
    "<|im_start|>system\n{{#if system}}{{system}}\n{{/if}}"
    "{{#if wiBefore}}{{wiBefore}}\n{{/if}}{{#if description}}{{description}}\n{{/if}}"
    "{{#if personality}}{{char}}'s personality: {{personality}}\n{{/if}}{{#if scenario}}Scenario: {{scenario}}\n{{/if}}"
    "{{#if persona}}{{#if user}}About {{user}}: {{/if}}{{persona}}\n{{else}}Nobody.{{/if}}{{trim}}<|im_end|>"
)


def test_a_context_template_becomes_a_system_preset():
    values = {"name": "ChatML", "story_string": STORY, "chat_start": "***", "example_separator": ""}
    notes = ImportNotes()

    (preset,) = read_presets(values, "file", notes)

    assert isinstance(preset, SystemPreset)
    assert preset.name == "ChatML"
    assert preset.prompt == (
        "Write the next reply of {{char}} in this conversation with {{user}}.\n{{charbio}}\nScenario: {{scenario}}\n"
        "About {{user}}: {{userbio}}"
    )
    assert [note.location for note in notes.notes] == ["chat_start"]
    assert write_preset(preset)["story_string"] == STORY


@pytest.mark.parametrize("story", ["{{#if a}}" * 5000, "{{#if a}}{{/if}}" * 5000, "{{" * 20000, "{{#if a}}x{{else}}" * 3000])
def test_a_hostile_story_string_is_read_in_no_time(story: str):
    assert isinstance(convert_story(story), str)


def test_an_imported_system_prompt_leaves_no_section_out():
    (preset,) = read_presets({"name": "Tale", "content": "Tell."}, "file", ImportNotes())

    assert isinstance(preset, SystemPreset)
    assert all((preset.world_info_title, preset.session_history_title, preset.core_facts_title, preset.memories_title))


CHAT_COMPLETION = {"temperature": 1, "top_p": 1, "top_k": 0, "frequency_penalty": 0}


@pytest.mark.parametrize(
    "mark", [{"openai_max_context": 4095}, {"prompts": []}, {"proxy_password": "pw"}, {"jailbreak_prompt": ""}]
)
def test_a_chat_completion_preset_is_no_sampler(mark: dict[str, object]):
    with pytest.raises(UnknownFormat, match="chat completion preset") as caught:
        read_external_file(as_bytes({**CHAT_COMPLETION, **mark}), "x.json")

    assert caught.value.kind == "chat completion preset"


SECRETS = {
    "api_key": "s3cret",
    "headers": {"Authorization": "s3cret", "note": "n"},
    "Password": "s3cret",
    "accessToken": "s3cret",
}


@pytest.mark.parametrize("values", [CHATML, SAMPLERS, SYSTEM_PROMPT, {"story_string": "{{system}}", "name": "C"}])
def test_secrets_are_neither_kept_nor_exported(values: dict[str, object]):
    notes = ImportNotes()
    secrets = {name: value for name, value in SECRETS.items() if values is not SYSTEM_PROMPT or name == "api_key"}

    (preset,) = read_presets({**values, **secrets}, "Mine", notes)
    old = preset.model_copy(update={"original": {**preset.original, **secrets}})  # imported by an earlier version

    assert "s3cret" not in preset.model_dump_json() + json.dumps(write_preset(preset)) + json.dumps(write_preset(old))
    assert {note.location for note in notes.notes if note.kind is NoteKind.UNSUPPORTED} >= (
        {"api_key"} if "story_string" not in values else set()
    )


def test_samplers_of_koboldai_keep_their_names_and_values_without_a_counterpart_are_named():
    values = {"temperature": 0.9, "top_p": 0.9, "top_k": 20, "mirostat": 2, "sampler_seed": 7, "dynatemp_range": 0.4}
    values |= {"encoder_rep_pen": 1.2, "penalty_alpha": 0.6, "rep_pen_slope": 1, "banned_tokens": ["x"], "negative_prompt": " "}
    values |= {"UniqueName": "Kob", "repetition_penalty_range": 512, "ban_eos_token": True}
    notes = ImportNotes()

    preset = read_sampler(values, "x", notes)

    assert (preset.name, preset.temperature, preset.mirostat, preset.seed) == ("Kob", 0.9, 2, 7)
    assert (preset.dynatemp_range, preset.repetition_range) == (0.4, 512)
    assert {note.location for note in notes.notes} == {"encoder_rep_pen", "penalty_alpha", "banned_tokens", "ban_eos_token"}


OLD_LETHE = {
    "BoSToken": "<s>",
    "SystemStart": "[N]",
    "SystemEnd": "[/N]",
    "SysPromptStart": "[SYS]",
    "SysPromptEnd": "[/SYS]",
    "UserStart": "[{{user}}]",
    "UserEnd": "[/Q]",
    "BotStart": "[A]",
    "BotEnd": "[/A]",
    "StopSequence": "</s>",
    "StopStrings": ["[Q]"],
    "AddNamesToPrompt": False,
    "NewLinesBetweenMessages": True,
    "UniqueName": "Marks",
}


def test_an_instruct_format_of_the_original_lethe_fits_field_by_field():
    (preset,) = read_external_file(as_bytes(OLD_LETHE), "file.json").presets
    assert isinstance(preset, InstructPreset)
    turns = [PromptTurn("system", "S"), PromptTurn("user", "U", "Kit"), PromptTurn("system", "N"), PromptTurn("assistant", "A")]

    text = InstructRenderer(preset).render([*turns, PromptTurn("user", "V")])

    assert text == "<s>[SYS]S[/SYS]\n[User]U[/Q]\n[N]N[/N]\n[A]A[/A]\n[User]V[/Q]\n[A]"
    assert (preset.name, preset.stop_strings, preset.add_names) == ("Marks", ["</s>", "[Q]"], False)


@pytest.mark.parametrize(
    ("thinking", "on", "off"),
    [
        ({"PrefillThinking": True}, "[A]<think>\n", "[A]"),
        ({"PrefillThinking": False}, "[A]", "[A]"),
        ({"PrefillThinking": True, "ThinkingForcedThought": "Hm."}, "[A]<think>\nHm.", "[A]"),
        (
            {"PrefillThinking": True, "RequireEmptyThinkBlockWhenThinkingDisabled": True},
            "[A]<think>\n",
            "[A]<think>\n</think>",
        ),
        ({"PrefillThinking": True, "BotStartOverride": "[A final]"}, "[A]<think>\n", "[A final]"),
    ],
)
def test_thinking_of_the_original_lethe_begins_where_it_began_there(thinking: dict[str, object], on: str, off: str):
    values = {**OLD_LETHE, "ThinkingStart": "<think>\n", "ThinkingEnd": "</think>", **thinking}
    (preset,) = read_presets(values, "x", ImportNotes())
    assert isinstance(preset, InstructPreset)

    for expected, wanted in ((on, True), (off, False)):
        assert InstructRenderer(preset).render([PromptTurn("user", "U")], thinking=wanted).endswith(f"[/Q]\n{expected}")


def test_a_system_prompt_of_the_original_lethe_keeps_its_headings():
    values = {"Prompt": "Be {{char}}.", "WorldInfoTitle": "# Lore", "ScenarioTitle": "## Scene", "DialogsTitle": ""}
    values |= {"CategorySeparator": "\n# ", "SubCategorySeparator": "##"}

    (preset,) = read_external_file(as_bytes(values), "Standard.json").presets

    assert isinstance(preset, SystemPreset)
    assert (preset.name, preset.prompt) == ("Standard", "Be {{char}}.")
    assert (preset.world_info_title, preset.scenario_title, preset.dialogs_title) == ("Lore", "Scene", "")
    assert (preset.category_separator, preset.sub_category_separator) == ("#", "##")
    assert preset.core_facts_title
