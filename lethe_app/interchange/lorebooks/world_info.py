"""World Info entries of SillyTavern, the form through which every lorebook format is read and written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from uuid import UUID, uuid5

from pydantic import JsonValue

from lethe_app.domain.chat import Role
from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.memory import WordLink
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.originals import keep_original, restore_original

LOGIC = (WordLink.AND, WordLink.NOT_ALL, WordLink.NOT, WordLink.AND_ALL)
"""Selective logic by SillyTavern's number: AND ANY, NOT ALL, NOT ANY, AND ALL."""
ROLES = (Role.SYSTEM, Role.USER, Role.ASSISTANT)
"""Roles by SillyTavern's number."""
AT_DEPTH, BEFORE_CHARACTER, AFTER_CHARACTER, OUTLET = 4, 0, 1, 7
"""Positions: among the messages, before or after the description of the character in the system prompt, and where a macro
inserts it; those beside the author's note and the examples have no counterpart.
"""
DEFAULT_DEPTH, DEFAULT_ORDER, DEFAULT_WEIGHT, DEFAULT_PRIORITY = 4, 100, 100, 1
MAX_DEPTH = 1000
WITHOUT_EFFECT = (
    "automationId",
    "triggers",
    "characterFilter",
    "matchPersonaDescription",
    "matchCharacterDescription",
    "matchCharacterPersonality",
    "matchCharacterDepthPrompt",
    "matchScenario",
    "matchCreatorNotes",
)
"""Fields that are kept but have no effect here."""
_IDS = UUID("3ad8f2c1-6d0e-49b3-8f57-0c9b1a64e2d7")


def read_entry(values: Mapping[str, JsonValue], notes: ImportNotes, location: str, number: int) -> WorldEntry:
    """Return the entry of these World Info fields, with what it cannot express as its `original`."""
    fields = read_entry_fields(values, notes, location, number)
    entry = WorldEntry.model_validate({**fields, "guid": uuid5(_IDS, f"{location}\0{number}\0{fields['content']}")})
    kept = keep_original(values, write_entry_fields(entry, number), lambda values: comparable_entry(values, number), fields)
    return entry.model_copy(update={"original": kept})


def read_entry_fields(values: Mapping[str, JsonValue], notes: ImportNotes, location: str, number: int) -> dict[str, object]:
    """Return the values of an entry's fields. They are compared as such, because building a record takes far longer."""
    fields = FieldReader(values, notes, location)
    keys, content = fields.texts("key"), fields.text("content")
    is_selective = fields.flag("selective", default=True)
    sticky = fields.number("sticky", 0, 0, 2000)
    position = fields.number("position", BEFORE_CHARACTER)
    at_depth = position == AT_DEPTH
    outlet = fields.text("outletName").strip() if position == OUTLET else ""
    if position not in (BEFORE_CHARACTER, AFTER_CHARACTER, AT_DEPTH) and not outlet:
        notes.add(NoteKind.NO_EFFECT, "position")
    depth = fields.number("depth", DEFAULT_DEPTH, 0, MAX_DEPTH)
    chance = fields.decimal("probability", 100.0, 0.0, 100.0) if fields.flag("useProbability", default=True) else 100.0
    scan_depth = fields.optional_number("scanDepth", 0, 201)
    for name in WITHOUT_EFFECT:
        value = values.get(name)
        if any(value.get(field) for field in ("names", "tags")) if isinstance(value, dict) else value:
            notes.add(NoteKind.NO_EFFECT, name)
    return {
        "name": fields.text("comment").strip() or (keys[0].strip() if keys else f"Entry {number + 1}"),
        "content": content,
        "keywords_main": keys,
        "keywords_secondary": fields.texts("keysecondary") if is_selective else [],
        "word_link": LOGIC[fields.number("selectiveLogic", 0, 0, 3)],
        "sticky": fields.flag("constant"),
        # Without a name, no macro can insert it.
        "enabled": not fields.flag("disable") and (position != OUTLET or bool(outlet)),
        "outlet": outlet,
        "trigger_chance": chance / 100,
        "position_index": depth if at_depth else -1,
        "role": ROLES[fields.number("role", 0, 0, 2)] if at_depth else Role.SYSTEM,
        "order": fields.number("order", DEFAULT_ORDER, -1_000_000, 1_000_000),
        "priority": fields.number("priority", DEFAULT_PRIORITY, -1_000_000, 1_000_000),
        "case_sensitive": fields.flag("caseSensitive"),
        "whole_word": fields.flag("matchWholeWords", default=True),
        # The message being sent counts in SillyTavern's scan depth, but not in ours.
        "scan_depth": None if scan_depth is None else max(0, scan_depth - 1),
        "duration": max(1, math.ceil(sticky / 2)),  # messages there, turns of two messages here
        "cooldown": math.ceil(fields.number("cooldown", 0, 0, 2000) / 2),
        "delay": fields.number("delay", 0, 0, 10_000),
        "exclude_recursion": fields.flag("excludeRecursion"),
        "prevent_recursion": fields.flag("preventRecursion"),
        "delay_until_recursion": fields.number("delayUntilRecursion", 0, 0, 10),
        "groups": _group_names(fields.texts("group")),
        "group_override": fields.flag("groupOverride"),
        "group_weight": fields.number("groupWeight", DEFAULT_WEIGHT, 0, 100_000),
        "group_scoring": fields.optional_flag("useGroupScoring"),
        "ignore_budget": fields.flag("ignoreBudget"),
        "do_embeds": True if fields.flag("vectorized") else None,
    }


