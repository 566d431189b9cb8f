"""Presets of SillyTavern: the kind is recognised by the fields; a master file contains several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from lethe_app.domain.import_notes import NoteKind
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.import_notes import ImportNotes
from lethe_app.interchange.presets.instruct import read_instruct
from lethe_app.interchange.presets.samplers import is_sampler_preset, read_sampler
from lethe_app.interchange.presets.system_prompt import read_system_prompt

Preset = InstructPreset | SamplerPreset | SystemPreset
MASTER_PARTS = ("instruct", "context", "sysprompt", "preset", "reasoning")


def is_preset(values: JsonValue) -> bool:
    """Return whether a JSON value is a preset that `read_presets` knows, even if it has no counterpart here."""
    return isinstance(values, dict) and _find_kind(values) != ""


def read_presets(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> list[Preset]:
    """Return the presets of a file. Context and reasoning presets have no counterpart and give a note."""
    return list(_read(values, name, notes))


def _read(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> Iterator[Preset]:
    match _find_kind(values):
        case "master":
            for part in MASTER_PARTS:
                inner = FieldReader(values, notes).mapping(part)
                if inner:
                    yield from _read(inner, FieldReader(inner, ImportNotes()).text("name").strip() or name, notes)
        case "instruct":
            yield read_instruct(values, name, notes)
        case "sampler":
            yield read_sampler(values, name, notes)
        case "system":
            yield read_system_prompt(values, name, notes)
        case kind:
            notes.add(NoteKind.UNSUPPORTED, kind)


def _find_kind(values: Mapping[str, JsonValue]) -> str:
    if sum(isinstance(values.get(part), dict) for part in MASTER_PARTS) >= 1 and "input_sequence" not in values:
        return "master"
    if "input_sequence" in values and "output_sequence" in values:
        return "instruct"
    if "story_string" in values:
        return "context"
    if is_sampler_preset(values):
        return "sampler"
    if "content" in values and "name" in values and len(values) <= 4:
        return "system"
    return "reasoning" if "prefix" in values and "suffix" in values and "separator" in values else ""
