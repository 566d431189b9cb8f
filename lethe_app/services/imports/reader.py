"""Reading of the files to be imported into a plan, in a thread."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from lethe_app.brain.lore.decorators import read_decorators
from lethe_app.domain.clock import now
from lethe_app.domain.import_notes import ImportNote, NoteKind
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError, UnknownFormat
from lethe_app.interchange.cards.card import ImportedCard
from lethe_app.interchange.external_file import MAX_FILE_BYTES, ExternalContent, read_external_file
from lethe_app.interchange.memories import ImportedMemories
from lethe_app.interchange.transcripts.transcript import ChatTranscript
from lethe_app.services.imports.files import list_files
from lethe_app.services.imports.plan import ImportItem, ImportPlan, ItemKind
from lethe_app.services.scheduling.offload import ProgressCallback

Content = ImportedCard | World | ImportedMemories | ChatTranscript | InstructPreset | SamplerPreset | SystemPreset
KIND_ORDER = tuple(ItemKind)
TIME_AS_NAME = re.compile(r"\d{8}-\d\d-\d\d-\d\d")
"""File name of a chat of text-generation-webui."""
MAX_DECORATORS = 20
"""Maximum number of notes about decorators."""


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
    found = read_external_file(content, str(file))
    digest = hashlib.sha256(content).hexdigest()
    return list(_items(found, file, digest, min(changed, now())))


def _read_time(file: Path) -> datetime:
    """Return when a file was last changed, or the present if its time is outside the calendar."""
    try:
        return datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except (ValueError, OverflowError):
        return now()


def _items(found: ExternalContent, file: Path, digest: str, changed: datetime) -> Iterator[tuple[ImportItem, Content]]:
    def describe(kind: ItemKind, number: int, name: str, notes: Sequence[ImportNote], size: int = 0) -> ImportItem:
        return ImportItem(kind, f"{kind} {digest} {number}", file, name, changed, notes, size)

    for number, card in enumerate(found.cards):
        notes = [*card.notes, *_decorator_notes(card.world)]
        size = len(card.world.entries) if card.world is not None else 0
        yield describe(ItemKind.PERSONA, number, card.persona.name, notes, size), card
    for number, world in enumerate(found.worlds):
        notes = [*found.notes, *_decorator_notes(world)]
        yield describe(ItemKind.WORLD, number, world.name, notes, len(world.entries)), world
    if found.memories is not None and found.memories.memories:
        name, size = found.memories.persona_name, len(found.memories.memories)
        yield describe(ItemKind.MEMORIES, 0, name, found.notes, size), found.memories
    for number, transcript in enumerate(found.transcripts):
        # SillyTavern and text-generation-webui keep the chats of a character in a folder of the character's name.
        is_log = file.parent.parent.name == "chat" or TIME_AS_NAME.fullmatch(file.stem) is not None
        folder = file.parent.name if file.suffix.lower() == ".jsonl" or is_log else ""
        name = transcript.character or folder or transcript.title
        if transcript.messages:
            yield describe(ItemKind.CONVERSATION, number, name, found.notes, len(transcript.messages)), transcript
    for number, preset in enumerate(found.presets):
        yield describe(ItemKind.PRESET, number, preset.name, found.notes if number == 0 else ()), preset


def _decorator_notes(world: World | None) -> list[ImportNote]:
    """Return a note for each decorator in a world's entries that has no effect here."""
    names = dict.fromkeys(
        name for entry in (world.entries if world is not None else ()) for name in read_decorators(entry).unknown if name
    )
    return [ImportNote(NoteKind.UNKNOWN_DECORATOR, values={"name": f"@@{name[:40]}"}) for name in names][:MAX_DECORATORS]
