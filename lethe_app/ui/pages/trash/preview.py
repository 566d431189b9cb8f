"""Preview of an item in the trash: what it is, where it comes from, and the beginning of its text; and the display texts of
these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from math import ceil

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.ui.core.formatting import format_count, format_message_count
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label, create_text_label

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
MIN_WIDTH, WIDTH = 260, 400
EMPHASIS = re.compile(r"\*+(\S(?:[^*\n]*\S)?)\*+")
"""Text between the asterisks of an action or of an emphasis."""


def tr(text: str) -> str:
    """Translate a text in the context of the page; usable before a page exists."""
    return QCoreApplication.translate("Trash", text)


def format_kind(kind: TrashKind) -> str:
    """Return the display name of a kind of item, such as “Conversation” or “World”."""
    return {
        TrashKind.CONVERSATION: tr("Conversation"),
        TrashKind.MESSAGE: tr("Message"),
        TrashKind.MEMORY: tr("Memory"),
        TrashKind.FACT: tr("Fact"),
        TrashKind.PERSONA: tr("Persona"),
        TrashKind.USER_PERSONA: tr("User persona"),
        TrashKind.WORLD: tr("World"),
        TrashKind.PRESET: tr("Preset"),
        TrashKind.NOTEBOOK: tr("Notebook"),
        TrashKind.FILE: tr("Damaged file"),
    }[kind]


def item_title(item: Trashed) -> str:
    """Return the name or first words of an item without markup."""
    plain_title = " ".join(item.title.replace("*", "").replace("#", "").split()).strip('“”"_> ')
    return plain_title or tr("Untitled")


def format_origin(item: Trashed, names: Mapping[str, str]) -> str:
    """Return the persona or conversation that the item belonged to."""
    name = names.get(item.persona_id, item.persona_id.capitalize())
    match item.kind:
        case TrashKind.CONVERSATION:
            return f"{name}, {format_message_count(item.count)}" if item.count else name
        case TrashKind.MESSAGE:
            return f"{name}, “{item.place}”" if item.place else name
        case TrashKind.PERSONA if item.count:
            return format_count(item.count, tr("with {n} conversation"), tr("with {n} conversations"))
        case _:
            return name


def format_time_left(item: Trashed, days: int, current_time: datetime) -> str:
    """Return the time until the item is deleted permanently; empty if `days` is 0, which means never."""
    if not days:
        return ""
    days_left = ceil((item.when + timedelta(days=days) - current_time) / timedelta(days=1))
    if days_left < 1:
        return tr("today")
    return format_count(days_left, tr("in {n} day"), tr("in {n} days"))


class TrashPreview(DetailPane):
    """Detail pane of the selected item."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Select an item to see what it contains."), MIN_WIDTH, WIDTH, parent)
        self.title, self.origin = create_text_label("", "section"), build_small_label("")
        self.text = create_text_label("")
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setAccessibleName(tr("Preview"))
        self.add_card(self.title, self.origin, self.text)

    def show_item(self, item: Trashed | None, names: Mapping[str, str]) -> None:
        """Show an item, without its text until `show_text`; None shows the placeholder."""
        self.setCurrentIndex(0 if item is None else 1)
        if item is None:
            return
        self.title.setText(item_title(item))
        parts = (format_kind(item.kind), format_origin(item, names), format_date_time(item.when))
        self.origin.setText(" · ".join(part for part in parts if part))
        self.text.clear()

    def show_text(self, text: str) -> None:
        self.text.setText(EMPHASIS.sub(r"\1", text) or tr("No text."))
