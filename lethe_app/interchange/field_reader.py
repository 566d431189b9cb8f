"""Lenient reading of the fields of one foreign object: values of a wrong type are converted, or else replaced and noted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar, cast

from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.interchange.json_text import JsonObject

Value = TypeVar("Value")

MAX_TEXT = 1_000_000
"""Maximum characters of one text: over a hundred times the longest description of a character that anybody shares."""
MAX_ITEMS = 100_000
"""Maximum items of one list."""
MAX_NUMBER = 2**53
"""Maximum absolute value of a number, up to which JSON programs agree on whole numbers."""
_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0", ""}


class FieldReader:
    """Reads fields by name; a missing field and null give the default without a note."""

    def __init__(
        self, values: JsonValue | Mapping[str, JsonValue], notes: ImportNotes | None = None, location: str = ""
    ) -> None:
        """Read `values`; a value that is no object has no fields. Without `notes`, what is replaced is not noted."""
        self._values: Mapping[str, JsonValue] = values if isinstance(values, Mapping) else {}
        self._notes, self._location = notes if notes is not None else ImportNotes(), location

    def location_of(self, name: str) -> str:
        """Return the location of a field for notes, such as `entries[3].order`."""
        return f"{self._location}.{name}" if self._location else name

    def text(self, name: str, default: str = "") -> str:
        """Return a text without NUL characters, at most `MAX_TEXT` characters long."""
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            if isinstance(value, list) and all(isinstance(one, str) for one in value):
                value = "\n".join(cast("list[str]", value))
            elif isinstance(value, int | float) and not isinstance(value, bool):
                value = str(value)
            else:
                return self._replace(name, value, default)
            self._notes.add(NoteKind.CONVERTED, self.location_of(name), found=describe_type(self._values.get(name)))
        return self._clean(name, value)

    def texts(self, name: str, separator: str = ",") -> list[str]:
        """Return a list of texts; a single text is split at `separator`, and blank items are dropped."""
        value = self._values.get(name)
        if value is None:
            return []
        if isinstance(value, str):
            return [part for one in self._clean(name, value).split(separator) if (part := one.strip())]
        if not isinstance(value, list):
            return self._replace(name, value, [])
        found = []
        for number, one in enumerate(value[:MAX_ITEMS]):
            text = FieldReader({"": one}, self._notes, f"{self.location_of(name)}[{number}]").text("")
            if text.strip():
                found.append(text)
        return found

    def number(self, name: str, default: int, low: int = -MAX_NUMBER, high: int = MAX_NUMBER) -> int:
        """Return a whole number between `low` and `high`."""
        value = self.optional_number(name, low, high)
        return default if value is None else value

    def optional_number(self, name: str, low: int = -MAX_NUMBER, high: int = MAX_NUMBER) -> int | None:
        """Return a whole number between `low` and `high`, or None if there is none."""
        value = self.optional_decimal(name, low, high)
        return None if value is None else round(value)

    def decimal(self, name: str, default: float, low: float, high: float) -> float:
        """Return a number between `low` and `high`."""
        value = self.optional_decimal(name, low, high)
        return default if value is None else value

    def optional_decimal(self, name: str, low: float, high: float) -> float | None:
        """Return a number between `low` and `high`, or None if there is none. True is 1."""
        value = self._values.get(name)
        if value is None:
            return None
        try:
            number = float(value) if isinstance(value, bool | int | float | str) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if math.isnan(number):
            return None if value == "" else self._replace(name, value, None)
        limited = min(max(number, low), high)
        if limited != number:
            self._notes.add(NoteKind.OUT_OF_RANGE, self.location_of(name), used=f"{limited:g}")
        return limited

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a boolean."""
        value = self.optional_flag(name)
        return default if value is None else value

    def optional_flag(self, name: str) -> bool | None:
        """Return a boolean, or None if there is none."""
        value = self._values.get(name)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return value != 0
        text = value.strip().casefold() if isinstance(value, str) else None
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        return self._replace(name, value, None)

    def mapping(self, name: str) -> JsonObject:
        """Return an object; an empty one if there is none."""
        value = self._values.get(name)
        if value is None or isinstance(value, dict):
            return value or {}
        return {} if value in ([], "") else self._replace(name, value, {})

    def child(self, name: str) -> FieldReader:
        """Return a reader of the object in a field, which notes what it replaces with its location in this one."""
        return FieldReader(self.mapping(name), self._notes, self.location_of(name))

    def objects(self, name: str) -> list[tuple[JsonObject, FieldReader]]:
        """Return the objects in a list (see `items`), each with a reader that notes nothing."""
        return [(one, FieldReader(one)) for one in self.items(name) if isinstance(one, dict)]

    def items(self, name: str) -> list[JsonValue]:
        """Return a list of at most `MAX_ITEMS` values; the values of an object, if it is one."""
        value = self._values.get(name)
        if isinstance(value, dict):
            value = list(value.values())
        if value is None or value == "":
            return []
        if not isinstance(value, list):
            return self._replace(name, value, [])
        if len(value) > MAX_ITEMS:
            self._notes.add(NoteKind.OUT_OF_RANGE, self.location_of(name), used=MAX_ITEMS)
        return value[:MAX_ITEMS]

    def _clean(self, name: str, text: str) -> str:
        text = text.replace("\0", "").replace("\r\n", "\n")
        if len(text) > MAX_TEXT:
            self._notes.add(NoteKind.TRUNCATED, self.location_of(name), limit=MAX_TEXT)
        return text[:MAX_TEXT]

    def _replace(self, name: str, found: object, default: Value) -> Value:
        self._notes.add(NoteKind.WRONG_TYPE, self.location_of(name), found=describe_type(found))
        return default


def describe_type(value: object) -> str:
    """Return the JSON name of a value's type."""
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")
