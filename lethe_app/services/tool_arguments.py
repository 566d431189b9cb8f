"""Takes the arguments a model wrote as they were meant: a number where words belong, a null where nothing was to be said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)


def understood(kind: type[T], given: Mapping[str, Any]) -> T:
    """The arguments of a tool. Raises ValidationError for what cannot be meant."""
    spelled = {name.strip().casefold(): value for name, value in given.items()}
    properties = kind.model_json_schema().get("properties", {})
    found: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        value = given[name] if name in given else spelled.get(name.casefold())
        if value is not None or (name in given and field.is_required()):
            found[name] = _fitting(properties.get(name, {}), value)
    return kind.model_validate(found)


def _fitting(schema: Mapping[str, Any], value: object) -> object:
    """Words for what is no text but should be one, and a choice as it is spelled where only its capitals differ."""
    kinds = [schema, *schema.get("anyOf", ())]
    if any(kind.get("type") == "string" for kind in kinds):
        value = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        choices = [choice for kind in kinds for choice in kind.get("enum", ())]
        if isinstance(value, str) and choices:
            return next((one for one in choices if one.casefold() == str(value).strip().casefold()), value)
    return value
