"""The personas, worlds and presets that ship with Lethe are whole, fit into small contexts and leave the user's words alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree as ET

import pytest
from pydantic import BaseModel

from lethe_app.domain.memory import WordLink
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.paths import Paths, shipped_root
from lethe_app.prompt.macros import unknown_macros
from lethe_app.services.prompting.turn_context import default_sampler_name, default_system_name

Kind = TypeVar("Kind", bound=BaseModel)
SHIPPED = Paths(home=Path(), cache=Path(), shipped=shipped_root())
CHARACTERS_PER_TOKEN = 4
DRAWING = {"svg", "title", "g", "path", "rect", "circle", "ellipse", "polygon", "line"}
QUIET = "linden"
"""The one persona that writes no actions."""


def read(folder: Path, kind: type[Kind]) -> dict[str, Kind]:
    """Every file of a folder by its name without ending."""
    return {path.stem: kind.model_validate_json(path.read_bytes()) for path in sorted(folder.glob("*.json"))}


PERSONAS = read(SHIPPED.shipped_personas, Persona)
WORLDS = read(SHIPPED.shipped_worlds, World)
SAMPLERS = read(SHIPPED.shipped_presets / "samplers", SamplerPreset)
SYSTEMS = read(SHIPPED.shipped_presets / "system", SystemPreset)

every_persona = pytest.mark.parametrize("persona", PERSONAS.values(), ids=PERSONAS.keys())
every_world = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS.keys())
every_system = pytest.mark.parametrize("preset", SYSTEMS.values(), ids=SYSTEMS.keys())


def words(text: str) -> int:
    return len(text.split())


def tokens(*texts: str) -> int:
    return sum(map(len, texts)) // CHARACTERS_PER_TOKEN


def texts_of(value: object) -> Iterator[str]:
    """Every string in a file's content."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)


def test_something_for_everyone_is_there():
    assert len(PERSONAS) >= 6
    assert len(WORLDS) >= 2
    assert {"default", "roleplay", "assistant", "game-master", "tiny"} <= SYSTEMS.keys()
    assert {"default", "roleplay", "deterministic", "creative", "precise", "small-models"} <= SAMPLERS.keys()


@pytest.mark.parametrize("small", [True, False])
def test_the_presets_that_suit_a_model_exist(small: bool):
    assert default_sampler_name(small=small) in SAMPLERS
    assert default_system_name(small=small) in SYSTEMS


