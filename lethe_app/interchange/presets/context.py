"""System prompts of SillyTavern, and its context templates, whose arrangement of the texts becomes that of a system preset."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.presets import SystemPreset
from lethe_app.interchange.field_reader import FieldReader
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
STORY = "story_string"
MACROS = {
    "description": "{{charbio}}",
    "persona": "{{userbio}}",
    "scenario": "{{scenario}}",
    "mesExamples": "{{examples}}",
    "char": "{{char}}",
    "user": "{{user}}",
    "system": "Write the next reply of {{char}} in this conversation with {{user}}.",
}
"""Our text for the variables of a story string. The system prompt is a preset of its own there, so that a sentence stands for
it; personality, World Info and anchors have places of their own here and are left out.
"""
NAMES = ("char", "user")
WITHOUT_EFFECT = ("chat_start", "example_separator")
MAX_ROUNDS = 20
"""Nesting of conditions that is resolved."""
_CONDITION = re.compile(
    r"\{\{#(?:if|unless)\s+[^{}]*\}\}((?:(?!\{\{#(?:if|unless)|\{\{/(?:if|unless)\}\}).)*)\{\{/(?:if|unless)\}\}", re.DOTALL
)
"""Condition that contains no other one."""
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_CONTROL = re.compile(r"<\|[^<>|\n]{1,40}\|>(?:system|user|assistant)?|</?s>|\[/?INST\]|<</?SYS>>")
"""Tokens of a chat format, which the instruct preset adds here."""
_REST = re.compile(r"\{\{[^{}]*\}\}")


def read_context(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> SystemPreset:
    """Return a context template as a system preset."""
    fields = FieldReader(values, notes)
    for field in WITHOUT_EFFECT:
        if fields.text(field).strip():
            notes.add(NoteKind.NO_EFFECT, field)
    return SystemPreset(name=fields.text("name").strip() or name, prompt=convert_story(fields.text(STORY)), **TITLES)


def convert_story(story: str) -> str:
    """Return the text of a story string with our macros. Conditions are resolved as if every text existed, because our macros
    are empty where there is none; a part about nothing that we have is left out.
    """
    for _ in range(MAX_ROUNDS):
        story, count = _CONDITION.subn(_resolve, story)
        if not count:
            break
    kept = _VARIABLE.sub(lambda match: MACROS.get(match[1], match[0] if match[0] in MACROS.values() else ""), story)
    text = _REST.sub(lambda match: match[0] if match[0] in MACROS.values() else "", kept)
    return re.sub(r"\n{3,}", "\n\n", _CONTROL.sub("", text)).strip()


def _resolve(match: re.Match[str]) -> str:
    body = match[1].partition("{{else}}")[0]
    variables = [variable for variable in _VARIABLE.findall(body) if variable not in NAMES]
    return body if not variables or any(variable in MACROS for variable in variables) else ""


def read_system_prompt(values: Mapping[str, JsonValue], name: str, notes: ImportNotes) -> SystemPreset:
    """Return a system prompt preset."""
    fields = FieldReader(values, notes)
    if fields.text("post_history"):
        notes.add(NoteKind.NO_EFFECT, "post_history")
    return SystemPreset(name=fields.text("name").strip() or name, prompt=fields.text("content"), **TITLES)


def write_system_prompt(preset: SystemPreset) -> JsonObject:
    """Return a system prompt preset for SillyTavern."""
    return {"name": preset.name, "content": preset.prompt, "post_history": ""}
