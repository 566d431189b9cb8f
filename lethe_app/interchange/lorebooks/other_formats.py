"""Lorebook entries of Agnai, RisuAI, NovelAI, KoboldAI Lite, AI Dungeon, Backyard and older Lethe versions as World Info."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from pydantic import JsonValue

from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.lorebooks.world_info import AFTER_CHARACTER, AT_DEPTH

Read = Callable[[FieldReader, str], JsonValue]
EntryFields = Mapping[str, tuple[str, Read]]
"""World Info field and how its value is read, by the field of another program's entry."""
Converter = Callable[[Mapping[str, JsonValue]], JsonObject]
_KOBOLD_NOT_ANY = 2


def _convert(
    entry: Mapping[str, JsonValue],
    program: str,
    table: EntryFields,
    derived: JsonObject | None = None,
    used: Collection[str] = (),
) -> JsonObject:
    """Return an entry as World Info fields: those of the table, and those `derived` from the fields `used`. The other fields
    of the entry are kept below `extensions`, under the program's name. Keys match parts of words unless
    `derived` says otherwise.
    """
    reader = FieldReader(entry)
    fields: JsonObject = {ours: read(reader, theirs) for theirs, (ours, read) in table.items()}
    rest = {name: value for name, value in entry.items() if name not in table and name not in used}
    extensions: JsonObject = {"extensions": {program: rest}} if rest else {}
    return {"position": AFTER_CHARACTER, "matchWholeWords": False, **fields, **(derived or {}), **extensions}


def _keys(reader: FieldReader, name: str) -> JsonValue:
    return [*reader.texts(name)]


def _is_off(reader: FieldReader, name: str) -> JsonValue:
    return not reader.flag(name, default=True)


def _wildcards_as_pattern(key: str) -> str:
    """Return a key with `*` or `?` as a regular expression, in which they stand for any letters and for one letter."""
    if "*" not in key and "?" not in key:
        return key
    escaped = "".join(letter if letter.isalnum() or letter in " *?" else f"\\{letter}" for letter in key)
    pattern = escaped.replace("*", "\\w*").replace("?", "\\w")
    return f"/\\b{pattern}\\b/i"


def _wildcard_keys(reader: FieldReader, name: str) -> JsonValue:
    return [_wildcards_as_pattern(key) for key in reader.texts(name)]


AGNAI: EntryFields = {
    "name": ("comment", FieldReader.text),
    "entry": ("content", FieldReader.text),
    "keywords": ("key", _wildcard_keys),
    "priority": ("priority", partial(FieldReader.number, default=1)),
    "weight": ("order", partial(FieldReader.number, default=100)),
    "enabled": ("disable", _is_off),
}
"""The weight of an entry says where it is placed, its priority what is dropped first."""


def _risu_keys(reader: FieldReader, name: str) -> JsonValue:
    is_pattern = reader.flag("useRegex")
    return [f"/{key}/" if is_pattern and not key.startswith("/") else key for key in reader.texts(name)]


RISU: EntryFields = {
    "comment": ("comment", FieldReader.text),
    "content": ("content", FieldReader.text),
    "key": ("key", _risu_keys),
    "secondkey": ("keysecondary", _keys),
    "selective": ("selective", FieldReader.flag),
    "alwaysActive": ("constant", lambda reader, name: reader.flag(name) or reader.text("mode") == "constant"),
    "insertorder": ("order", partial(FieldReader.number, default=100)),
    "activationPercent": ("probability", partial(FieldReader.decimal, default=100.0, low=0, high=100)),
}


def _from_risu(entry: Mapping[str, JsonValue]) -> JsonObject:
    reader = FieldReader(entry)
    is_case_sensitive = reader.child("extentions").flag("risu_case_sensitive")
    derived: JsonObject = {"disable": reader.text("mode") in {"folder", "child"}, "caseSensitive": is_case_sensitive}
    return _convert(entry, "risuai", RISU, derived)


def _novel_ai_text(reader: FieldReader, name: str) -> JsonValue:
    context = reader.child("contextConfig")
    return context.text("prefix") + reader.text(name) + context.text("suffix").rstrip("\n")


