"""Synonyms by which the command palette and the settings search find actions and settings."""

from __future__ import annotations

import json
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from lethe_app.config.settings import Settings
from lethe_app.paths import shipped_root
from lethe_app.ui.core.actions import action_title
from lethe_app.ui.core.labels.fields import field_title, translate_text
from lethe_app.ui.core.word_search import SearchText

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = shipped_root() / "resources" / "search_terms.json"
"""Synonyms, separated by commas, by the name of the action or setting; read when something is searched for."""


@cache
def load_terms(kind: str) -> Mapping[str, str]:
    """Return the English synonyms of all `actions` or `settings` by name."""
    return MappingProxyType(json.loads(FILE.read_text(encoding="utf-8"))[kind])


def action_search_text(name: str) -> SearchText:
    """Return the texts by which an action is found."""
    return SearchText(action_title(name), _translate_terms(load_terms("actions").get(name, "")))


def setting_search_text(name: str) -> SearchText:
    """Return the texts by which a setting is found."""
    description = translate_text(Settings.model_fields[name].description or "")
    return SearchText(field_title(Settings, name), _translate_terms(load_terms("settings").get(name, "")), description)


def _translate_terms(terms: str) -> str:
    return QCoreApplication.translate("SearchTerms", terms) if terms else ""
