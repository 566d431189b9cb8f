"""Instruct formats and system prompts of the original Lethe AI Chat; its samplers have the names of KoboldAI's."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.presets import InstructPreset, SystemPreset
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.presets.context import TITLES

HEADINGS = {
    "WorldInfoTitle": "world_info_title",
    "ScenarioTitle": "scenario_title",
    "DialogsTitle": "dialogs_title",
    "SessionHistoryTitle": "session_history_title",
    "CoreFactsTitle": "core_facts_title",
    "InnerThoughtsTitle": "inner_thoughts_title",
}
"""Our field by the name of a heading, in which the marks of Markdown are part of the text there."""
SEPARATORS = {"CategorySeparator": "category_separator", "SubCategorySeparator": "sub_category_separator"}
WITHOUT_COUNTERPART = (
    "GroupThinkingPrefix",
    "ThinkingSystemPromptPrefix",
    "ThinkingSystemPromptSuffix",
    "ForceRAGToThinkingPrompt",
    "NoInstructInStopString",
)


def is_old_lethe(values: Mapping[str, JsonValue]) -> bool:
    """Return whether these are an instruct format or a system prompt of the original Lethe."""
    return _is_instruct(values) or ("Prompt" in values and not {*HEADINGS, *SEPARATORS}.isdisjoint(values))


def _is_instruct(values: Mapping[str, JsonValue]) -> bool:
    return "UserStart" in values and "BotStart" in values


def read_old_lethe(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> InstructPreset | SystemPreset:
    """Return a preset of the original Lethe, called as its file is unless it has a name of its own."""
    fields = FieldReader(values, notes)
    own_name = fields.text("UniqueName").strip() or name
    return _read_instruct(fields, own_name, notes) if _is_instruct(values) else _read_system_prompt(values, fields, own_name)


def _read_instruct(fields: FieldReader, name: str, notes: ImportNotes) -> InstructPreset:
    newline = "\n" if fields.flag("NewLinesBetweenMessages") else ""
    for field in WITHOUT_COUNTERPART:
        if fields.text(field) if not field.startswith(("Force", "No")) else fields.flag(field):
            notes.add(NoteKind.UNSUPPORTED, field)
    note = fields.text("SystemStart"), fields.text("SystemEnd") + newline
    own_head = fields.text("SysPromptStart"), fields.text("SysPromptEnd") + newline
    head = own_head if own_head != ("", newline) else note
    start, thought = fields.text("BotStart"), fields.text("ThinkingStart")
    past, is_begun = fields.text("BotStartOverride") or start, fields.flag("PrefillThinking")
    opening = start + (thought + fields.text("ThinkingForcedThought") if is_begun else "")
    return InstructPreset(
        name=name,
        bos=fields.text("BoSToken"),
        system_start=head[0],
        system_end=head[1],
        note_start=note[0] if note != head else None,
        note_end=note[1] if note != head else None,
        user_start=fields.text("UserStart"),
        user_end=fields.text("UserEnd") + newline,
        bot_start=past,
        bot_end=(fields.text("BotEndOverride") or fields.text("BotEnd")) + newline,
        reply_start=opening if thought and opening != past + thought else "",
        stop_strings=list(dict.fromkeys(filter(None, (fields.text("StopSequence"), *fields.texts("StopStrings", "\0"))))),
        add_names=fields.flag("AddNamesToPrompt"),
        thinking_start=thought,
        thinking_end=fields.text("ThinkingEnd"),
        empty_thinking_when_off=fields.flag("RequireEmptyThinkBlockWhenThinkingDisabled"),
    )


def _read_system_prompt(values: Mapping[str, JsonValue], fields: FieldReader, name: str) -> SystemPreset:
    """Return a system prompt. An empty heading leaves its section out, as it does here; a missing one is that of ours."""
    titles = {ours: fields.text(theirs).lstrip("# \n").rstrip() for theirs, ours in HEADINGS.items() if theirs in values}
    marks = {ours: mark for theirs, ours in SEPARATORS.items() if (mark := fields.text(theirs).strip())}
    return SystemPreset(name=name, prompt=fields.text("Prompt"), **{**TITLES, **titles, **marks})
