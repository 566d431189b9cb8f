"""Reader of the tables of a language in `resources/language/<code>/`, where the program's knowledge of words stands as data."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lethe_app.errors import FileError
from lethe_app.paths import shipped_root

FOLDER = shipped_root() / "resources" / "language"


def languages_with(table: str) -> tuple[str, ...]:
    """Return the codes of the languages that have a table of this name (with its ending), sorted."""
    return tuple(sorted(folder.name for folder in FOLDER.iterdir() if (folder / table).is_file()))


@cache
def load_table(name: str, language: str = "en") -> Mapping[str, Any]:
    """Return the table `<name>.toml` of a language; empty if it has none. Raises FileError for a file that cannot be read."""
    file = FOLDER / language / f"{name}.toml"
    try:
        return tomllib.loads(_read(file))
    except tomllib.TOMLDecodeError as error:
        raise FileError(file, f"the language table is no valid TOML: {error}") from error


@cache
def load_words(name: str, language: str = "en") -> frozenset[str]:
    """Return the entries of `<name>.txt` of a language, which stand in lines or between commas; empty if it has none. What
    follows `#` is a comment.
    """
    lines = (line.partition("#")[0] for line in _read(FOLDER / language / f"{name}.txt").splitlines())
    return frozenset(entry.strip() for line in lines for entry in line.split(",") if entry.strip())


def alternatives(entries: Iterable[str]) -> str:
    """Return entries as alternatives of a regular expression, the longest first; an entry may itself be a pattern."""
    return "|".join(sorted(set(entries), key=lambda entry: (-len(entry), entry)))


@cache
def compile_table(table: str, key: str, language: str = "en") -> re.Pattern[str]:
    """Return the entries under a key of a table as one pattern for whole words, ignoring case. A key that is missing matches
    nothing.
    """
    entries = load_table(table, language).get(key, ())
    return re.compile(rf"(?<!\w)(?:{alternatives(entries)})(?!\w)" if entries else r"(?!)", re.IGNORECASE)


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""
