"""Display texts and icons of memory types."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.memory import MemoryType

ICON_NAMES = {
    MemoryType.GENERAL: "memory",
    MemoryType.WORLD_INFO: "book",
    MemoryType.WEB_SEARCH: "globe",
    MemoryType.CHAT_SESSION: "thought",
    MemoryType.JOURNAL: "edit",
    MemoryType.IMAGE: "eye",
    MemoryType.FILE: "folder",
    MemoryType.LOCATION: "pin",
    MemoryType.EVENT: "clock",
    MemoryType.PERSON: "user",
    MemoryType.GOAL: "check",
    MemoryType.REMINDER: "info",
}
"""Icon name of each memory type."""


def format_kind(kind: MemoryType) -> str:
    """Return the display name of a memory type, such as “Person” or “Event”."""
    tr = QCoreApplication.translate
    return {
        MemoryType.GENERAL: tr("Memory", "General"),
        MemoryType.WORLD_INFO: tr("Memory", "World entry"),
        MemoryType.WEB_SEARCH: tr("Memory", "Web search"),
        MemoryType.CHAT_SESSION: tr("Memory", "Conversation"),
        MemoryType.JOURNAL: tr("Memory", "Journal"),
        MemoryType.IMAGE: tr("Memory", "Image"),
        MemoryType.FILE: tr("Memory", "File"),
        MemoryType.LOCATION: tr("Memory", "Place"),
        MemoryType.EVENT: tr("Memory", "Event"),
        MemoryType.PERSON: tr("Memory", "Person"),
        MemoryType.GOAL: tr("Memory", "Goal"),
        MemoryType.REMINDER: tr("Memory", "Reminder"),
    }[kind]
