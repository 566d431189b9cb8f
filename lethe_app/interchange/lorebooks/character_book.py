"""Entries of a card's book (`character_book` of V2 and V3, `lorebook_v3`), converted to World Info fields and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.lorebooks.world_info import AFTER_CHARACTER, BEFORE_CHARACTER, DEFAULT_ORDER, comparable_entry
from lethe_app.interchange.originals import keep_original, restore_original

FIELDS = {
    "keys": "key",
    "secondary_keys": "keysecondary",
    "comment": "comment",
    "content": "content",
    "constant": "constant",
    "selective": "selective",
    "insertion_order": "order",
    "priority": "priority",
    "case_sensitive": "caseSensitive",
    "id": "uid",
}
"""World Info fields by the field of a card's entry that means the same."""
EXTENSIONS = {
    name: re.sub(r"_(\w)", lambda match: match[1].upper(), name)
    for name in (
        "position", "exclude_recursion", "display_index", "probability", "useProbability", "depth", "selectiveLogic",
        "outlet_name", "group", "group_override", "group_weight", "prevent_recursion", "delay_until_recursion", "scan_depth",
        "match_whole_words", "use_group_scoring", "case_sensitive", "automation_id", "role", "vectorized", "sticky", "cooldown",
        "delay", "match_persona_description", "match_character_description", "match_character_personality",
        "match_character_depth_prompt", "match_scenario", "match_creator_notes", "triggers", "ignore_budget",
    )
}  # fmt: skip
"""World Info fields, in camel case, by SillyTavern's field in an entry's `extensions`, two of which are in camel case, too."""
WRITTEN_BY_SILLY_TAVERN = ("selectiveLogic", "display_index")
"""Extensions that show that an entry was written by SillyTavern."""
CARD_ENTRY = "cardEntry"
"""Field of World Info entries in which the fields of a card's entry are kept that have no counterpart."""
WORLD_INFO = "world_info"
"""Extension of a card's entry in which World Info fields are kept that have no counterpart."""
KEYS_ARE_PATTERNS = "useRegex"
"""World Info field of an entry whose keys are patterns without slashes in the card."""


def to_world_info(entry: Mapping[str, JsonValue], number: int) -> JsonObject:
    """Return a card's entry as World Info fields; what these cannot express is kept in the field `cardEntry`.

    `number`, counted from 0, is the place in the book, after which an entry without a name or keys is called.
    """
    fields = _to_world_info_fields(entry)
    kept = keep_original(entry, _to_card_entry_fields(fields), _reader(number), comparable_entry(fields, number))
    return {**fields, CARD_ENTRY: kept} if kept else fields


def to_card_entry(world_info: Mapping[str, JsonValue], number: int) -> JsonObject:
    """Return World Info fields as a card's entry, with the fields of its `cardEntry` that still hold."""
    kept = FieldReader(world_info).mapping(CARD_ENTRY)
    fields = {name: value for name, value in world_info.items() if name != CARD_ENTRY}
    return restore_original(_to_card_entry_fields(fields), kept, _reader(number))


def _reader(number: int) -> Callable[[JsonObject], object]:
    return lambda entry: comparable_entry(_to_world_info_fields(entry), number)


def _to_world_info_fields(entry: Mapping[str, JsonValue]) -> JsonObject:
    reader = FieldReader(entry)
    extensions = reader.mapping("extensions")
    fields: JsonObject = {ours: entry[theirs] for theirs, ours in FIELDS.items() if theirs in entry}
    if not reader.text("comment").strip() and "name" in entry:
        fields["comment"] = entry["name"]
    if reader.optional_flag("enabled") is False:
        fields["disable"] = True
    # Anything but “before_char” is after the character, unless SillyTavern's own number says more.
    fields["position"] = BEFORE_CHARACTER if reader.text("position") == "before_char" else AFTER_CHARACTER
    if reader.flag("use_regex") and not any(name in extensions for name in WRITTEN_BY_SILLY_TAVERN):
        fields["key"] = [_as_pattern(key) for key in reader.texts("keys")]
        # As the V3 specification says of patterns, these two have no effect.
        fields |= {"keysecondary": [], "constant": False, KEYS_ARE_PATTERNS: True}
    for theirs, ours in EXTENSIONS.items():
        if theirs in extensions and (extensions[theirs] is not None or ours not in fields):
            fields[ours] = extensions[theirs]
    fields |= FieldReader(extensions).mapping(WORLD_INFO)
    others = {name: value for name, value in extensions.items() if name not in EXTENSIONS and name != WORLD_INFO}
    return {**fields, "extensions": others} if others else fields


def _to_card_entry_fields(world_info: Mapping[str, JsonValue]) -> JsonObject:
    reader = FieldReader(world_info)
    are_patterns = reader.flag(KEYS_ARE_PATTERNS)
    keys = reader.texts("key")
    position = reader.number("position", BEFORE_CHARACTER)
    entry: JsonObject = {
        "keys": [key[1:-1] if are_patterns and key.endswith("/") else key for key in keys],
        "secondary_keys": [*reader.texts("keysecondary")],
        "comment": reader.text("comment"),
        "name": reader.text("comment"),
        "content": reader.text("content"),
        "constant": reader.flag("constant"),
        "selective": reader.flag("selective", default=True),
        "insertion_order": world_info.get("order", DEFAULT_ORDER),
        "enabled": not reader.flag("disable"),
        "position": "before_char" if position == BEFORE_CHARACTER else "after_char",
        "use_regex": are_patterns or any(key.startswith("/") and key.rfind("/") > 0 for key in keys),
        "extensions": _to_extensions(world_info, are_patterns=are_patterns),
    }
    for theirs in ("id", "case_sensitive", "priority"):
        if FIELDS[theirs] in world_info:
            entry[theirs] = world_info[FIELDS[theirs]]
    return entry


def _to_extensions(world_info: Mapping[str, JsonValue], *, are_patterns: bool) -> JsonObject:
    """Return the `extensions` of a card's entry: SillyTavern's fields, those of other programs, and below `world_info` the
    World Info fields that have no place in a card.
    """
    extensions: JsonObject = {
        theirs: world_info[ours]
        for theirs, ours in EXTENSIONS.items()
        if ours in world_info and not (are_patterns and theirs in WRITTEN_BY_SILLY_TAVERN)
    }
    extensions |= FieldReader(world_info).mapping("extensions")
    placed = {*FIELDS.values(), *EXTENSIONS.values(), "disable", "extensions", "addMemo"}
    others: JsonObject = {name: value for name, value in world_info.items() if name not in placed and value is not None}
    return {**extensions, WORLD_INFO: others} if others else extensions


def _as_pattern(key: str) -> str:
    return key if key.startswith("/") and key.rfind("/") > 0 else f"/{key}/"
