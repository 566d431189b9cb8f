"""Values read from storage, which another version of the program may have written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import ValidationError

T = TypeVar("T")


def read_stored(parse: Callable[[Any], T], value: object) -> T | None:
    """Return a stored value as `parse` validates it; None for None and for a value that is invalid."""
    try:
        return None if value is None else parse(value)
    except ValidationError:
        return None
