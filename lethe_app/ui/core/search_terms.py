"""Synonyms by which the command palette and the settings search find actions and settings."""

from __future__ import annotations

import json
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from lethe_app.config.settings import Settings
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.paths import shipped_root
from lethe_app.ui.core.actions import action_title
from lethe_app.ui.core.labels.fields import field_title, translate_text
from lethe_app.ui.core.word_search import SearchText

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

FILE = shipped_root() / "resources" / "search_terms.json"
"""Synonyms, separated by commas, by the name of the action or setting; read when something is searched for."""

RECORDS: Mapping[str, tuple[type[BaseModel], ...]] = MappingProxyType(
    {
        "presets": (SamplerPreset, InstructPreset, SystemPreset),
        "worlds": (World, WorldEntry),
        "persona_editor": (Persona,),
        "memories": (MemoryUnit,),
    }
)
"""Records that are edited on a page, by the action that opens it."""


@cache
def load_terms(kind: str) -> Mapping[str, str]:
    """Return the English synonyms of all `actions` or `settings` by name."""
    return MappingProxyType(json.loads(FILE.read_text(encoding="utf-8"))[kind])


def action_search_text(name: str) -> SearchText:
    """Return the texts by which an action is found; a page is also found by the titles of its fields."""
    titles = [
        translate_text(field.title) for record in RECORDS.get(name, ()) for field in record.model_fields.values() if field.title
    ]
    return SearchText(action_title(name), _translate_terms(load_terms("actions").get(name, "")), ", ".join(titles))


def setting_search_text(name: str) -> SearchText:
    """Return the texts by which a setting is found."""
    description = translate_text(Settings.model_fields[name].description or "")
    return SearchText(field_title(Settings, name), _translate_terms(load_terms("settings").get(name, "")), description)


def _translate_terms(terms: str) -> str:
    return QCoreApplication.translate("SearchTerms", terms) if terms else ""
