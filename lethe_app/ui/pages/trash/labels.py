"""What lies in the trash, in words: what it was, how big it is, and when it goes by itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import ceil

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.ui.core.formatting import counted, messages_in_words, size_in_words

DRAWINGS = {
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


def kind_in_words(kind: TrashKind) -> str:
    """“Conversation”, “World”."""
    tr = QCoreApplication.translate
    return {
        TrashKind.CONVERSATION: tr("Trash", "Conversation"),
        TrashKind.MESSAGE: tr("Trash", "Message"),
        TrashKind.MEMORY: tr("Trash", "Memory"),
        TrashKind.FACT: tr("Trash", "Fact"),
        TrashKind.PERSONA: tr("Trash", "Persona"),
        TrashKind.USER_PERSONA: tr("Trash", "You"),
        TrashKind.WORLD: tr("Trash", "World"),
        TrashKind.PRESET: tr("Trash", "Preset"),
        TrashKind.NOTEBOOK: tr("Trash", "Notebook"),
        TrashKind.FILE: tr("Trash", "Broken file"),
    }[kind]


def title_of(item: Trashed) -> str:
    """Its name or first words."""
    bare = " ".join(item.title.replace("*", "").replace("#", "").split()).strip('“”"_> ')
    return bare or QCoreApplication.translate("Trash", "Without words")


def whence(item: Trashed, names: Mapping[str, str]) -> str:
    """To whom or what it belonged."""
    tr = QCoreApplication.translate
    name = names.get(item.persona_id, item.persona_id.capitalize())
    match item.kind:
        case TrashKind.CONVERSATION:
            return f"{name}, {messages_in_words(item.count)}" if item.count else name
        case TrashKind.MESSAGE:
            return f"{name}, “{item.place}”" if item.place else name
        case TrashKind.PERSONA if item.count:
            return counted(item.count, tr("Trash", "with {n} conversation"), tr("Trash", "with {n} conversations"))
        case _:
            return name


def bytes_in_words(size: int) -> str:
    """Small things too: “312 bytes”, “4 kB”."""
    if size >= 1_000_000:
        return size_in_words(size)
    if size >= 1_000:
        return f"{QLocale().toString(round(size / 1000))} kB"
    return counted(size, QCoreApplication.translate("Trash", "{n} byte"), QCoreApplication.translate("Trash", "{n} bytes"))


def left_in_words(item: Trashed, days: int, present: datetime) -> str:
    """When it goes by itself; empty for never."""
    if not days:
        return ""
    left = ceil((item.when + timedelta(days=days) - present) / timedelta(days=1))
    tr = QCoreApplication.translate
    if left < 1:
        return tr("Trash", "today")
    return counted(left, tr("Trash", "in {n} day"), tr("Trash", "in {n} days"))