def _group_names(items: list[str]) -> list[str]:
    """Return the names of the groups: a text names several, separated by commas, and so may an item of a list."""
    return [name for item in items for part in item.split(",") if (name := part.strip())]


def write_entry(entry: WorldEntry, number: int) -> JsonObject:
    """Return an entry as World Info fields, with the fields of its `original` that still hold."""
    return restore_original(write_entry_fields(entry, number), entry.original, lambda fields: comparable_entry(fields, number))


def comparable_entry(fields: JsonObject, number: int) -> object:
    """Return what is compared of two entries."""
    return read_entry_fields(fields, ImportNotes(), "", number)


def write_entry_fields(entry: WorldEntry, number: int) -> JsonObject:
    """Return an entry as World Info fields, from our fields alone.

    Lethe's logic “Or”, a key of either list, has no counterpart: all keys are written as main keys.
    """
    is_either = entry.word_link is WordLink.OR
    keys = [*entry.keywords_main, *(entry.keywords_secondary if is_either else ())]
    secondary = [] if is_either else entry.keywords_secondary
    at_depth = entry.position_index >= 0
    # SillyTavern has no priority, so that only one other than the default is written.
    priority: JsonObject = {"priority": entry.priority} if entry.priority != DEFAULT_PRIORITY else {}
    outlet: JsonObject = {"outletName": entry.outlet} if entry.outlet else {}
    place = AT_DEPTH if at_depth else BEFORE_CHARACTER
    return {
        **priority,
        **outlet,
        "uid": number,
        "key": list(keys),
        "keysecondary": list(secondary),
        "comment": entry.name,
        "content": entry.content,
        "constant": entry.sticky,
        "vectorized": entry.do_embeds is True,
        "selective": True,
        "selectiveLogic": 0 if is_either else LOGIC.index(entry.word_link),
        "addMemo": True,
        "order": entry.order,
        "position": OUTLET if outlet else place,
        "disable": not entry.enabled,
        "excludeRecursion": entry.exclude_recursion,
        "preventRecursion": entry.prevent_recursion,
        "delayUntilRecursion": entry.delay_until_recursion,
        "probability": _percent(entry.trigger_chance),
        "useProbability": True,
        "depth": entry.position_index if at_depth else DEFAULT_DEPTH,
        "role": ROLES.index(entry.role) if at_depth and entry.role in ROLES else 0,
        "group": ",".join(entry.groups),
        "groupOverride": entry.group_override,
        "groupWeight": entry.group_weight,
        "useGroupScoring": entry.group_scoring,
        "scanDepth": None if entry.scan_depth is None else entry.scan_depth + 1,
        "caseSensitive": entry.case_sensitive,
        "matchWholeWords": entry.whole_word,
        "sticky": 2 * entry.duration - 1 if entry.duration > 1 else None,
        "cooldown": 2 * entry.cooldown or None,
        "delay": entry.delay or None,
        "ignoreBudget": entry.ignore_budget,
        "displayIndex": number,
    }


def _percent(fraction: float) -> int | float:
    percent = round(fraction * 100, 4)
    return int(percent) if percent.is_integer() else percent
