from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.domain.prompt import PromptPart, join_spans
from lethe_app.prompt.macros import MacroContext
from lethe_app.prompt.sections import CompiledSystemPrompt, StableAdditions, compile_system

SCENE = MacroContext(user="Ben", char="Ada", moment=datetime(2026, 3, 1, tzinfo=UTC))
PRESET = SystemPreset(
    name="x",
    prompt="You are {{char}}.\n\n# {{char}}\n{{charbio}}\n\n# {{user}}\n{{userbio}}",
    world_info_title="World",
    scenario_title="Scene",
    dialogs_title="How {{char}} writes",
    session_history_title="Before\nOldest first.",
    core_facts_title="Facts",
    inner_thoughts_title="Thoughts",
)
ADA = Persona(
    name="Ada",
    bio="Keeps a lighthouse.",
    scenario="A storm.",
    example_dialogs=["Short.", "Dry, {{user}}."],
    self_edit_field="I wait.",
)
BEN = Persona(name="Ben", is_user=True, bio="Sails.")
EXTRAS = StableAdditions(
    world=["The isle of Skye."], summaries=["Second talk.", "First talk."], facts=["Ben is afraid of heights."]
)
ALL = {PromptPart.STYLE: (0, 1), PromptPart.WORLD: (0,), PromptPart.SUMMARIES: (0, 1), PromptPart.FACTS: (0,)}


def compiled(
    preset: SystemPreset = PRESET, persona: Persona = ADA, scene: MacroContext = SCENE, extras: StableAdditions = EXTRAS
) -> CompiledSystemPrompt:
    return compile_system(preset, persona, BEN, scene, extras)


def text_of(prompt: CompiledSystemPrompt, kept: Mapping[PromptPart, Sequence[int]] = ALL) -> str:
    return join_spans(prompt.spans(kept))


def test_everything_stands_under_its_title_in_order():
    assert text_of(compiled()) == (
        "You are Ada.\n\n# Ada\nKeeps a lighthouse.\n\n# Ben\nSails.\n\n"
        "# Scene\nA storm.\n\n# How Ada writes\n- Short.\n- Dry, Ben.\n\n# Thoughts\nI wait.\n\n# World\nThe isle of Skye.\n\n"
        "# Before\nOldest first.\nFirst talk.\n\nSecond talk.\n\n# Facts\n- Ben is afraid of heights."
    )


def test_every_stretch_knows_its_part():
    parts = [section.part for section in (*compiled().running, *compiled().titled)]

    assert parts == [
        *(PromptPart.SYSTEM, PromptPart.PERSONA, PromptPart.SYSTEM, PromptPart.USER),
        *(PromptPart.SCENARIO, PromptPart.STYLE, PromptPart.THOUGHTS, PromptPart.WORLD, PromptPart.SUMMARIES, PromptPart.FACTS),
    ]


def test_what_is_empty_or_left_out_leaves_no_title():
    bare = compiled(persona=Persona(name="Ada", bio="Keeps a lighthouse."), extras=StableAdditions())

    assert text_of(bare, {}) == "You are Ada.\n\n# Ada\nKeeps a lighthouse.\n\n# Ben\nSails."
    assert "# World" not in text_of(compiled(), ALL | {PromptPart.WORLD: ()})


def test_an_empty_title_switches_a_section_off():
    text = text_of(compiled(PRESET.model_copy(update={"dialogs_title": "", "scenario_title": ""})))

    assert "Short." not in text
    assert "A storm." not in text


def test_the_sessions_scenario_wins():
    text = text_of(compiled(scene=MacroContext("Ben", "Ada", SCENE.moment, texts={"scenario": "A calm day."})))

    assert "A calm day." in text
    assert "A storm." not in text


def test_a_part_that_the_prompt_names_is_not_said_twice():
    text = text_of(compiled(PRESET.model_copy(update={"prompt": "{{char}} in {{scenario}} {{charbio}}"})))

    assert text.count("A storm.") == 1
    assert text.count("Keeps a lighthouse.") == 1
    assert "# Scene" not in text


def test_a_personas_own_prompt_replaces_the_presets_and_keeps_the_bios():
    own = ADA.model_copy(update={"system_prompt": "Be terse. {{Original}}"})
    other = ADA.model_copy(update={"system_prompt": "Be terse."})

    assert text_of(compiled(persona=own), {}).startswith("Be terse. You are Ada.\n\n# Ada\nKeeps a lighthouse.")
    assert text_of(compiled(persona=other), {}).startswith("Be terse.\n\nKeeps a lighthouse.\n\nSails.")


def test_items_are_kept_in_their_own_order_and_sessions_oldest_first():
    text = text_of(compiled(extras=StableAdditions(summaries=["Third.", "Second.", "First."])), {PromptPart.SUMMARIES: (0, 1)})

    assert text.endswith("Second.\n\nThird.")
