"""Characters of Pygmalion, text-generation-webui, Agnai, Backyard (BYAF) and the original Lethe AI Chat, as V2 cards."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNotes
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject

PYGMALION_FIELDS = {
    "char_persona": "description",
    "context": "description",
    "char_greeting": "first_mes",
    "greeting": "first_mes",
    "example_dialogue": "mes_example",
    "world_scenario": "scenario",
}
"""Card fields by the names in Pygmalion's JSON and in the YAML of text-generation-webui."""
_BACKYARD_MACROS = (
    (re.compile(r"#?\{user\}", re.IGNORECASE), "{{user}}"),
    (re.compile(r"#?\{character\}", re.IGNORECASE), "{{char}}"),
)


def from_pygmalion(values: Mapping[str, JsonValue]) -> JsonObject:
    """Return a character of Pygmalion or text-generation-webui as a card."""
    reader = FieldReader(values)
    data: JsonObject = {"name": reader.text("char_name") or reader.text("name")}
    data |= {field: reader.text(name) for name, field in PYGMALION_FIELDS.items() if reader.text(name)}
    return _with_rest(data, values, {"char_name", "name", *PYGMALION_FIELDS}, "pygmalion")


AGNAI_FIELDS = {
    "greeting": "first_mes",
    "scenario": "scenario",
    "sampleChat": "mes_example",
    "description": "creator_notes",
    "systemPrompt": "system_prompt",
    "postHistoryInstructions": "post_history_instructions",
    "creator": "creator",
    "characterVersion": "character_version",
}
"""Card fields by the names of Agnai."""


def from_agnai(values: Mapping[str, JsonValue]) -> JsonObject:
    """Return a character of Agnai as a card; its book is one of memory entries."""
    reader = FieldReader(values)
    description = [_agnai_persona(reader.child("persona")), reader.text("appearance")]
    data: JsonObject = {
        "name": reader.text("name"),
        "description": "\n\n".join(filter(None, description)),
        "alternate_greetings": [*reader.texts("alternateGreetings", "\0")],
        "tags": [*reader.texts("tags")],
    }
    data |= {field: reader.text(name) for name, field in AGNAI_FIELDS.items() if reader.text(name)}
    book = reader.child("characterBook")
    if entries := [_agnai_entry(entry) for _values, entry in book.objects("entries")]:
        data["character_book"] = {"name": book.text("name"), "entries": [*entries]}
    used = {"kind", "name", "persona", "appearance", "alternateGreetings", "tags", "characterBook", *AGNAI_FIELDS}
    return _with_rest(data, values, used, "agnai")


def _agnai_persona(persona: FieldReader) -> str:
    """Return the description of a character: as text, or an attribute per line with its values."""
    attributes = persona.child("attributes")
    lines = [(name, ", ".join(attributes.texts(name, "\0"))) for name in persona.mapping("attributes")]
    return "\n".join(value if name == "text" else f"{name}: {value}" for name, value in lines if value)


def _agnai_entry(reader: FieldReader) -> JsonObject:
    return {
        "name": reader.text("name"),
        "keys": [*reader.texts("keywords")],
        "content": reader.text("entry"),
        "enabled": reader.flag("enabled", default=True),
        "priority": reader.number("priority", 1),
        "insertion_order": reader.number("weight", 100),
    }


def from_old_lethe(values: Mapping[str, JsonValue]) -> JsonObject:
    """Return a persona of the original Lethe AI Chat as a card."""
    reader = FieldReader(values)
    greetings = reader.texts("FirstMessage", "\0")
    data: JsonObject = {
        "name": reader.text("Name") or reader.text("UniqueName"),
        "description": reader.text("Bio"),
        "scenario": reader.text("Scenario"),
        "first_mes": next(iter(greetings), ""),
        "alternate_greetings": [*greetings[1:]],
        "mes_example": "".join(f"<START>\n{line}\n" for line in reader.texts("ExampleDialogs", "\0")),
        "system_prompt": reader.text("SystemPrompt"),
    }
    used = {"Name", "Bio", "Scenario", "FirstMessage", "ExampleDialogs", "SystemPrompt"}
    return _with_rest(data, values, used | OLD_LETHE_SETTINGS.keys(), "lethe")


OLD_LETHE_SETTINGS: Mapping[str, tuple[str, Callable[[FieldReader, str], object]]] = {
    "IsUser": ("is_user", FieldReader.flag),
    "MiniBio": ("mini_bio", FieldReader.text),
    "SenseOfTime": ("sense_of_time", FieldReader.flag),
    "DatesInSessionSummaries": ("dates_in_session_summaries", partial(FieldReader.flag, default=True)),
    "DisableBotGuidance": ("disable_bot_guidance", FieldReader.flag),
    "SelfEditField": ("self_edit_field", FieldReader.text),
    "SelfEditTokens": ("self_edit_tokens", partial(FieldReader.number, default=0, low=0, high=4000)),
    "TTSVoice": ("tts_voice", FieldReader.text),
    "CanInitiateChat": ("can_initiate_chat", FieldReader.flag),
}
"""Our field and how it is read, by the field of a persona of the original Lethe that no card has."""


def read_old_lethe_settings(values: Mapping[str, JsonValue], notes: ImportNotes) -> dict[str, object]:
    """Return the fields of a persona of the original Lethe that no card has."""
    reader = FieldReader(values, notes)
    return {ours: read(reader, theirs) for theirs, (ours, read) in OLD_LETHE_SETTINGS.items() if values.get(theirs) is not None}


def from_backyard(character: Mapping[str, JsonValue], scenarios: Sequence[Mapping[str, JsonValue]]) -> JsonObject:
    """Return a character of a BYAF archive as a card. The openings of further scenarios become alternate greetings."""
    reader = FieldReader(character)
    first = FieldReader(scenarios[0] if scenarios else None)
    firsts = [FieldReader(scenario).items("firstMessages")[:1] for scenario in scenarios]
    openings = [text for found in firsts for one in found if (text := _replace_macros(FieldReader(one).text("text")))]
    examples = [f"<START>\n{text}" for _values, one in first.objects("exampleMessages") if (text := one.text("text"))]
    lore: list[JsonValue] = [
        {"keys": [*item.texts("key")], "content": _replace_macros(item.text("value"))}
        for _values, item in reader.objects("loreItems")
    ]
    data: JsonObject = {
        "name": reader.text("displayName") or reader.text("name"),
        "description": _replace_macros(reader.text("persona")),
        "scenario": _replace_macros(first.text("narrative")),
        "system_prompt": _replace_macros(first.text("formattingInstructions")),
        "first_mes": next(iter(openings), ""),
        "alternate_greetings": [*openings[1:]],
        "mes_example": _replace_macros("\n".join(examples)),
    }
    if lore:
        data["character_book"] = {"entries": lore}
    return _with_rest(data, character, {"name", "displayName", "persona", "loreItems"}, "backyard")


def _replace_macros(text: str) -> str:
    for macro, replacement in _BACKYARD_MACROS:
        text = macro.sub(replacement, text)
    return text


def _with_rest(data: JsonObject, values: Mapping[str, JsonValue], used: set[str], program: str) -> JsonObject:
    rest = {name: value for name, value in values.items() if name not in used}
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": {**data, "extensions": {program: rest} if rest else {}}}
