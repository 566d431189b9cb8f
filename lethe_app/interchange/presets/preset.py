"""Presets of SillyTavern: the kind is recognised by the fields; a master file contains several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from pydantic import JsonValue, ValidationError

from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.originals import keep_original, restore_original, without_secrets
from lethe_app.interchange.presets.context import read_context, read_system_prompt, write_system_prompt
from lethe_app.interchange.presets.instruct import read_instruct, write_instruct
from lethe_app.interchange.presets.old_lethe import is_old_lethe, read_old_lethe
from lethe_app.interchange.presets.samplers import CHAT_COMPLETION_MARKS, is_sampler_preset, read_sampler, write_sampler

Preset = InstructPreset | SamplerPreset | SystemPreset
Reader = Callable[[Mapping[str, JsonValue], str, ImportNotes], Preset]
CONVERTERS: Mapping[type[Preset], tuple[Reader, Callable[[Any], JsonObject]]] = {
    InstructPreset: (read_instruct, write_instruct),
    SamplerPreset: (read_sampler, write_sampler),
    SystemPreset: (read_system_prompt, write_system_prompt),
}
"""Functions that read and write a kind of preset."""
MASTER_PARTS = ("instruct", "context", "sysprompt", "preset", "reasoning")


def is_preset(values: JsonValue) -> bool:
    """Return whether a JSON value is a preset that `read_presets` knows, even if it has no counterpart here."""
    return isinstance(values, dict) and (_find_own_kind(values) is not None or is_old_lethe(values) or _find_kind(values) != "")


def read_presets(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> list[Preset]:
    """Return the presets of a file. A context template becomes a system preset; reasoning templates give a note."""
    return list(_read(values, name, notes))


def _read(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> Iterator[Preset]:
    own = _find_own_kind(values)
    if own is not None:
        yield own.model_validate(without_secrets(values))
        return
    if is_old_lethe(values):
        yield read_old_lethe(values, name, notes)
        return
    match _find_kind(values):
        case "master":
            for part in MASTER_PARTS:
                inner = FieldReader(values, notes).mapping(part)
                if inner:
                    yield from _read(inner, FieldReader(inner).text("name").strip() or name, notes)
        case type() as kind:
            yield _read_and_keep(kind, values, name, notes)
        case "context":
            yield read_context(values, name, notes).model_copy(update={"original": without_secrets(values)})
        case kind:
            notes.add(NoteKind.UNSUPPORTED, kind)


def _read_and_keep(kind: type[Preset], values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> Preset:
    """Return a preset, with what it cannot express as its `original`."""
    read, write = CONVERTERS[kind]
    preset = read(values, name, notes)
    for field in sorted(values.keys() - without_secrets(values).keys()):
        notes.add(NoteKind.UNSUPPORTED, field)
    kept = keep_original(values, write(preset), lambda changed: read(changed, preset.name, ImportNotes()), preset)
    return preset.model_copy(update={"original": kept})


def write_preset(preset: Preset) -> JsonObject:
    """Return a preset for SillyTavern, with the fields of its `original` that still hold."""
    read, write = CONVERTERS[type(preset)]
    return restore_original(write(preset), preset.original, lambda values: read(values, preset.name, ImportNotes()))


def _find_own_kind(values: Mapping[str, JsonValue]) -> type[Preset] | None:
    """Return the kind of a preset that Lethe exported, or None."""
    for kind in CONVERTERS if len(values) > 1 else ():  # a name alone would be a preset of any kind
        with suppress(ValidationError):
            kind.model_validate(values)
            return kind
    return None


def _find_kind(values: Mapping[str, JsonValue]) -> type[Preset] | str:
    """Return the kind of a preset; a name for those that are no preset of ours, empty if it is none."""
    if sum(isinstance(values.get(part), dict) for part in MASTER_PARTS) >= 1 and "input_sequence" not in values:
        return "master"
    if "input_sequence" in values and "output_sequence" in values:
        return InstructPreset
    if "story_string" in values:
        return "context"
    if is_sampler_preset(values):
        return SamplerPreset if CHAT_COMPLETION_MARKS.isdisjoint(values) else "chat completion preset"
    if "content" in values and "name" in values and len(values) <= 4:
        return SystemPreset
    return "reasoning" if "prefix" in values and "suffix" in values and "separator" in values else ""
