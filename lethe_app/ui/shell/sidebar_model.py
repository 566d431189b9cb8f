"""Model of the sidebar: all personas, with the sessions of the open one; or the matches of a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QCoreApplication, QModelIndex, QPersistentModelIndex, Qt, Signal

from lethe_app.searchable_text import fold
from lethe_app.ui.core.formatting import format_age, format_message_count, join_with_and

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class PersonaRow:
    """Row of a persona."""

    persona_id: str
    name: str
    tagline: str = ""
    avatar_path: Path | None = None
    is_open: bool = False
    is_replying: bool = False
    """True if it is folded and a reply is in progress in one of its sessions."""

    @property
    def key(self) -> str:
        return f"persona {self.persona_id}"


@dataclass(frozen=True)
class SessionRow:
    """Row of a session."""

    guid: str
    persona_id: str
    title: str
    last_active_at: datetime
    message_count: int = 0
    is_open: bool = False
    guests: tuple[str, ...] = ()
    """Names of the participants other than the persona."""
    is_ended: bool = False
    """True if the session ended after inactivity, so that the next message begins a new one."""
    is_incognito: bool = False
    can_end: bool = False
    """True if it can be archived now."""
    is_replying: bool = False
    """True if a reply is in progress in it."""

    @property
    def key(self) -> str:
        return f"session {self.guid}"

    @property
    def search_text(self) -> str:
        """Return all texts in which a search looks."""
        return "\n".join([self.title, *self.guests])


Row = PersonaRow | SessionRow
ROW_ROLE = Qt.ItemDataRole.UserRole
AGE_ROLE = Qt.ItemDataRole.UserRole + 1


class SidebarModel(QAbstractListModel):
    """Rows in display order. The model does not load anything itself."""

    rename_requested = Signal(str, str)
    rearranged = Signal()

    def __init__(self, clock: Callable[[], datetime], parent: Any = None) -> None:  # noqa: ANN401 - any Qt object
        super().__init__(parent)
        self._clock = clock
        self._personas: list[PersonaRow] = []
        self._sessions: dict[str, list[SessionRow]] = {}
        self._rows: list[Row] = []
        self._search_text = ""
        self._open_persona = ""
        self._open_session = ""
        self._replying_sessions: frozenset[str] = frozenset()

    def set_personas(self, personas: list[PersonaRow]) -> None:
        self._personas = personas
        self._rebuild_rows()

    def set_sessions(self, persona_id: str, sessions: list[SessionRow]) -> None:
        self._sessions[persona_id] = sessions
        self._rebuild_rows()

    def set_open_session(self, persona_id: str, guid: str) -> None:
        """Mark the session that the chat shows."""
        self._open_persona, self._open_session = persona_id, guid
        self._rebuild_rows()

    def set_replying_sessions(self, guids: frozenset[str]) -> None:
        """Mark the sessions in which a reply is in progress."""
        self._replying_sessions = guids
        self._rebuild_rows()

    def set_search_text(self, text: str) -> None:
        """Show only rows whose name, tagline, title or participants contain `text`; empty shows the usual list."""
        self._search_text = fold(text.strip())
        self._rebuild_rows()

    @property
    def is_searching(self) -> bool:
        return bool(self._search_text)

    def row_at(self, index: Index) -> Row | None:
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def index_of(self, key: str) -> QModelIndex:
        """Return the index of the row with `key`, or an invalid index."""
        found = next((number for number, row in enumerate(self._rows) if row.key == key), -1)
        return self.index(found) if found >= 0 else QModelIndex()

    def find_session(self, guid: str) -> SessionRow | None:
        return next((row for rows in self._sessions.values() for row in rows if row.guid == guid), None)

    def _rebuild_rows(self) -> None:
        rows = self._matching_rows() if self._search_text else self._default_rows()
        if [row.key for row in rows] == [row.key for row in self._rows]:
            self._rows = rows
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()
        self.rearranged.emit()

    def _default_rows(self) -> list[Row]:
        rows: list[Row] = []
        for persona in self._personas:
            is_open = persona.persona_id == self._open_persona
            sessions = self._sessions.get(persona.persona_id, [])
            is_replying = not is_open and any(row.guid in self._replying_sessions for row in sessions)
            rows.append(replace(persona, is_open=is_open, is_replying=is_replying))
            if is_open:
                rows.extend(map(self._mark_session, sessions))
        return rows

    def _matching_rows(self) -> list[Row]:
        rows: list[Row] = []
        for persona in self._personas:
            sessions = [row for row in self._sessions.get(persona.persona_id, []) if self._search_text in fold(row.search_text)]
            if sessions or self._search_text in fold(f"{persona.name}\n{persona.tagline}"):
                rows.append(replace(persona, is_open=persona.persona_id == self._open_persona))
                rows.extend(map(self._mark_session, sessions))
        return rows

    def _mark_session(self, row: SessionRow) -> SessionRow:
        is_open, is_replying = row.guid == self._open_session, row.guid in self._replying_sessions
        return replace(row, is_open=is_open, is_replying=is_replying) if is_open or is_replying else row

    # Model interface

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsEditable if isinstance(self.row_at(index), SessionRow) else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row_at(index)
        match role:
            case _ if row is None or role == ROW_ROLE:
                return row
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return row.name if isinstance(row, PersonaRow) else row.title
            case Qt.ItemDataRole.ToolTipRole:
                lines = [row.tagline] if isinstance(row, PersonaRow) else describe_session(row)
                return "\n".join(filter(None, [*lines, format_replying(row)]))
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._accessible_text(row)
            case _ if role == AGE_ROLE and isinstance(row, SessionRow):
                age = format_age(row.last_active_at, self._clock())
                return f"+{len(row.guests)} · {age}" if row.guests else age
        return None

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row, title = self.row_at(index), str(value).strip()
        if not isinstance(row, SessionRow) or role != Qt.ItemDataRole.EditRole or not title or title == row.title:
            return False
        # Until the next `set_sessions`, so that a deletion right afterwards names the new title.
        sessions = self._sessions[row.persona_id]
        self._sessions[row.persona_id] = [replace(one, title=title) if one.guid == row.guid else one for one in sessions]
        self._rows[index.row()] = replace(row, title=title)
        self.dataChanged.emit(index, index)
        self.rename_requested.emit(row.guid, title)
        return True

    def _accessible_text(self, row: Row) -> str:
        if isinstance(row, PersonaRow):
            words = [row.name, row.tagline]
        else:
            words = [
                *describe_session(row),
                format_age(row.last_active_at, self._clock()),
                format_message_count(row.message_count),
            ]
        words.append(format_replying(row))
        if row.is_open:
            words.append(QCoreApplication.translate("Sidebar", "open"))
        return ", ".join(word for word in words if word)


def format_replying(row: Row) -> str:
    """Return the note that a reply is in progress; empty if none is."""
    return QCoreApplication.translate("Sidebar", "A reply is being written") if row.is_replying else ""


def describe_session(row: SessionRow) -> list[str]:
    """Return title, other participants and the note that the session has ended, as far as they apply."""
    ended = QCoreApplication.translate("Sidebar", "Ended after inactivity") if row.is_ended else ""
    with_guests = QCoreApplication.translate("Sidebar", "with {names}").format(names=join_with_and(row.guests))
    return [words for words in (row.title, with_guests if row.guests else "", ended) if words]
