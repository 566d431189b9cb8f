"""Display texts of settings and of their values."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

VALUE_LABELS = {
    "system": str(QT_TRANSLATE_NOOP("Setting", "System default")),
    "light": str(QT_TRANSLATE_NOOP("Setting", "Light")),
    "dark": str(QT_TRANSLATE_NOOP("Setting", "Dark")),
    "sans": str(QT_TRANSLATE_NOOP("Setting", "Sans")),
    "serif": str(QT_TRANSLATE_NOOP("Setting", "Serif")),
    "fit_all": str(QT_TRANSLATE_NOOP("Setting", "As many as fit")),
    "current_only": str(QT_TRANSLATE_NOOP("Setting", "Current conversation only")),
    "late": str(QT_TRANSLATE_NOOP("Setting", "Just above your message")),
    "layout.system": str(QT_TRANSLATE_NOOP("Setting", "In the system prompt")),
    "depth": str(QT_TRANSLATE_NOOP("Setting", "Among the messages")),
    "group_turns.named": str(QT_TRANSLATE_NOOP("Setting", "Named persona or next in turn")),
    "group_turns.everyone": str(QT_TRANSLATE_NOOP("Setting", "Everyone, once each")),
    "group_turns.one": str(QT_TRANSLATE_NOOP("Setting", "Next in turn only")),
    "group_turns.model": str(QT_TRANSLATE_NOOP("Setting", "Named persona or model's choice")),
    "f16": str(QT_TRANSLATE_NOOP("Setting", "f16 (full precision)")),
    "q8_0": str(QT_TRANSLATE_NOOP("Setting", "q8_0 (half the memory)")),
    "q4_0": str(QT_TRANSLATE_NOOP("Setting", "q4_0 (a quarter of the memory, less precise)")),
    "duckduckgo": "DuckDuckGo",
    "brave": "Brave",
    "searxng": "SearXNG",
}


def value_label(name: str, value: str) -> str:
    """Return the label of a value; labels of `name.value` have priority, where a value has several meanings."""
    text = VALUE_LABELS.get(f"{name}.{value}") or VALUE_LABELS.get(value, value)
    return QCoreApplication.translate("Setting", text)


def translate_text(text: str) -> str:
    """Translate a title or help text from the declaration of the settings, which is not tied to the user interface."""
    return QCoreApplication.translate("Setting", text) if text else ""
