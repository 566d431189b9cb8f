"""Plan of an import: what would be made of the chosen files, what was imported before, and what cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from uuid import UUID

from lethe_app.domain.import_notes import ImportNote, NoteKind
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError

MAX_FILES = 20_000
"""Maximum number of files looked at: the user folder of somebody with years of history holds some thousands."""
IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__"})
IGNORED_USER_FOLDERS = frozenset(
    {"thumbnails", "backups", "vectors", "extensions", "assets", "user", "backgrounds", "user avatars", "movingui"}
)
"""Folders of SillyTavern's user folder, in lower case, that hold pictures and copies; elsewhere the names mean nothing."""
USER_FOLDER_MARKS = frozenset({"characters", "chats"})
"""Folders of which SillyTavern's user folder has at least one."""
IMPORTED_SUFFIXES = (
    *(".png", ".apng", ".webp", ".jpg", ".jpeg", ".json", ".jsonl", ".yaml", ".yml", ".charx", ".byaf", ".brain", ".lorebook"),
)
"""Suffixes of files that may contain something to import."""
IGNORED_FILES = frozenset({"secrets.json", "stats.json", "content.log", "package.json", "package-lock.json"})


def list_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files among `paths`, and those below its folders whose suffix may be that of something to import.

    A file that was named itself is returned whatever its suffix. Links to folders are not followed. Blocks on the disk.
    """
    found: dict[Path, None] = {}
    for path in paths:
        for file in _files_below(path) if path.is_dir() else [path]:
            found.setdefault(file)
            if len(found) >= MAX_FILES:
                return list(found)
    return list(found)


def _files_below(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        is_user_folder = not USER_FOLDER_MARKS.isdisjoint(name.casefold() for name in folders)
        ignored = IGNORED_FOLDERS | IGNORED_USER_FOLDERS if is_user_folder else IGNORED_FOLDERS
        folders[:] = sorted(name for name in folders if name.casefold() not in ignored and not name.startswith("."))
        for name in sorted(names):
            if Path(name).suffix.lower() in IMPORTED_SUFFIXES and name.casefold() not in IGNORED_FILES:
                yield Path(root) / name


Preset = InstructPreset | SamplerPreset | SystemPreset
PRESET_NAMES: dict[type[Preset], str] = {
    InstructPreset: "Instruct format",
    SamplerPreset: "Sampler preset",
    SystemPreset: "System prompt",
}
TEMPLATES = {
    NoteKind.WRONG_TYPE: "{field} contained no valid value and was left out",
    NoteKind.CONVERTED: "{field} was converted to text",
    NoteKind.OUT_OF_RANGE: "{field} was limited to {used}",
    NoteKind.TRUNCATED: "{field} was cut at {limit} characters",
    NoteKind.NO_EFFECT: "{field} is kept for export, but has no effect",
    NoteKind.UNSUPPORTED: "{field} has no counterpart here and was left out",
    NoteKind.SKIPPED: "{field} could not be read and was left out",
    NoteKind.NAME_MISSING: "The name was missing; it is called {name}",
    NoteKind.DUPLICATE_KEY: "{field} occurred twice; the last value was used",
    NoteKind.REPAIRED_JSON: "The JSON was invalid and was repaired",
    NoteKind.NEWER_VERSION: "The file is of the newer version {version} of its format",
    NoteKind.REMOTE_ASSET: "{field} lies on {host} and was not downloaded",
    NoteKind.UNKNOWN_MACROS: "Unknown macros are kept as they are, and left out of greetings: {names}",
    NoteKind.TEMPLATE_CODE: "Code between <% and %> is not run, and is sent to the model as it is",
    NoteKind.SCRIPTS: "Scripts and variables of extensions are kept for export, but not run or set: {names}",
    NoteKind.UNKNOWN_DECORATOR: "The decorator {name} is not known, or not with its value, and is kept without effect",
    NoteKind.HIDDEN_LINES: "Messages hidden from the model are left out, and kept for export: {count}",
    NoteKind.NO_ENTRIES: "The world has no entries",
    NoteKind.MANY_NOTES: "{count} further notes were left out",
}


def describe_note(note: ImportNote) -> str:
    """Return a note in English."""
    return fill_note(TEMPLATES[note.kind], note)


def fill_note(template: str, note: ImportNote) -> str:
    """Return a template with the values of a note inserted."""
    return template.format_map({"field": f"“{note.location}”", **note.values})


def describe_ignored(ignored: Mapping[str, int]) -> str:
    """Return files that cannot be imported in English, by what they are."""
    kinds = sorted(ignored.items(), key=lambda pair: not pair[0])
    return ", ".join(f"{count} {kind or 'other file'}{'' if count == 1 else 's'}" for kind, count in kinds)


class ItemKind(StrEnum):
    """Kind of an item; items are imported in this order, so that what others refer to exists."""

    WORLD = "world"
    PERSONA = "persona"
    MEMORIES = "memories"
    CONVERSATION = "conversation"
    PRESET = "preset"


class ItemAction(StrEnum):
    """What is done with an item."""

    IMPORT = "import"
    """Store it as a new record; if its content was imported before, as a copy."""
    UPDATE = "update"
    """Overwrite the record of the earlier import, whose file goes to the trash."""
    SKIP = "skip"


class ExcerptKind(StrEnum):
    """Text of which an excerpt is shown before an item is imported."""

    DESCRIPTION = "description"
    GREETING = "greeting"
    ENTRIES = "entries"
    """Names of the first entries of a world."""
    MESSAGE = "message"
    """First message of a conversation."""
    MEMORY = "memory"


@dataclass(frozen=True)
class Excerpt:
    """Beginning of a text of an item, on one line."""

    kind: ExcerptKind
    text: str


@dataclass(frozen=True)
class ImportItem:
    """One record to be made. `key` identifies content and kind: it is the same whenever the same file is read.

    The content itself is read again when it is stored: that of years of history would not fit into memory at once.
    """

    kind: ItemKind
    key: str
    file: Path
    name: str
    file_time: datetime
    notes: Sequence[ImportNote] = ()
    size: int = 0
    """Number of entries of a world, or of the world that comes with a persona, of memories, and of messages of a
    conversation.
    """
    earlier: str = ""
    """Id of the record that an earlier import of the same content made and that still exists."""
    action: ItemAction = ItemAction.IMPORT
    excerpts: Sequence[Excerpt] = ()
    greetings: int = 0
    """Number of greetings of a persona."""
    preset: type[Preset] | None = None
    """What kind of preset it is."""


def describe_place(item: ImportItem, translate: Callable[[str], str] = str) -> str:
    """Return the file of an item; of a preset its kind and folder too, since many have one name."""
    if item.preset is None:
        return item.file.name
    return f"{translate(PRESET_NAMES[item.preset])} · {item.file.parent.name}/{item.file.name}"


@dataclass(frozen=True)
class ImportPlan:
    """Items in the order in which they are imported, and the files that cannot be read."""

    items: Sequence[ImportItem] = ()
    errors: Sequence[FileError] = ()
    ignored: Mapping[str, int] = field(default_factory=dict)
    """Number of files found in folders that cannot be imported, by what they are; empty if that is not known."""


@dataclass
class ImportResult:
    """What an import has made, for the report and for its undo; filled step by step."""

    personas: list[str] = field(default_factory=list)
    """Ids of new personas."""
    worlds: list[str] = field(default_factory=list)
    sessions: list[UUID] = field(default_factory=list)
    memories: list[UUID] = field(default_factory=list)
    presets: list[tuple[type[Preset], str]] = field(default_factory=list)
    updated: list[Persona | World] = field(default_factory=list)
    """Records that were overwritten, as they were before."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Names of new records by the name in the file, where that was taken."""
    keys: dict[str, str] = field(default_factory=dict)
    """Keys of the imported items, with the id that an earlier import had made of each."""
    errors: list[FileError] = field(default_factory=list)
    chats: int = 0
    """Number of files with conversations, each of which may have become several sessions."""
    known_chats: int = 0
    """Number of files of which all messages were there already."""
    messages: int = 0

    def add(self, other: ImportResult) -> None:
        """Add what another import has made."""
        for one in fields(self):
            before, added = getattr(self, one.name), getattr(other, one.name)
            setattr(self, one.name, before | added if isinstance(before, dict) else before + added)
