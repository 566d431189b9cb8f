"""Listing of the files in the trash, with their kind and the time of deletion."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.files.file_names import is_plain_name
from lethe_app.storage.files.json_files import read_model
from lethe_app.storage.files.notebooks import TRASH_FOLDER as NOTEBOOKS

TRASH_NAME = re.compile(r"(?P<stem>.+)\.(?P<when>\d{8}T\d{12}Z)")
"""File name in the trash, as `json_files.move_to_trash` builds it."""
PRESETS: tuple[type[BaseModel], ...] = (SamplerPreset, InstructPreset, SystemPreset)
FOLDERS: dict[str, tuple[type[BaseModel], ...]] = {"personas": (Persona,), "worldinfo": (World,), "presets": PRESETS}
"""Kinds of records by the folder they are in."""

PREVIEW_CHARACTERS = 4000
"""Maximum characters of a preview."""


def list_files(trash: Path) -> list[Trashed]:
    """Return all files in the trash, readable or not."""
    files = []
    for path in sorted(trash.rglob("*")):
        name = TRASH_NAME.fullmatch(path.stem)
        if name is not None and path.is_file():
            kind, title = _kind_and_title(path)
            when = datetime.strptime(name["when"], "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
            size = path.stat().st_size
            owner = path.parent.name if kind is TrashKind.NOTEBOOK else ""
            files.append(Trashed(kind, str(path), title or name["stem"], when, size, owner, stem=name["stem"]))
    return files


def load_preview(path: Path) -> str:
    """Return the beginning of what a file in the trash contains: of a persona its texts, of a world its entries, of any other
    file the text itself; empty if it cannot be read.
    """
    for kind in FOLDERS.get(path.parent.name, ()):
        value = _read(path, kind)
        if isinstance(value, Persona):
            return "\n\n".join(filter(None, (value.tagline, value.bio, value.scenario)))[:PREVIEW_CHARACTERS]
        if isinstance(value, World):
            entries = (f"{entry.name}: {entry.content}" for entry in value.entries)
            return "\n\n".join(filter(None, (value.description, *entries)))[:PREVIEW_CHARACTERS]
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(PREVIEW_CHARACTERS)
    except OSError:
        return ""


def preset_kind(path: Path) -> type[BaseModel] | None:
    """Return the kind of preset in a file, or None if it contains no readable one."""
    return next((kind for kind in PRESETS if _read(path, kind) is not None), None)


def read_attachments(paths: Iterable[Path]) -> tuple[set[str], bool]:
    """Return the names of the pictures and archives to which the personas in these files refer, and whether all files could be
    read.
    """
    values = [_read(path, Persona) for path in paths]
    names = {name for value in values if isinstance(value, Persona) for name in (value.avatar, value.assets)}
    return {name for name in names if is_plain_name(name) and not name.endswith(".json")}, None not in values


def erase(paths: Sequence[Path]) -> None:
    """Delete files for good; missing ones are ignored. Raise StorageError."""
    for path in paths:
        with translate_errors(path):
            path.unlink(missing_ok=True)


def _kind_and_title(path: Path) -> tuple[TrashKind, str]:
    """Return kind and title of a file in the trash."""
    if path.parent.parent.name == NOTEBOOKS:
        return TrashKind.NOTEBOOK, _heading(path)
    for kind in FOLDERS.get(path.parent.name, ()):
        value = _read(path, kind)
        if isinstance(value, Persona):
            return (TrashKind.USER_PERSONA if value.is_user else TrashKind.PERSONA), value.name
        if value is not None:
            return (TrashKind.WORLD if isinstance(value, World) else TrashKind.PRESET), str(getattr(value, "name", ""))
    return TrashKind.FILE, ""


def _heading(path: Path) -> str:
    """Return the heading in the first line of a notebook."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline(200).strip().removeprefix("# ")
    except (OSError, UnicodeDecodeError):
        return ""


def _read(path: Path, kind: type[BaseModel]) -> BaseModel | None:
    try:
        return read_model(path, kind)
    except FileError:
        return None
