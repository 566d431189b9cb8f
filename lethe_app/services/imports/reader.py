"""Reading of the files to be imported into a plan, in a thread."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from lethe_app.brain.lore.decorators import read_decorators
from lethe_app.domain.clock import now
from lethe_app.domain.import_notes import ImportNote, NoteKind
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError, UnknownFormat
from lethe_app.interchange.cards.card import ImportedCard
from lethe_app.interchange.external_file import MAX_FILE_BYTES, ExternalContent, read_external_file, read_world_settings
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.memories import ImportedMemories
from lethe_app.interchange.transcripts.transcript import ChatTranscript
from lethe_app.prompt.macros import unknown_macros
from lethe_app.services.imports.plan import Excerpt, ExcerptKind, ImportItem, ImportPlan, ItemKind, list_files
from lethe_app.services.scheduling.offload import ProgressCallback

Content = ImportedCard | World | ImportedMemories | ChatTranscript | InstructPreset | SamplerPreset | SystemPreset
PRESETS = (InstructPreset, SamplerPreset, SystemPreset)
KIND_ORDER = tuple(ItemKind)
TIME_AS_NAME = re.compile(r"\d{8}-\d\d-\d\d-\d\d")
"""File name of a chat of text-generation-webui."""
MAX_EXCERPT_LENGTH, MAX_ENTRY_NAMES, MAX_NAME_LENGTH = 240, 6, 40
"""Letters of an excerpt; entries of a world that are named in one, and letters of each name."""
SETTINGS_FILE = "settings.json"
USER_MACRO = "{{user}}"
"""Macro for the user's name as excerpts contain it."""
MAX_DECORATORS = 20
"""Maximum number of notes about decorators, and of unknown macros that are named."""
MACRO_FIELDS = (
    *("bio", "personality", "scenario", "first_messages", "group_greetings", "example_dialogs", "system_prompt"),
    *("post_history_instructions", "depth_prompt"),
)
"""Texts of a persona in which macros are expanded."""


def read_plan(paths: Sequence[Path], report_progress: ProgressCallback) -> ImportPlan:
    """Read all files below `paths`. A file that cannot be read becomes an error; one of no known format is an error if it
    was named itself, and is counted if it was found in a folder.
    """
    items: dict[str, ImportItem] = {}  # of two equal files one is imported
    errors: list[FileError] = []
    ignored, named = Counter[str](), {path for path in paths if not path.is_dir()}
    files = list_files(paths)
    for number, file in enumerate(files):
        report_progress(number / len(files))
        try:
            items |= {item.key: item for item, _ in read_items(file)}
        except FileError as error:
            if isinstance(error, UnknownFormat) and file not in named:
                ignored[error.kind] += 1
            else:
                errors.append(error)
    ordered = sorted(items.values(), key=lambda item: KIND_ORDER.index(item.kind))
    report_progress(1.0)
    return ImportPlan(ordered, errors, ignored)


class ContentReader:
    """Reads the contents of items again, one file at a time; a file with many items is read once."""

    def __init__(self) -> None:
        self._file: Path | None = None
        self._contents: dict[str, Content] = {}

    def read(self, item: ImportItem) -> Content:
        """Return the content of an item. Raise FileError if its file cannot be read any more or is another one by now."""
        if item.file != self._file:
            self._file, self._contents = None, {}
            self._contents = {found.key: content for found, content in read_items(item.file)}
            self._file = item.file
        if item.key not in self._contents:
            raise FileError(item.file, "has changed since it was read", remedy="Import it again.")
        return self._contents[item.key]


def read_items(file: Path) -> list[tuple[ImportItem, Content]]:
    """Return what one file contains. Raise FileError."""
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise FileError(file, f"is larger than {MAX_FILE_BYTES // 1024 // 1024} MB")
        content = file.read_bytes()
        changed = _read_time(file)
    except OSError as error:
        raise FileError(file, f"cannot be opened: {(error.strerror or str(error)).lower()}") from error
    found = read_external_file(content, str(file), _find_world_settings(file))
    digest = hashlib.sha256(content).hexdigest()
    return list(_items(found, file, digest, min(changed, now())))


def _find_world_settings(file: Path) -> JsonObject:
    """Return SillyTavern's settings of World Info, if its settings file lies in the folder of a file or in the one above."""
    for folder in (file.parent, file.parent.parent):
        settings = folder / SETTINGS_FILE
        with suppress(OSError, FileError):
            return _read_world_settings(settings, settings.stat().st_mtime_ns)
    return {}


@lru_cache(maxsize=4)
def _read_world_settings(file: Path, _changed: int) -> JsonObject:
    return read_world_settings(file.read_bytes(), str(file))


def _read_time(file: Path) -> datetime:
    """Return when a file was last changed, or the present if its time is outside the calendar."""
    try:
        return datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except (ValueError, OverflowError):
        return now()


