"""User personas of SillyTavern, from a settings file or a backup of the personas."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from lethe_app.domain.persona import Persona
from lethe_app.interchange.cards.card import ImportedCard
from lethe_app.interchange.field_reader import FieldReader

NAMES, DESCRIPTIONS = "personas", "persona_descriptions"
"""Fields with the names and the descriptions of user personas, by the file name of their picture."""


def has_user_personas(values: JsonValue) -> bool:
    """Return whether a JSON value contains user personas of SillyTavern."""
    found = _find(values)
    return isinstance(found.get(NAMES), dict) and isinstance(found.get(DESCRIPTIONS), dict)


def read_user_personas(values: JsonValue) -> list[ImportedCard]:
    """Return the user personas, without their pictures, which are files of their own."""
    found = FieldReader(_find(values))
    names = found.child(NAMES)
    descriptions = found.child(DESCRIPTIONS)
    personas = []
    for picture in found.mapping(NAMES):
        name = names.text(picture).strip()
        description = descriptions.child(picture).text("description")
        if name:
            personas.append(ImportedCard(Persona(name=name[:200], bio=description, is_user=True)))
    return personas


def _find(values: JsonValue) -> Mapping[str, JsonValue]:
    """Return the object with the user personas: the value itself, or the part of a settings file."""
    if not isinstance(values, dict):
        return {}
    settings = values.get("power_user")
    return settings if isinstance(settings, dict) and NAMES in settings else values
