"""Lorebooks of other programs: the format is recognised by its fields and read as a world; worlds are written for others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import FileError
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.lorebooks.character_book import to_card_entry, to_world_info
from lethe_app.interchange.lorebooks.other_formats import CONVERTERS
from lethe_app.interchange.lorebooks.world_info import read_entry, write_entry
from lethe_app.interchange.originals import keep_original, restore_original

MAX_ENTRIES = 20_000
"""Maximum number of entries: several times the largest lorebook that is shared."""
DEFAULT_SCAN_DEPTH = 2
"""SillyTavern's default, in which the message being sent counts."""


class LorebookFormat(StrEnum):
    """Format of a lorebook; the values name the format's fields in a world's `original`."""

    WORLD_INFO = "world_info"
    CHARACTER_BOOK = "character_book"
    AGNAI = "agnai"
    RISUAI = "risuai"
    NOVELAI = "novelai"
    KOBOLD = "kobold"
    STORY = "story"
    """AI Dungeon's story cards and the lore items of Backyard."""
    LETHE = "lethe"
    """The original Lethe AI Chat."""


SILLY_TAVERN_FORMATS = (LorebookFormat.WORLD_INFO, LorebookFormat.CHARACTER_BOOK)
"""Formats in which what is absent or null means SillyTavern's global setting."""
GlobalSettings = Mapping[str, tuple[str, JsonValue]]
BOOK_SETTINGS: GlobalSettings = {
    "world_info_recursive": ("recursive_scanning", True),
    "world_info_depth": ("scan_depth", DEFAULT_SCAN_DEPTH),
}
ENTRY_SETTINGS: GlobalSettings = {
    "world_info_match_whole_words": ("matchWholeWords", True),
    "world_info_case_sensitive": ("caseSensitive", False),
    "world_info_use_group_scoring": ("useGroupScoring", False),
}
"""Field of a book or of an entry by SillyTavern's global setting for it, with the value that it ships with."""
ENTRY_MARKS = frozenset({"key", "keys", "content", "comment"})
"""Fields of which an entry of SillyTavern or of a card has at least one; without, it is an entry of an unknown format."""
NO_SETTINGS: JsonObject = {}
FILE_NAME = "UniqueName"
"""Field of the original Lethe with the name of the file, by which personas name their worlds."""
ENTRY_LISTS = {
    LorebookFormat.RISUAI: ("data",),
    LorebookFormat.KOBOLD: ("worldinfo",),
    LorebookFormat.LETHE: ("Entries",),
}
"""Fields with the entries, where it is not `entries`."""


def find_format(values: JsonValue) -> LorebookFormat | None:
    """Return the format of a lorebook, or None if it is none that is known."""
    if isinstance(values, list):
        return _find_format_of_list(values)
    if not isinstance(values, dict):
        return None
    marks = {
        LorebookFormat.CHARACTER_BOOK: values.get("spec") == "lorebook_v3",
        LorebookFormat.RISUAI: values.get("type") == "risu" and "data" in values,
        LorebookFormat.NOVELAI: "lorebookVersion" in values,
        LorebookFormat.AGNAI: values.get("kind") == "memory",
        LorebookFormat.KOBOLD: "worldinfo" in values,
        LorebookFormat.LETHE: "Entries" in values,
    }
    found = next((kind for kind, is_marked in marks.items() if is_marked), None)
    return found or (_find_format_of_entries(values["entries"]) if "entries" in values else None)


def _find_format_of_list(entries: list[JsonValue]) -> LorebookFormat | None:
    first = entries[0] if entries else None
    if not isinstance(first, dict) or "mes" in first:
        return None
    if "value" in first and ("keys" in first or "key" in first):
        return LorebookFormat.STORY
    return LorebookFormat.KOBOLD if "key" in first and "content" in first else None