NOVEL_AI: EntryFields = {
    "displayName": ("comment", FieldReader.text),
    "text": ("content", _novel_ai_text),
    "keys": ("key", _keys),
    "forceActivation": ("constant", FieldReader.flag),
    "enabled": ("disable", _is_off),
}


def _from_novel_ai(entry: Mapping[str, JsonValue]) -> JsonObject:
    order = FieldReader(entry).child("contextConfig").number("budgetPriority", 100)
    return _convert(entry, "novelai", NOVEL_AI, {"order": order})


KOBOLD: EntryFields = {
    "comment": ("comment", FieldReader.text),
    "content": ("content", FieldReader.text),
    "key": ("key", _keys),
    "constant": ("constant", FieldReader.flag),
    "widisabled": ("disable", FieldReader.flag),
    "probability": ("probability", partial(FieldReader.decimal, default=100, low=0, high=100)),
}


def _from_kobold(entry: Mapping[str, JsonValue]) -> JsonObject:
    reader = FieldReader(entry)
    excluded, secondary = reader.texts("keyanti"), reader.texts("keysecondary")
    # One list of secondary keys is all there is, so that keys that must be absent come first.
    if excluded:
        derived: JsonObject = {"keysecondary": [*excluded], "selective": True, "selectiveLogic": _KOBOLD_NOT_ANY}
    else:
        derived = {"keysecondary": [*secondary], "selective": bool(secondary) and reader.flag("selective")}
    used = {"keyanti", "selective"} | (set() if excluded and secondary else {"keysecondary"})
    return _convert(entry, "kobold", KOBOLD, derived, used)


def _from_key_and_value(entry: Mapping[str, JsonValue]) -> JsonObject:
    """Return an entry of AI Dungeon (`keys`) or Backyard (`key`): keys separated by commas, and a text."""
    reader = FieldReader(entry)
    keys, content = reader.texts("keys") or reader.texts("key"), reader.text("value") or reader.text("entry")
    return _convert(entry, "story", {}, {"key": [*keys], "content": content}, {"keys", "key", "value", "entry"})


OLD_LETHE: EntryFields = {
    "Name": ("comment", FieldReader.text),
    "Content": ("content", FieldReader.text),
    "Enabled": ("disable", _is_off),
    "CaseSensitive": ("caseSensitive", FieldReader.flag),
    "Priority": ("priority", partial(FieldReader.number, default=1)),
    "TriggerChance": ("probability", lambda reader, name: 100 * reader.decimal(name, 1.0, 0.0, 1.0)),
}


def _from_old_lethe(entry: Mapping[str, JsonValue]) -> JsonObject:
    """Return an entry of the original Lethe AI Chat. Its durations are turns, and its links And, Or and Not."""
    reader = FieldReader(entry)
    link = reader.text("WordLink", "And").strip().casefold()
    is_either, is_absence = link in {"or", "1"}, link in {"not", "2"}
    depth = reader.number("PositionIndex", 0, -1, 1000)
    duration = reader.number("Duration", 1, 1, 1000)
    main, secondary = reader.texts("KeyWordsMain"), reader.texts("KeyWordsSecondary")
    derived: JsonObject = {
        "key": [*main, *(secondary if is_either else ())],
        "keysecondary": [] if is_either else [*secondary],
        "selectiveLogic": _KOBOLD_NOT_ANY if is_absence else 0,
        "matchWholeWords": True,
        "position": AT_DEPTH if depth >= 0 else AFTER_CHARACTER,
        "depth": max(0, depth),
        "sticky": 2 * duration - 1 if duration > 1 else None,
    }
    used = {"Guid", "KeyWordsMain", "KeyWordsSecondary", "WordLink", "PositionIndex", "Duration", "EmbedSummary"}
    return _convert(entry, "lethe", OLD_LETHE, derived, used)


CONVERTERS: Mapping[str, Converter] = {
    "agnai": partial(_convert, program="agnai", table=AGNAI),
    "risuai": _from_risu,
    "novelai": _from_novel_ai,
    "kobold": _from_kobold,
    "story": _from_key_and_value,
    "lethe": _from_old_lethe,
}
"""Functions that convert an entry to World Info fields, by format. A new format is recognised in `lorebook.find_format`."""
