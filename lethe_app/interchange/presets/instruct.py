"""Instruct presets of SillyTavern."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.presets import InstructPreset
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject

FIELDS = {
    "first_user_start": "first_input_sequence",
    "last_user_start": "last_input_sequence",
    "first_bot_start": "first_output_sequence",
}
"""SillyTavern's sequence by our field, for prefixes that replace another one."""
WITHOUT_EFFECT = ("last_system_sequence", "activation_regex", "system_sequence_prefix", "system_sequence_suffix")
"""Fields that our presets do not have; the last two have no effect in SillyTavern any more."""


def read_instruct(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> InstructPreset:
    """Return an instruct preset. With `wrap` SillyTavern adds a newline after each prefix, and one in place of a missing
    suffix; and the newline at the end of the last turn is the one before the prefix of the reply.
    """
    fields = FieldReader(values, notes)
    newline = "\n" if fields.flag("wrap", default=True) else ""

    def prefix(field: str) -> str:
        return text + newline if (text := fields.text(field)) else ""

    for field in WITHOUT_EFFECT:
        if fields.text(field):
            notes.add(NoteKind.NO_EFFECT, field)
    same = fields.flag("system_same_as_user")
    has_names = fields.flag("names") if "names" in values else fields.text("names_behavior") == "always"
    ends = {"input": fields.text("input_suffix") or newline, "system": fields.text("system_suffix") or newline}
    bot_end = fields.text("separator_sequence" if "separator_sequence" in values else "output_suffix") or newline
    note_start, note_end = prefix("input_sequence" if same else "system_sequence"), ends["input" if same else "system"]
    system_start, system_end = prefix("story_string_prefix"), fields.text("story_string_suffix") or newline
    bot_start = prefix("output_sequence")
    has_lines = all(end.endswith("\n") for end in (ends["input"], note_end, bot_end, system_end))
    reply = _read_reply_start(fields, newline, has_names=has_names)
    stops = [line for line in fields.text("stop_sequence").split("\n") if line.strip()]
    if fields.flag("sequences_as_stop_strings", default=True):
        stops += [text.strip() for field in ("input_sequence", "system_sequence") if (text := fields.text(field)).strip()]
    return InstructPreset(
        name=fields.text("name").strip() or name,
        system_start=system_start,
        system_end=system_end,
        note_start=note_start if (note_start, note_end) != (system_start, system_end) else None,
        note_end=note_end if (note_start, note_end) != (system_start, system_end) else None,
        user_start=prefix("input_sequence"),
        user_end=ends["input"],
        bot_start=bot_start,
        bot_end=bot_end,
        reply_start=reply if reply != (bot_start if has_names else bot_start.rstrip(" ")) else "",
        reply_on_new_line=bool(newline) and not has_lines,
        opening_message=fields.text("user_alignment_message"),
        stop_strings=list(dict.fromkeys(stops)),
        system_role=fields.flag("system_role", default=True),
        add_names=has_names,
        **{ours: prefix(theirs) for ours, theirs in FIELDS.items()},
    )


def _read_reply_start(fields: FieldReader, newline: str, *, has_names: bool) -> str:
    """Return the prefix of a new reply. Before a name it ends as that of past replies does."""
    past, last = fields.text("output_sequence"), fields.text("last_output_sequence")
    start = last or past
    if has_names:
        return start + newline + (past[-1:] if last and past[-1:].isspace() and not last[-1:].isspace() else "")
    return start.rstrip() + newline if newline and start.strip() else start


def write_instruct(preset: InstructPreset) -> JsonObject:
    """Return an instruct preset for SillyTavern. Newlines are part of the sequences, so that `wrap` is off unless it puts the
    reply on a new line; `system_role` is a field of our own.
    """
    note_start = preset.system_start if preset.note_start is None else preset.note_start
    note_end = preset.system_end if preset.note_end is None else preset.note_end
    sequences = list(dict.fromkeys(text.strip() for text in (preset.user_start, note_start) if text.strip()))
    count = len(preset.stop_strings) - len(sequences)
    are_stops = preset.stop_strings[max(count, 0) :] == sequences
    own = preset.stop_strings[: max(count, 0)] if are_stops else preset.stop_strings
    plain = preset.bot_start if preset.add_names else preset.bot_start.rstrip(" ")
    # Before a name SillyTavern repeats the space that ends the prefix of past replies.
    reply = preset.reply_start.rstrip(" ") if preset.add_names and preset.reply_start.endswith("\n ") else preset.reply_start
    starts: JsonObject = {
        "input_sequence": preset.user_start,
        "output_sequence": preset.bot_start,
        "system_sequence": note_start,
        "story_string_prefix": preset.system_start,
        "last_output_sequence": reply or (plain if plain != preset.bot_start else ""),
        **{theirs: getattr(preset, ours) for ours, theirs in FIELDS.items()},
    }
    suffixes = {"input_suffix": preset.user_end, "output_suffix": preset.bot_end, "system_suffix": note_end}
    wrap = (
        preset.reply_on_new_line
        and all(suffixes.values())
        and all(str(text or "\n").endswith("\n") for text in starts.values())
    )
    return {
        "name": preset.name,
        "wrap": wrap,
        "macro": True,
        **({field: str(text).removesuffix("\n") for field, text in starts.items()} if wrap else starts),
        **suffixes,
        "story_string_suffix": preset.system_end,
        "stop_sequence": "\n".join(own),
        "sequences_as_stop_strings": are_stops,
        "names_behavior": "always" if preset.add_names else "none",
        "system_same_as_user": False,
        "user_alignment_message": preset.opening_message,
        "activation_regex": "",
        "skip_examples": False,
        **({} if preset.system_role else {"system_role": False}),
    }
