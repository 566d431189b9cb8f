"""Lorebook entries of Agnai, RisuAI, NovelAI, KoboldAI Lite, AI Dungeon, Backyard and older Lethe versions as World Info."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import JsonValue

from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.import_notes import ImportNotes
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.lorebooks.world_info import AFTER_CHARACTER, AT_DEPTH

Converter = Callable[[Mapping[str, JsonValue]], JsonObject]
_KOBOLD_NOT_ANY = 2


def _with_rest(entry: Mapping[str, JsonValue], program: str, used: set[str], fields: JsonObject) -> JsonObject:
    """Return `fields` with the values of `entry` not in `used` below `extensions`, under the program's name."""
    rest = {name: value for name, value in entry.items() if name not in used}
    return {"position": AFTER_CHARACTER, **fields, **({"extensions": {program: rest}} if rest else {})}


def _agnai(entry: Mapping[str, JsonValue]) -> JsonObject:
    """Return an entry of Agnai. Its weight says where it is placed, its priority what is dropped first."""
    reader = FieldReader(entry, ImportNotes())
    used = {"name", "entry", "keywords", "priority", "weight", "enabled"}
    return _with_rest(
        entry,
        "agnai",
        used,
        {
            "comment": reader.text("name"),
            "content": reader.text("entry"),
            "key": [_wildcards_as_pattern(key) for key in reader.texts("keywords")],
            "priority": reader.number("priority", 1),
            "order": reader.number("weight", 100),
            "disable": not reader.flag("enabled", default=True),
        },
    )


def _wildcards_as_pattern(key: str) -> str:
    """Return a key with `*` or `?` as a regular expression, in which they stand for any letters and for one letter."""
    if "*" not in key and "?" not in key:
        return key
    escaped = "".join(letter if letter.isalnum() or letter in " *?" else f"\\{letter}" for letter in key)
    pattern = escaped.replace("*", "\\w*").replace("?", "\\w")
    return f"/\\b{pattern}\\b/i"


def _risu(entry: Mapping[str, JsonValue]) -> JsonObject:
    reader = FieldReader(entry, ImportNotes())
    chance = reader.optional_decimal("activationPercent", 0, 100)
    extras = FieldReader(reader.mapping("extentions"), ImportNotes())
    used = {"key", "secondkey", "comment", "content", "insertorder", "alwaysActive", "selective", "activationPercent"}
    keys = reader.texts("key")
    return _with_rest(
        entry,
        "risuai",
        used,
        {
            "comment": reader.text("comment"),
            "content": reader.text("content"),
            "key": [f"/{key}/" if reader.flag("useRegex") and not key.startswith("/") else key for key in keys],
            "keysecondary": [*reader.texts("secondkey")],
            "selective": reader.flag("selective"),
            "constant": reader.flag("alwaysActive") or reader.text("mode") == "constant",
            "disable": reader.text("mode") in {"folder", "child"},
            "order": reader.number("insertorder", 100),
            "probability": 100 if chance is None else chance,
            "caseSensitive": extras.flag("risu_case_sensitive"),
        },
    )


def _novel_ai(entry: Mapping[str, JsonValue]) -> JsonObject:
    reader = FieldReader(entry, ImportNotes())
    context = FieldReader(reader.mapping("contextConfig"), ImportNotes())
    used = {"text", "keys", "displayName", "enabled", "forceActivation"}
    return _with_rest(
        entry,
        "novelai",
        used,
        {
            "comment": reader.text("displayName"),
            "content": context.text("prefix") + reader.text("text") + context.text("suffix").rstrip("\n"),
            "key": [*reader.texts("keys")],
            "constant": reader.flag("forceActivation"),
            "disable": not reader.flag("enabled", default=True),
            "order": context.number("budgetPriority", 100),
        },
    )


def _kobold(entry: Mapping[str, JsonValue]) -> JsonObject:
    reader = FieldReader(entry, ImportNotes())
    excluded = reader.texts("keyanti")
    used = {"key", "keysecondary", "keyanti", "content", "comment", "selective", "constant", "probability", "widisabled"}
    secondary = reader.texts("keysecondary")
    # One list of secondary keys is all there is, so that keys that must be absent come first.
    logic: JsonObject = {"keysecondary": [*excluded], "selective": True, "selectiveLogic": _KOBOLD_NOT_ANY}
    other: JsonObject = {"keysecondary": [*secondary], "selective": bool(secondary) and reader.flag("selective")}
    rest_used = used - ({"keysecondary"} if excluded and secondary else set())
    return _with_rest(
        entry,
        "kobold",
        rest_used,
        {
            "comment": reader.text("comment"),
            "content": reader.text("content"),
            "key": [*reader.texts("key")],
            "constant": reader.flag("constant"),
            "disable": reader.flag("widisabled"),
            "probability": reader.decimal("probability", 100, 0, 100),
            **(logic if excluded else other),
        },
    )


def _key_and_value(entry: Mapping[str, JsonValue]) -> JsonObject:
    """Return an entry of AI Dungeon (`keys`) or Backyard (`key`): keys separated by commas, and a text."""
    reader = FieldReader(entry, ImportNotes())
    keys = reader.texts("keys") or reader.texts("key")
    return _with_rest(
        entry,
        "story",
        {"keys", "key", "value", "entry"},
        {"key": [*keys], "content": reader.text("value") or reader.text("entry")},
    )


def _old_lethe(entry: Mapping[str, JsonValue]) -> JsonObject:
    """Return an entry of the original Lethe AI Chat. Its durations are turns, and its links And, Or and Not."""
    reader = FieldReader(entry, ImportNotes())
    link = reader.text("WordLink", "And").strip().casefold()
    is_either, is_absence = link in {"or", "1"}, link in {"not", "2"}
    depth = reader.number("PositionIndex", 0, -1, 1000)
    duration = reader.number("Duration", 1, 1, 1000)
    main, secondary = reader.texts("KeyWordsMain"), reader.texts("KeyWordsSecondary")
    used = {
        *("Guid", "Name", "Content", "Enabled", "KeyWordsMain", "KeyWordsSecondary", "WordLink", "CaseSensitive", "Priority"),
        *("PositionIndex", "Duration", "TriggerChance", "EmbedSummary"),
    }
    return _with_rest(
        entry,
        "lethe",
        used,
        {
            "comment": reader.text("Name"),
            "content": reader.text("Content"),
            "disable": not reader.flag("Enabled", default=True),
            "key": [*main, *(secondary if is_either else ())],
            "keysecondary": [] if is_either else [*secondary],
            "selectiveLogic": _KOBOLD_NOT_ANY if is_absence else 0,
            "caseSensitive": reader.flag("CaseSensitive"),
            "matchWholeWords": True,
            "priority": reader.number("Priority", 1),
            "position": AT_DEPTH if depth >= 0 else AFTER_CHARACTER,
            "depth": max(0, depth),
            "sticky": 2 * duration - 1 if duration > 1 else None,
            "probability": 100 * reader.decimal("TriggerChance", 1.0, 0.0, 1.0),
        },
    )


CONVERTERS: Mapping[str, Converter] = {
    "agnai": _agnai,
    "risuai": _risu,
    "novelai": _novel_ai,
    "kobold": _kobold,
    "story": _key_and_value,
    "lethe": _old_lethe,
}
"""Functions that convert an entry to World Info fields, by format."""
