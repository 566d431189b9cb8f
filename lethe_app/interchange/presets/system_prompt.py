"""System prompts of SillyTavern and the parts of its context presets that ours have too."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from lethe_app.domain.import_notes import NoteKind
from lethe_app.domain.presets import SystemPreset
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.import_notes import ImportNotes
from lethe_app.interchange.json_text import JsonObject

TITLES = {
    "world_info_title": "What is known here",
    "scenario_title": "The scene",
    "dialogs_title": "How {{char}} writes",
    "session_history_title": "Earlier conversations\n"
    "What {{char}} and {{user}} have already been through together, oldest first.",
    "core_facts_title": "What {{char}} knows about {{user}}",
    "inner_thoughts_title": "{{char}}’s private thoughts",
}
"""Headings of the preset that comes with Lethe: without a heading, a section is left out, and with it World Info and memory."""


def read_system_prompt(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> SystemPreset:
    """Return a system prompt preset."""
    fields = FieldReader(values, notes)
    if fields.text("post_history"):
        notes.add(NoteKind.NO_EFFECT, "post_history")
    return SystemPreset(name=fields.text("name").strip() or name, prompt=fields.text("content"), **TITLES)


def write_system_prompt(preset: SystemPreset) -> JsonObject:
    """Return a system prompt preset for SillyTavern."""
    return {"name": preset.name, "content": preset.prompt, "post_history": ""}
