"""Display texts of items in the trash: kind, origin, size and time until deletion."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import ceil

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.ui.core.formatting import format_count, format_message_count

ICON_NAMES = {
    TrashKind.CONVERSATION: "thought",
    TrashKind.MESSAGE: "edit",
    TrashKind.MEMORY: "memory",
    TrashKind.FACT: "info",
    TrashKind.PERSONA: "user",
    TrashKind.USER_PERSONA: "user",
    TrashKind.WORLD: "globe",
    TrashKind.PRESET: "sliders",
    TrashKind.NOTEBOOK: "book",
    TrashKind.FILE: "folder",
}


def format_kind(kind: TrashKind) -> str:
    """Return the display name of a kind of item, such as “Conversation” or “World”."""
    tr = QCoreApplication.translate
    return {
        TrashKind.CONVERSATION: tr("Trash", "Conversation"),
        TrashKind.MESSAGE: tr("Trash", "Message"),
        TrashKind.MEMORY: tr("Trash", "Memory"),
        TrashKind.FACT: tr("Trash", "Fact"),
        TrashKind.PERSONA: tr("Trash", "Persona"),
        TrashKind.USER_PERSONA: tr("Trash", "User persona"),
        TrashKind.WORLD: tr("Trash", "World"),
        TrashKind.PRESET: tr("Trash", "Preset"),
        TrashKind.NOTEBOOK: tr("Trash", "Notebook"),
        TrashKind.FILE: tr("Trash", "Damaged file"),
    }[kind]


def item_title(item: Trashed) -> str:
    """Return the name or first words of an item without markup."""
    plain_title = " ".join(item.title.replace("*", "").replace("#", "").split()).strip('“”"_> ')
    return plain_title or QCoreApplication.translate("Trash", "Untitled")


def format_origin(item: Trashed, names: Mapping[str, str]) -> str:
    """Return the persona or conversation that the item belonged to."""
    tr = QCoreApplication.translate
    name = names.get(item.persona_id, item.persona_id.capitalize())
    match item.kind:
        case TrashKind.CONVERSATION:
            return f"{name}, {format_message_count(item.count)}" if item.count else name
        case TrashKind.MESSAGE:
            return f"{name}, “{item.place}”" if item.place else name
        case TrashKind.PERSONA if item.count:
            return format_count(item.count, tr("Trash", "with {n} conversation"), tr("Trash", "with {n} conversations"))
        case _:
            return name


def format_time_left(item: Trashed, days: int, current_time: datetime) -> str:
    """Return the time until the item is deleted permanently; empty if `days` is 0, which means never."""
    if not days:
        return ""
    days_left = ceil((item.when + timedelta(days=days) - current_time) / timedelta(days=1))
    tr = QCoreApplication.translate
    if days_left < 1:
        return tr("Trash", "today")
    return format_count(days_left, tr("Trash", "in {n} day"), tr("Trash", "in {n} days"))
