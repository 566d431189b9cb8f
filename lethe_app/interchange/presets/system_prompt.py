"""System prompts of SillyTavern and the parts of its context presets that ours have too."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from lethe_app.domain.import_notes import NoteKind
from lethe_app.domain.presets import SystemPreset
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.import_notes import ImportNotes
from lethe_app.interchange.json_text import JsonObject


def read_system_prompt(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> SystemPreset:
    """Return a system prompt preset."""
    fields = FieldReader(values, notes)
    if fields.text("post_history"):
        notes.add(NoteKind.NO_EFFECT, "post_history")
    return SystemPreset(name=fields.text("name").strip() or name, prompt=fields.text("content"))


def write_system_prompt(preset: SystemPreset) -> JsonObject:
    """Return a system prompt preset for SillyTavern."""
    return {"name": preset.name, "content": preset.prompt, "post_history": ""}
