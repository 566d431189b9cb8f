"""Display texts and icons of memory types."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from lethe_app.domain.memory import MemoryType

KINDS = {
    MemoryType.GENERAL: ("memory", QT_TRANSLATE_NOOP("Memory", "General")),
    MemoryType.WORLD_INFO: ("book", QT_TRANSLATE_NOOP("Memory", "World entry")),
    MemoryType.WEB_SEARCH: ("globe", QT_TRANSLATE_NOOP("Memory", "Web search")),
    MemoryType.CHAT_SESSION: ("thought", QT_TRANSLATE_NOOP("Memory", "Conversation")),
    MemoryType.JOURNAL: ("edit", QT_TRANSLATE_NOOP("Memory", "Journal")),
    MemoryType.IMAGE: ("eye", QT_TRANSLATE_NOOP("Memory", "Image")),
    MemoryType.FILE: ("folder", QT_TRANSLATE_NOOP("Memory", "File")),
    MemoryType.LOCATION: ("pin", QT_TRANSLATE_NOOP("Memory", "Place")),
    MemoryType.EVENT: ("clock", QT_TRANSLATE_NOOP("Memory", "Event")),
    MemoryType.PERSON: ("user", QT_TRANSLATE_NOOP("Memory", "Person")),
    MemoryType.GOAL: ("check", QT_TRANSLATE_NOOP("Memory", "Goal")),
    MemoryType.REMINDER: ("info", QT_TRANSLATE_NOOP("Memory", "Reminder")),
}
"""Icon name and title of each memory type."""


def format_kind(kind: MemoryType) -> str:
    """Return the display name of a memory type, such as “Person” or “Event”."""
    return QCoreApplication.translate("Memory", str(KINDS[kind][1]))