def _items(found: ExternalContent, file: Path, digest: str, changed: datetime) -> Iterator[tuple[ImportItem, Content]]:
    def describe(
        kind: ItemKind, number: int, name: str, notes: Sequence[ImportNote], size: int = 0, content: Content | None = None
    ) -> ImportItem:
        excerpts = tuple(_list_excerpts(content)) if content is not None else ()
        greetings = len(content.persona.first_messages) if isinstance(content, ImportedCard) else 0
        key = f"{kind} {digest} {number}"
        preset = type(content) if isinstance(content, PRESETS) else None
        return ImportItem(kind, key, file, name, changed, notes, size, excerpts=excerpts, greetings=greetings, preset=preset)

    for number, card in enumerate(found.cards):
        texts = [text for name in MACRO_FIELDS for text in _list_texts(getattr(card.persona, name))]
        own_notes = sorted(card.notes, key=lambda note: note.kind is not NoteKind.SCRIPTS)
        notes = [*_text_notes(texts, card.world), *own_notes, *_decorator_notes(card.world)]
        size = len(card.world.entries) if card.world is not None else 0
        yield describe(ItemKind.PERSONA, number, card.persona.name, notes, size, card), card
    for number, world in enumerate(found.worlds):
        empty = [] if world.entries else [ImportNote(NoteKind.NO_ENTRIES)]
        notes = [*empty, *_text_notes([], world), *found.notes, *_decorator_notes(world)]
        yield describe(ItemKind.WORLD, number, world.name, notes, len(world.entries), world), world
    if found.memories is not None and found.memories.memories:
        name, size = found.memories.persona_name, len(found.memories.memories)
        yield describe(ItemKind.MEMORIES, 0, name, found.notes, size, found.memories), found.memories
    for number, transcript in enumerate(found.transcripts):
        # SillyTavern and text-generation-webui keep the chats of a character in a folder of the character's name.
        is_log = file.parent.parent.name == "chat" or TIME_AS_NAME.fullmatch(file.stem) is not None
        folder = file.parent.name if file.suffix.lower() == ".jsonl" or is_log else ""
        name = transcript.character or folder or transcript.title
        if transcript.messages:
            size = len(transcript.messages)
            yield describe(ItemKind.CONVERSATION, number, name, found.notes, size, transcript), transcript
    for number, preset in enumerate(found.presets):
        prompts = [preset.prompt] if isinstance(preset, SystemPreset) else []
        notes = [*_text_notes(prompts), *(found.notes if number == 0 else ())]
        yield describe(ItemKind.PRESET, number, preset.name, notes, content=preset), preset


def _list_excerpts(content: Content) -> Iterator[Excerpt]:
    """Yield the excerpts by which the user recognises what a file contains."""
    match content:
        case ImportedCard():
            persona = content.persona
            texts = {
                ExcerptKind.DESCRIPTION: persona.description,
                ExcerptKind.GREETING: next(iter(persona.first_messages), ""),
            }
            names = MacroNames(persona.spoken_name)
            yield from (Excerpt(kind, names.shorten(text)) for kind, text in texts.items() if text.strip())
            if content.world is not None:
                yield from _list_entries(content.world)
        case World():
            yield from _list_entries(content)
        case ImportedMemories():
            yield Excerpt(ExcerptKind.MEMORY, MacroNames(content.persona_name).shorten(content.memories[0].content))
        case ChatTranscript():
            first = content.messages[0]
            text = MacroNames(content.character).shorten(first.replies[first.shown].text)
            yield Excerpt(ExcerptKind.MESSAGE, f"{first.name}: {text}" if first.name else text)


def _list_entries(world: World) -> Iterator[Excerpt]:
    names = [entry.name.strip() or ", ".join(entry.keywords_main[:2]) for entry in world.entries[:MAX_ENTRY_NAMES]]
    if named := [name for name in names if name]:
        yield Excerpt(ExcerptKind.ENTRIES, ", ".join(name[:MAX_NAME_LENGTH] for name in named))


@dataclass(frozen=True)
class MacroNames:
    """Name that stands for {{char}} in an excerpt. {{user}} remains until it is known who imports the file."""

    character: str

    def shorten(self, text: str) -> str:
        """Return the beginning of a text on one line."""
        text = re.sub(r"(?i)\{\{char\}\}|<bot>", lambda _found: self.character, text[: 4 * MAX_EXCERPT_LENGTH])
        text = " ".join(re.sub(r"(?i)\{\{user\}\}|<user>", USER_MACRO, text).split())
        return text if len(text) <= MAX_EXCERPT_LENGTH else f"{text[: MAX_EXCERPT_LENGTH - 1].rsplit(' ', 1)[0]}…"


def _list_texts(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _text_notes(texts: Sequence[str], world: World | None = None) -> list[ImportNote]:
    """Return a note about the unknown macros in texts and in a world, and one if they contain code of templates."""
    all_texts = [*texts, *(entry.content for entry in (world.entries if world is not None else ()))]
    names = dict.fromkeys(f"{{{{{name[:MAX_NAME_LENGTH]}}}}}" for text in all_texts for name in unknown_macros(text))
    notes = [ImportNote(NoteKind.UNKNOWN_MACROS, values={"names": ", ".join([*names][:MAX_DECORATORS])})] if names else []
    return notes + [ImportNote(NoteKind.TEMPLATE_CODE)] * any("<%" in text and "%>" in text for text in all_texts)


def _decorator_notes(world: World | None) -> list[ImportNote]:
    """Return a note for each decorator in a world's entries that has no effect here."""
    names = dict.fromkeys(
        name for entry in (world.entries if world is not None else ()) for name in read_decorators(entry).unknown if name
    )
    return [ImportNote(NoteKind.UNKNOWN_DECORATOR, values={"name": f"@@{name[:40]}"}) for name in names][:MAX_DECORATORS]