@pytest.mark.parametrize("preset", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_memories_are_told_as_background_that_the_user_is_not_saying_now(preset: SystemPreset):
    assert preset.memories_title.startswith("Background")
    assert "{{user}} is not saying" in preset.memories_title


@pytest.mark.parametrize("found", [PERSONAS, WORLDS], ids=["personas", "worlds"])
def test_a_unique_name_is_the_file_name_in_plain_letters(found: dict[str, Persona | World]):
    for stem, item in found.items():
        assert item.unique_name == stem
        assert re.fullmatch(r"[a-z0-9-]+", stem)


@pytest.mark.parametrize("found", [PERSONAS, WORLDS, SAMPLERS, SYSTEMS], ids=["personas", "worlds", "samplers", "systems"])
def test_no_two_carry_the_same_name(found: dict[str, Persona | World | SamplerPreset | SystemPreset]):
    names = Counter(item.name.casefold() for item in found.values())

    assert max(names.values()) == 1


@every_persona
def test_a_persona_has_everything_the_window_shows(persona: Persona):
    assert not persona.is_user
    assert 0 < len(persona.tagline) <= 40
    assert 200 <= words(persona.bio) <= 450
    assert 20 <= words(persona.mini_bio) <= 70
    assert persona.scenario
    assert persona.tags
    assert 6 <= len(persona.example_dialogs) <= 10


@every_persona
def test_a_persona_does_nothing_by_itself_until_asked(persona: Persona):
    assert not persona.agent_mode
    assert not persona.agent_tasks
    assert not persona.can_initiate_chat
    assert not persona.mood
    assert persona.self_edit_tokens == 0


@every_persona
def test_a_persona_leaves_most_of_a_small_context_free(persona: Persona):
    assert tokens(persona.bio, persona.scenario, *persona.example_dialogs) < 900


@every_persona
def test_the_first_words_of_a_bio_say_who_it_is(persona: Persona):
    assert persona.bio.startswith("{{char}} ")
    assert persona.name not in persona.bio
    assert words(persona.bio.split(". ")[0]) <= 45


@every_persona
def test_greetings_differ_and_have_a_readable_length(persona: Persona):
    assert len({greeting.casefold() for greeting in persona.first_messages}) == 3
    for greeting in persona.first_messages:
        assert 40 <= words(greeting) <= 160


@every_persona
def test_greetings_never_speak_for_the_user(persona: Persona):
    for greeting in persona.first_messages:
        assert not re.search(r"^\W*\{\{user\}\}\W*:", greeting, re.MULTILINE)
        assert not re.search(r"\{\{user\}\},?\W* (says?|asks?|answers?|thinks?|feels?|nods?|smiles?|sits?)\b", greeting)


@every_persona
def test_marks_of_action_and_speech_are_closed(persona: Persona):
    for text in [*persona.first_messages, *persona.example_dialogs]:
        assert text.count("*") % 2 == 0, text
        for opening, closing in ("“”", "«»", "()"):
            assert text.count(opening) == text.count(closing), text


@every_persona
def test_greetings_use_actions_and_speech_as_the_persona_does(persona: Persona):
    for greeting in persona.first_messages:
        assert ("*" in greeting and "“" in greeting) is (persona.unique_name != QUIET)


@every_persona
def test_the_worlds_of_a_persona_are_shipped(persona: Persona):
    assert set(persona.worlds) <= WORLDS.keys()


def test_the_quiet_assistant_keeps_to_plain_text_under_any_preset():
    assert PERSONAS[QUIET].system_prompt == SYSTEMS["assistant"].prompt


@every_persona
def test_a_schedule_names_every_day_or_none(persona: Persona):
    assert len(persona.schedule) in {0, 7}
    assert bool(persona.schedule) is bool(persona.schedule_prefix)


@every_persona
def test_an_avatar_is_a_harmless_square_drawing(persona: Persona):
    path = SHIPPED.shipped_personas / persona.avatar

    root = ET.fromstring(path.read_bytes())
    elements = list(root.iter())

    assert root.attrib["viewBox"] == "0 0 128 128"
    assert {element.tag.rpartition("}")[2] for element in elements} <= DRAWING
    attributes = [(key.rpartition("}")[2], value) for element in elements for key, value in element.attrib.items()]
    assert not [key for key, _ in attributes if key in {"href", "src", "style"} or key.startswith("on")]
    assert not [value for _, value in attributes if "url(" in value or "//" in value or "data:" in value]


@every_world
def test_a_world_is_rich_and_its_entries_are_short(world: World):
    assert len(world.entries) >= 18
    assert world.description
    for entry in world.entries:
        assert entry.name
        assert 40 <= words(entry.content) <= 110, entry.name


def test_every_entry_has_an_identity_and_a_title_of_its_own():
    entries = [entry for world in WORLDS.values() for entry in world.entries]

    assert len({entry.guid for entry in entries}) == len(entries)
    assert all(entry.guid.version == 4 for entry in entries)
    assert all("guid" in entry.model_fields_set for entry in entries)
    for world in WORLDS.values():
        assert len({entry.name.casefold() for entry in world.entries}) == len(world.entries)


@every_world
def test_words_can_wake_every_entry_that_is_not_always_there(world: World):
    for entry in world.entries:
        assert entry.sticky or entry.keywords_main, entry.name
        for keywords in (entry.keywords_main, entry.keywords_secondary):
            assert all(keyword and keyword == keyword.strip() for keyword in keywords), entry.name
            assert len(set(keywords)) == len(keywords), entry.name


@every_world
def test_a_condition_has_words_to_look_at(world: World):
    for entry in world.entries:
        assert bool(entry.keywords_secondary) is ("word_link" in entry.model_fields_set), entry.name
        if entry.word_link is WordLink.NOT:
            assert not set(entry.keywords_main) & set(entry.keywords_secondary), entry.name


@every_world
def test_what_is_always_there_is_little_and_stands_in_the_system_prompt(world: World):
    always = [entry for entry in world.entries if entry.sticky]

    assert len(always) == 1
    assert always[0].position_index == -1
    assert tokens(always[0].content) <= 150


@every_world
def test_entries_are_already_awake(world: World):
    for entry in world.entries:
        assert entry.added.year == 2020, entry.name
        assert entry.end_time is None, entry.name


def test_every_world_is_lived_in_by_somebody():
    assert {name for persona in PERSONAS.values() for name in persona.worlds} == WORLDS.keys()


@every_system
def test_a_system_prompt_introduces_both_sides_once(preset: SystemPreset):
    assert preset.prompt.count("{{charbio}}") == 1
    assert preset.prompt.count("{{userbio}}") == 1
    assert "{{char}}" in preset.prompt
    assert "{{user}}" in preset.prompt


@every_system
def test_memory_has_a_place_in_every_system_prompt(preset: SystemPreset):
    assert preset.world_info_title
    assert preset.session_history_title
    assert preset.core_facts_title
    assert preset.inner_thoughts_title
    assert preset.scenario_title or "{{scenario}}" in preset.prompt


def test_system_prompts_are_short_and_the_tiny_one_is_shortest():
    sizes = {stem: tokens(preset.prompt) for stem, preset in SYSTEMS.items()}

    assert max(sizes.values()) < 450
    assert sizes["tiny"] < 50


def test_only_macros_that_can_be_filled_in_are_used():
    for found in (PERSONAS, WORLDS, SYSTEMS):
        for stem, item in found.items():
            for text in texts_of(item.model_dump(mode="json")):
                assert unknown_macros(text) == [], f"{stem}: {text[:60]}"
                assert text.count("{{") == text.count("}}"), f"{stem}: {text[:60]}"


def test_the_sampler_of_certain_answers_draws_nothing_by_chance():
    certain = SAMPLERS["deterministic"]

    assert certain.temperature == 0
    assert certain.seed >= 0
    assert (certain.xtc_probability, certain.dry_multiplier, certain.mirostat) == (0, 0, 0)


def test_samplers_for_small_models_do_not_throw_away_the_likeliest_word():
    for stem in ("default", "small-models", "precise"):
        assert SAMPLERS[stem].xtc_probability == 0
