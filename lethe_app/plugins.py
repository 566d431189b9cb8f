"""Load plug-ins: entry points of other installed distributions. A broken plug-in affects nothing but itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Plugin(Generic[T]):
    """What one entry point provides, with the distribution it comes from."""

    value: T
    distribution: str


@dataclass(frozen=True)
class PluginError:
    """Plug-in that cannot be used, with the reason in one sentence."""

    distribution: str
    reason: str
    in_use: bool = False
    """True if it was loaded and failed later, during use."""


def find_entry_points(group: str) -> list[EntryPoint]:
    """Return the installed entry points of a group, sorted by name."""
    return list(_read_entry_points(group, tuple(sys.path)))


@lru_cache
def _read_entry_points(group: str, _search_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    # Reads the metadata of every installed distribution, which takes milliseconds each time.
    return tuple(sorted(entry_points(group=group), key=lambda entry: entry.name))


def load_plugins(
    entries: Iterable[EntryPoint], validate: Callable[[object], T], subject: str
) -> tuple[list[Plugin[T]], list[PluginError]]:
    """Load plug-ins; return the usable ones and the faults of the others.

    `validate` turns what an entry point names into the value that is used, and raises TypeError or ValueError with a reason if
    it is invalid. `subject` names the kind at the beginning of a fault's sentence: “The task”.
    """
    plugins: list[Plugin[T]] = []
    errors: list[PluginError] = []
    for entry in entries:
        distribution = entry.dist.name if entry.dist is not None else entry.module
        try:
            plugins.append(Plugin(validate(entry.load()), distribution))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever the code of others raises, SystemExit too, the program starts
            errors.append(PluginError(distribution, f"{subject} “{entry.name}” cannot be used: {_describe_error(error)}"))
    return plugins, errors


def _describe_error(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200] or type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."
