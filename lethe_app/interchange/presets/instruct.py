"""Instruct presets of SillyTavern."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.presets import InstructPreset
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject

WITHOUT_EFFECT = (
    "first_input_sequence",
    "last_input_sequence",
    "first_output_sequence",
    "last_system_sequence",
    "activation_regex",
    "user_alignment_message",
    "story_string_prefix",
    "story_string_suffix",
)
"""Sequences for single places of a prompt, which our presets do not have."""


def read_instruct(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> InstructPreset:
    """Return an instruct preset. With `wrap` SillyTavern adds a newline after each prefix, and after a suffix where it
    separates messages.
    """
    fields = FieldReader(values, notes)
    newline = "\n" if fields.flag("wrap", default=True) else ""

    def prefix(field: str) -> str:
        text = fields.text(field)
        return text + newline if text and not text.endswith("\n") else text

    def suffix(field: str) -> str:
        text = fields.text(field)
        return text + newline if not text.endswith("\n") else text

    for field in WITHOUT_EFFECT:
        if fields.text(field):
            notes.add(NoteKind.NO_EFFECT, field)
    end = "output_suffix" if fields.text("output_suffix") or not fields.text("separator_sequence") else "separator_sequence"
    same = fields.flag("system_same_as_user")
    behaviour = fields.text("names_behavior") or ("always" if fields.flag("names") else "force")
    reply_start = prefix("last_output_sequence")
    stops = [stop] if (stop := fields.text("stop_sequence")) else []
    if fields.flag("sequences_as_stop_strings", default=True):
        stops += [text.strip() for field in ("input_sequence", "system_sequence") if (text := fields.text(field)).strip()]
    return InstructPreset(
        name=fields.text("name").strip() or name,
        system_start=prefix("input_sequence" if same else "system_sequence"),
        system_end=suffix("input_suffix" if same else "system_suffix"),
        user_start=prefix("input_sequence"),
        user_end=suffix("input_suffix"),
        bot_start=prefix("output_sequence"),
        bot_end=suffix(end),
        reply_start=reply_start if reply_start != prefix("output_sequence") else "",
        stop_strings=list(dict.fromkeys(stops)),
        system_role=bool(fields.text("system_sequence")) or same,
        add_names=behaviour == "always",
    )


def write_instruct(preset: InstructPreset) -> JsonObject:
    """Return an instruct preset for SillyTavern. Newlines are part of the sequences, so that `wrap` is off."""
    return {
        "name": preset.name,
        "wrap": False,
        "macro": True,
        "system_sequence": preset.system_start,
        "system_suffix": preset.system_end,
        "input_sequence": preset.user_start,
        "input_suffix": preset.user_end,
        "output_sequence": preset.bot_start,
        "output_suffix": preset.bot_end,
        "last_output_sequence": preset.reply_start,
        "stop_sequence": next(iter(preset.stop_strings), ""),
        "sequences_as_stop_strings": True,
        "names_behavior": "always" if preset.add_names else "none",
        "system_same_as_user": False,
        "activation_regex": "",
        "skip_examples": False,
    }
