"""Fields of a foreign record that Lethe cannot express: kept beside our record at import and written back on export.

At export the record is first written from our fields. Then every original value is put back that reads as the same
record: unknown fields always, known ones as long as nobody edited what they stand for. So an unedited record returns as it
came, and an edited one loses nothing but what was edited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from pydantic import JsonValue

from lethe_app.interchange.json_text import JsonObject

Path = tuple[str, ...]
"""Keys that lead to a value through nested objects."""
_SECRET = re.compile(
    r"passw(or)?d|api_?key|(client|app)_?secret|secret_?key|(access|auth|bearer|refresh)_?token|authorization", re.IGNORECASE
)
"""Names of fields that hold what nobody else may know."""


def keep_original(
    original: Mapping[str, JsonValue],
    written: Mapping[str, JsonValue],
    read: Callable[[JsonObject], object],
    expected: object,
) -> JsonObject:
    """Return the part of `original` that an export of the imported record, `written`, would not contain. `expected` is what
    `read` returns for `original`.

    Where that part does not read as the same record together with what the export adds, the whole original is kept. Secrets
    never are.
    """
    original = without_secrets(original)
    produced = dict(_leaves(written))
    kept = _nested((path, value) for path, value in _leaves(original) if path not in produced or produced[path] != value)
    if not kept.keys().isdisjoint(written) and read(_merge(written, kept)) != expected:
        return dict(original)
    return kept


def restore_original(
    written: Mapping[str, JsonValue], original: Mapping[str, JsonValue], read: Callable[[JsonObject], object]
) -> JsonObject:
    """Return `written` with the values of `original` put back that leave the record returned by `read` the same.

    All are tried at once first, with and without what our fields add. If the record was edited, they are tried one by one,
    twice, because a value may be acceptable only after another one.
    """
    original = without_secrets(original)
    if not original:
        return dict(written)
    expected = read(dict(written))
    for candidate in (_merge(written, original), dict(original)):
        if read(candidate) == expected:
            return candidate
    merged = dict(_leaves(written))
    for _ in range(2):
        for path, value in _leaves(original):
            # Null or a list may stand where our fields are an object.
            changed = {other: kept for other, kept in merged.items() if other[: len(path)] != path} | {path: value}
            if read(_nested(changed.items())) == expected:
                merged = changed
    return _nested(merged.items())


def without_secrets(values: Mapping[str, JsonValue]) -> JsonObject:
    """Return an object without passwords, keys and the like, at any depth."""
    return {
        name: without_secrets(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if not (value and _SECRET.search(name))
    }


def _merge(written: Mapping[str, JsonValue], original: Mapping[str, JsonValue]) -> JsonObject:
    return _nested([*_leaves(written), *_leaves(original)])


def _leaves(values: Mapping[str, JsonValue], prefix: Path = ()) -> Iterator[tuple[Path, JsonValue]]:
    """Yield every value that is not a non-empty object with its path."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*prefix, name))
        else:
            yield (*prefix, name), value


def _nested(leaves: Iterable[tuple[Path, JsonValue]]) -> JsonObject:
    """Return the objects that consist of these values; of two values for one path the last counts."""
    root: JsonObject = {}
    for path, value in leaves:
        level = root
        for name in path[:-1]:
            inner = level.get(name)
            if not isinstance(inner, dict):
                inner = level[name] = {}
            level = inner
        level[path[-1]] = {} if value == {} else value  # a new object, since later values may be put into it
    return root
