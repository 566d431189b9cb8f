"""Lenient reading of JSON texts of other programs: byte order marks, trailing commas, duplicate keys, odd numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import cast

from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.errors import FileError

JsonObject = dict[str, JsonValue]

MAX_BYTES = 64 * 1024 * 1024
"""Maximum size of a JSON text in bytes: the character cards with embedded pictures that people share stay below 30 MB."""
MAX_VALUES = 2_000_000
"""Maximum number of values in a JSON text. Parsed, each takes about 100 bytes, however short it is in the file."""
MAX_DEPTH = 100
"""Maximum nesting. Every format known nests below 15 levels; deeper structures could exhaust the stack of later steps."""
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*+[}\]])', re.DOTALL)
_BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def parse_json(content: bytes, name: str, notes: ImportNotes) -> JsonValue:
    """Parse a JSON text. Raise FileError, which names `name`, if it is no JSON, too large or nested too deeply."""
    return parse_json_text(decode_text(content, name), name, notes)


def decode_text(content: bytes, name: str) -> str:
    """Decode text in UTF-8, in UTF-16 with a byte order mark, or else in Windows-1252, which old tools wrote."""
    if len(content) > MAX_BYTES:
        raise FileError(name, f"is larger than {MAX_BYTES // 1024 // 1024} MB")
    encoding = _BYTE_ORDER_MARKS.get(content[:2])
    if encoding is not None:
        return content[2:].decode(encoding, "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def parse_json_text(text: str, name: str, notes: ImportNotes, location: str = "") -> JsonValue:
    """Parse a JSON text that is decoded already, such as one line of a file. Raise FileError."""
    if text.count(",") + text.count("[") + text.count("{") > MAX_VALUES:
        raise FileError(name, f"contains more than {MAX_VALUES:,} values", location)

    def build_object(pairs: Sequence[tuple[str, JsonValue]]) -> JsonObject:
        built = dict(pairs)
        if len(built) < len(pairs):
            names = [key for key, _ in pairs]
            notes.add(NoteKind.DUPLICATE_KEY, max(names, key=names.count)[:80])
        return built

    decoder = json.JSONDecoder(
        object_pairs_hook=build_object, parse_float=_finite_number, parse_constant=lambda _: None, strict=False
    )
    try:
        try:
            value = decoder.decode(text)
        except json.JSONDecodeError:
            value = decoder.decode(_TRAILING_COMMA.sub(lambda match: match[1] or "", text))
            notes.add(NoteKind.REPAIRED_JSON, location)
    except json.JSONDecodeError as error:
        problem = f"is not valid JSON (line {error.lineno}, column {error.colno}): {error.msg.lower()}"
        raise FileError(name, problem, location) from error
    except RecursionError as error:
        raise FileError(name, "is nested too deeply", location) from error
    except ValueError as error:  # a number of more digits than Python converts
        raise FileError(name, f"is not valid JSON: {error}", location) from error
    if _exceeds_depth(value):
        raise FileError(name, "is nested too deeply", location)
    return cast("JsonValue", _without_surrogates(value) if "\\ud" in text.lower() else value)


def _finite_number(text: str) -> float | None:
    """Return a number, or None for one such as 1e999, which no JSON text can contain again."""
    number = float(text)
    return number if math.isfinite(number) else None


def _exceeds_depth(value: object) -> bool:
    """Return whether a value is nested deeper than `MAX_DEPTH`; level by level, because recursion is what is limited."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inner_levels = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [inner for values in inner_levels for inner in values if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _without_surrogates(value: object) -> object:
    """Join surrogate halves that form a character and replace the others, because UTF-8 cannot encode them."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {str(_without_surrogates(key)): _without_surrogates(one) for key, one in value.items()}
    return value