def _find_format_of_entries(entries: JsonValue) -> LorebookFormat | None:
    found = list(entries.values()) if isinstance(entries, dict) else entries if isinstance(entries, list) else None
    if found is None:
        return None
    objects = [one for one in found if isinstance(one, dict)]
    first: JsonObject = next(iter(objects), {})
    if "keywords_main" in first:
        return None  # a world of our own
    if "keywords" in first and "entry" in first:
        return LorebookFormat.AGNAI
    if objects and all(map(ENTRY_MARKS.isdisjoint, objects)):
        return None
    return LorebookFormat.CHARACTER_BOOK if "keys" in first or "insertion_order" in first else LorebookFormat.WORLD_INFO


def read_lorebook(values: JsonValue, name: str, notes: ImportNotes, settings: JsonObject = NO_SETTINGS) -> World:
    """Return a lorebook as a world, called `name` if it has no name. Raise FileError if the format is not known.

    `settings` are SillyTavern's global ones of World Info, as far as they are known.
    """
    kind = find_format(values)
    if kind is None:
        raise FileError(name, "is not a lorebook that Lethe knows")
    if isinstance(values, dict) and values.get("spec") == "lorebook_v3":
        values = FieldReader(values, notes).mapping("data")
    book: Mapping[str, JsonValue] = values if isinstance(values, dict) else {"entries": values}
    return read_book(book, kind, name, notes, settings=settings)


def read_book(
    book: Mapping[str, JsonValue],
    kind: LorebookFormat,
    name: str,
    notes: ImportNotes,
    location: str = "",
    settings: JsonObject = NO_SETTINGS,
) -> World:
    """Return a lorebook of a known format as a world; entries that are no objects are left out with a note."""
    if kind is LorebookFormat.LETHE:
        book = {FILE_NAME: name, **book}
    settings = settings if kind in SILLY_TAVERN_FORMATS else NO_SETTINGS
    book = {**book, **_find_missing(book, _list_changed(settings, BOOK_SETTINGS))}
    reader = FieldReader(book, notes, location)
    entries_field = next((field for field in (*ENTRY_LISTS.get(kind, ()), "entries") if field in book), "entries")
    entries = _read_entries(reader.items(entries_field), kind, notes, reader.location_of(entries_field), settings)
    world = _read_settings(book, kind, notes, location, name)
    return world.model_copy(update={"entries": entries, "original": _keep_settings(book, entries_field, kind, world)})


def names_of(world: World) -> set[str]:
    """Return the names by which imported characters may refer to a world, in lower case."""
    file_name = FieldReader(world.original).child(LorebookFormat.LETHE.value).text(FILE_NAME)
    return {name.casefold() for name in (world.name, file_name) if name}


def _keep_settings(book: Mapping[str, JsonValue], entries_field: str, kind: LorebookFormat, world: World) -> JsonObject:
    """Return the fields of a book that a world does not have, by format; those of other formats are in its extensions."""
    extensions = dict(FieldReader(book).mapping("extensions"))
    kept: JsonObject = {other.value: extensions.pop(other.value) for other in LorebookFormat if other.value in extensions}
    fields = {field: value for field, value in book.items() if field not in (entries_field, "extensions")}
    original = {**fields, "extensions": extensions} if extensions else fields
    read = _settings_reader(kind, world.name)
    own = keep_original(original, _write_settings(world), read, read(original))
    return {**kept, kind.value: own} if own else kept


def _list_changed(settings: JsonObject, table: GlobalSettings) -> JsonObject:
    """Return the fields by which global settings differ from those that SillyTavern ships with."""
    named = {field: (settings.get(name), shipped) for name, (field, shipped) in table.items()}
    return {field: value for field, (value, shipped) in named.items() if value not in (None, shipped)}


def _find_missing(values: Mapping[str, JsonValue], fields: JsonObject) -> JsonObject:
    return {field: value for field, value in fields.items() if values.get(field) is None}


