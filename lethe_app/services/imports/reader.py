"""Reading of the files to be imported into a plan, in a thread."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from lethe_app.brain.lore.decorators import read_decorators
from lethe_app.domain.clock import now
from lethe_app.domain.import_notes import ImportNote, NoteKind
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError
from lethe_app.interchange.external_file import MAX_FILE_BYTES, ExternalContent, read_external_file
from lethe_app.services.imports.files import list_files
from lethe_app.services.imports.plan import ImportItem, ImportPlan, ItemKind
from lethe_app.services.scheduling.offload import ProgressCallback

KIND_ORDER = tuple(ItemKind)
MAX_DECORATORS = 20
"""Maximum number of notes about decorators."""
NOT_KNOWN = "of no format that Lethe can import"
"""Words of the error for a file of no known format."""


def read_plan(paths: Sequence[Path], report_progress: ProgressCallback) -> ImportPlan:
    """Read all files below `paths`. A file that cannot be read becomes an error; one of no known format is an error if it
    was named itself, and is counted if it was found in a folder.
    """
    items: list[ImportItem] = []
    errors: list[FileError] = []
    ignored, named = 0, {path for path in paths if not path.is_dir()}
    files = list_files(paths)
    for number, file in enumerate(files):
        report_progress(number / len(files))
        try:
            items += read_items(file)
        except FileError as error:
            if NOT_KNOWN in error.problem and file not in named:
                ignored += 1
            else:
                errors.append(error)
    unique = {item.key: item for item in items}  # of two equal files one is imported
    ordered = sorted(unique.values(), key=lambda item: KIND_ORDER.index(item.kind))
    report_progress(1.0)
    return ImportPlan(ordered, errors, ignored)


def read_items(file: Path) -> list[ImportItem]:
    """Return what one file contains. Raise FileError."""
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise FileError(file, f"is larger than {MAX_FILE_BYTES // 1024 // 1024} MB")
        content = file.read_bytes()
        changed = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except OSError as error:
        raise FileError(file, f"cannot be opened: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, OverflowError):
        changed = now()
    found = read_external_file(content, str(file))
    digest = hashlib.sha256(content).hexdigest()
    return list(_items(found, file, digest, min(changed, now())))


def _items(found: ExternalContent, file: Path, digest: str, changed: datetime) -> Iterator[ImportItem]:
    for number, card in enumerate(found.cards):
        key = f"{ItemKind.PERSONA} {digest} {number}"
        notes = [*card.notes, *_decorator_notes(card.world)]
        size = len(card.world.entries) if card.world is not None else 0
        yield ImportItem(ItemKind.PERSONA, key, file, card, card.persona.name, changed, notes, size)
    for number, world in enumerate(found.worlds):
        notes = [*found.notes, *_decorator_notes(world)]
        key = f"{ItemKind.WORLD} {digest} {number}"
        yield ImportItem(ItemKind.WORLD, key, file, world, world.name, changed, notes, len(world.entries))
    for number, transcript in enumerate(found.transcripts):
        if transcript.messages:
            key = f"{ItemKind.CONVERSATION} {digest} {number}"
            # SillyTavern keeps the chats of a character in a folder of the character's name.
            name = transcript.character or (file.parent.name if file.suffix.lower() == ".jsonl" else "") or transcript.title
            size = len(transcript.messages)
            yield ImportItem(ItemKind.CONVERSATION, key, file, transcript, name, changed, found.notes, size)
    for number, preset in enumerate(found.presets):
        key = f"{ItemKind.PRESET} {digest} {number}"
        yield ImportItem(ItemKind.PRESET, key, file, preset, preset.name, changed, found.notes)


def _decorator_notes(world: World | None) -> list[ImportNote]:
    """Return a note for each decorator in a world's entries that has no effect here."""
    names = dict.fromkeys(
        name for entry in (world.entries if world is not None else ()) for name in read_decorators(entry).unknown if name
    )
    return [ImportNote(NoteKind.UNKNOWN_DECORATOR, values={"name": f"@@{name[:40]}"}) for name in names][:MAX_DECORATORS]
