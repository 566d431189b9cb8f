"""Display texts of declared fields, and of the values of settings."""

from __future__ import annotations

from pydantic import BaseModel
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QLocale

VALUE_LABELS = {
    "system": str(QT_TRANSLATE_NOOP("Field", "System default")),
    "light": str(QT_TRANSLATE_NOOP("Field", "Light")),
    "dark": str(QT_TRANSLATE_NOOP("Field", "Dark")),
    "sans": str(QT_TRANSLATE_NOOP("Field", "Sans")),
    "serif": str(QT_TRANSLATE_NOOP("Field", "Serif")),
    "fit_all": str(QT_TRANSLATE_NOOP("Field", "As many as fit")),
    "current_only": str(QT_TRANSLATE_NOOP("Field", "Current conversation only")),
    "summarise": str(QT_TRANSLATE_NOOP("Field", "Replace by a summary")),
    "truncate": str(QT_TRANSLATE_NOOP("Field", "Leave out")),
    "late": str(QT_TRANSLATE_NOOP("Field", "Just above your message")),
    "layout.system": str(QT_TRANSLATE_NOOP("Field", "In the system prompt")),
    "depth": str(QT_TRANSLATE_NOOP("Field", "Among the messages")),
    "group_turns.named": str(QT_TRANSLATE_NOOP("Field", "Named persona or next in turn")),
    "group_turns.everyone": str(QT_TRANSLATE_NOOP("Field", "Everyone, once each")),
    "group_turns.one": str(QT_TRANSLATE_NOOP("Field", "Next in turn only")),
    "group_turns.talkative": str(QT_TRANSLATE_NOOP("Field", "Named persona, others by talkativeness")),
    "group_turns.model": str(QT_TRANSLATE_NOOP("Field", "Named persona or model's choice")),
    "f16": str(QT_TRANSLATE_NOOP("Field", "f16 (full precision)")),
    "q8_0": str(QT_TRANSLATE_NOOP("Field", "q8_0 (half the memory)")),
    "q4_0": str(QT_TRANSLATE_NOOP("Field", "q4_0 (a quarter of the memory, less precise)")),
    "leave_out": str(QT_TRANSLATE_NOOP("Field", "Leave out")),
    "narrator": str(QT_TRANSLATE_NOOP("Field", "Read by the narrator")),
    "automatic": str(QT_TRANSLATE_NOOP("Field", "Automatic")),
    "small": str(QT_TRANSLATE_NOOP("Field", "Small computer")),
    "normal": str(QT_TRANSLATE_NOOP("Field", "Normal")),
    "duckduckgo": "DuckDuckGo",
    "brave": "Brave",
    "searxng": "SearXNG",
    "dictation_language.auto": str(QT_TRANSLATE_NOOP("Field", "Detect automatically")),
}
LANGUAGE_SETTINGS = frozenset({"dictation_language"})
"""Settings whose values are language codes, after the one for detecting the language."""


def value_label(name: str, value: str) -> str:
    """Return the label of a value; labels of `name.value` have priority, where a value has several meanings."""
    text = VALUE_LABELS.get(f"{name}.{value}") or VALUE_LABELS.get(value, value)
    if name in LANGUAGE_SETTINGS and text == value:
        return language_name(value)
    return QCoreApplication.translate("Field", text)


def language_name(code: str) -> str:
    """Return the English name of a language by its ISO 639 code; the code itself if Qt does not know it."""
    language = QLocale.codeToLanguage(code)
    return QLocale.languageToString(language) if language not in {QLocale.Language.AnyLanguage, QLocale.Language.C} else code


def translate_text(text: str) -> str:
    """Translate a title or help text from the declaration of a field, which is not tied to the user interface."""
    return QCoreApplication.translate("Field", text) if text else ""


def field_title(model: type[BaseModel], name: str) -> str:
    """Return the title of a model's field."""
    return translate_text(model.model_fields[name].title or name)