def _read_entries(
    found: Sequence[JsonValue], kind: LorebookFormat, notes: ImportNotes, location: str, settings: JsonObject
) -> list[WorldEntry]:
    if len(found) > MAX_ENTRIES:
        notes.add(NoteKind.OUT_OF_RANGE, location, used=MAX_ENTRIES)
    to_fields, changed = CONVERTERS.get(kind.value, dict), _list_changed(settings, ENTRY_SETTINGS)
    entries = []
    for number, values in enumerate(found[:MAX_ENTRIES]):
        place = f"{location}[{number}]"
        if not isinstance(values, dict) or (kind in SILLY_TAVERN_FORMATS and ENTRY_MARKS.isdisjoint(values)):
            notes.add(NoteKind.SKIPPED, place)
            continue
        fields = to_world_info(values, number) if kind is LorebookFormat.CHARACTER_BOOK else to_fields(values)
        entries.append(read_entry({**fields, **_find_missing(fields, changed)}, notes, place, number))
    return entries


def _read_settings(book: Mapping[str, JsonValue], kind: LorebookFormat, notes: ImportNotes, location: str, name: str) -> World:
    reader = FieldReader(book, notes, location)
    scan_depth = reader.number("scan_depth", DEFAULT_SCAN_DEPTH, 0, 201)
    if "ScanDepth" in book:  # of the original Lethe, where the message being sent does not count
        scan_depth = reader.number("ScanDepth", 1, 0, 200) + 1
    return World(
        name=reader.text("name").strip() or reader.text("Name").strip() or name,
        description=reader.text("description") or reader.text("Description"),
        scan_depth=max(0, scan_depth - 1),
        token_budget=reader.optional_number("token_budget", 0, 10_000_000),
        recursive=reader.flag("recursive_scanning", default=kind in SILLY_TAVERN_FORMATS),
        do_embeds=reader.flag("DoEmbeds", default=True),
    )


def _write_settings(world: World) -> JsonObject:
    settings: JsonObject = {
        "name": world.name,
        "description": world.description,
        "scan_depth": world.scan_depth + 1,
        "recursive_scanning": world.recursive,
    }
    return settings if world.token_budget is None else {**settings, "token_budget": world.token_budget}


def _write_settings_of(world: World, kind: LorebookFormat) -> JsonObject:
    """Return the settings of a book with the fields kept from a file of this format; those of others become extensions."""
    kept = FieldReader(world.original).mapping(kind.value)
    settings = restore_original(_write_settings(world), kept, _settings_reader(kind, world.name))
    others = {name: value for name, value in world.original.items() if name != kind.value}
    return {**settings, "extensions": {**FieldReader(settings).mapping("extensions"), **others}}


def _settings_reader(kind: LorebookFormat, name: str) -> Callable[[JsonObject], object]:
    """Return the function by which the settings of two books are compared; `name` is that of a book without one."""
    return lambda values: _read_settings(values, kind, ImportNotes(), "", name)


def write_world_info(world: World) -> JsonObject:
    """Return a world as a World Info file of SillyTavern. Its `entries` are an object by `uid`."""
    written = [write_entry(entry, number) for number, entry in enumerate(world.entries)]
    entries: JsonObject = {}
    for number, fields in enumerate(written):
        uid = str(fields.get("uid", number))
        while uid in entries:
            uid = str(len(written) + len(entries))
        entries[uid] = {**fields, "uid": int(uid) if uid.isdecimal() else uid}
    return {**_write_settings_of(world, LorebookFormat.WORLD_INFO), "entries": entries}


def write_character_book(world: World) -> JsonObject:
    """Return a world as the book of a card; `{"spec": "lorebook_v3", "data": …}` is the same as a file."""
    entries: list[JsonValue] = [to_card_entry(write_entry(entry, number), number) for number, entry in enumerate(world.entries)]
    settings = _write_settings_of(world, LorebookFormat.CHARACTER_BOOK)
    return {**settings, "entries": entries}
