"""Reader of the tables of a language in `resources/language/<code>/`, where the program's knowledge of words stands as data."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, cached_property, partial, reduce
from pathlib import Path
from typing import Any, TypeVar

from lethe_app.errors import FileError
from lethe_app.paths import shipped_root

FOLDER = shipped_root() / "resources" / "language"
WORD_CLASSES = "word_classes"
"""Table of the classes of words that entries of other tables name, such as `<RELATIVE>`."""
_CLASS = re.compile(r"<([A-Z_]+)>")

T = TypeVar("T")
Entry = str | Sequence[Any] | Mapping[str, Any]
"""A pattern, a list of alternatives, a table of alternatives (`any`) with what stands `before` and `after` them, or a table of
lists, all of whose words are alternatives.
"""


class LazySet(Set[T]):
    """Set that is loaded at its first use, so that a constant made of a table costs the import of its module nothing."""

    def __init__(self, load: Callable[[], frozenset[T]]) -> None:
        self._load = load

    @cached_property
    def items(self) -> frozenset[T]:
        """The set itself."""
        return self._load()

    def __contains__(self, item: object) -> bool:
        return item in self.items

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def issuperset(self, items: Iterable[T]) -> bool:
        """Return whether all the items are in the set."""
        return self.items.issuperset(items)

    @classmethod
    def _from_iterable(cls, items: Iterable[T]) -> frozenset[T]:  # type: ignore[override]
        """Return the result of `|`, `&` and `-`, which is no longer lazy."""
        return frozenset(items)


def lazy_words(name: str, language: str = "en") -> LazySet[str]:
    """Return the words of `load_words`, which are read at their first use."""
    return LazySet(partial(load_words, name, language))


@cache
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
    """Return the entries under a key of a table, such as “subject” or “kinds.work”, as one pattern, ignoring case. It finds
    whole words, unless the table says `whole_words = false`, as in a script without spaces. A key that is missing matches
    nothing.
    """
    start, end = (r"(?<!\w)", r"(?!\w)") if load_table(table, language).get("whole_words", True) else ("", "")
    entries: Any = reduce(lambda found, part: found.get(part, {}), key.split("."), load_table(table, language))
    return re.compile(compose(f"{start}(?:{alternatives(entries or ['(?!)'])}){end}", language), re.IGNORECASE)


@cache
def table_pattern(table: str, key: str, flags: int = re.IGNORECASE, language: str = "en") -> re.Pattern[str]:
    """Return the entry under a key of a table as one pattern."""
    return re.compile(compose(load_table(table, language)[key], language), flags)


@cache
def table_words(table: str, key: str, flags: int = re.IGNORECASE, language: str = "en") -> re.Pattern[str]:
    """Return the entry under a key of a table as one pattern for whole words."""
    return re.compile(rf"\b{compose(load_table(table, language)[key], language)}\b", flags)


def compile_entry(entry: Entry) -> re.Pattern[str]:
    """Return an entry of a table, such as a field of one of its rows, as a pattern that heeds case."""
    return re.compile(compose(entry))


def compose(entry: Entry, language: str = "en") -> str:
    """Return an entry of a table as a regular expression, with every class such as `<RELATIVE>` spelt out."""
    if isinstance(entry, str):
        return _CLASS.sub(lambda found: word_class(found[1], language), entry)
    if isinstance(entry, Mapping) and "any" in entry:
        return "".join(compose(entry[part], language) for part in ("before", "any", "after") if part in entry)
    if isinstance(entry, Mapping):
        return f"(?:{alternatives(word for words in entry.values() for word in words)})"
    return f"(?:{'|'.join(compose(one, language) for one in entry)})"


@cache
def word_class(name: str, language: str = "en") -> str:
    """Return a class of words, such as RELATIVE, as a regular expression."""
    return compose(load_table(WORD_CLASSES, language)[name], language)


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""
