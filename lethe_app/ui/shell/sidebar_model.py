"""Model of the sidebar: all personas, with the sessions of the open one; or the matches of a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QCoreApplication, QModelIndex, QPersistentModelIndex, Qt, Signal

from lethe_app.ui.core.formatting import age_in_words, joined, messages_in_words

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class PersonaRow:
    """Row of a persona."""

    persona_id: str
    name: str
    tagline: str = ""
    picture: Path | None = None
    is_open: bool = False

    @property
    def key(self) -> str:
        return f"persona {self.persona_id}"


@dataclass(frozen=True)
class SessionRow:
    """Row of a session."""

    guid: str
    persona_id: str
    title: str
    moment: datetime
    messages: int = 0
    is_open: bool = False
    guests: tuple[str, ...] = ()
    """Names of the participants other than the persona."""
    is_ended: bool = False
    """True if the session ended after inactivity, so that the next message begins a new one."""

    @property
    def key(self) -> str:
        return f"session {self.guid}"

    @property
    def searched(self) -> str:
        """Return all texts in which a search looks."""
        return "\n".join([self.title, *self.guests])


Row = PersonaRow | SessionRow
ROW = Qt.ItemDataRole.UserRole
AGE = Qt.ItemDataRole.UserRole + 1


class SidebarModel(QAbstractListModel):
    """Rows in display order. The model does not load anything itself."""

    rename_wanted = Signal(str, str)
    rearranged = Signal()

    def __init__(self, clock: Callable[[], datetime], parent: Any = None) -> None:  # noqa: ANN401 - any Qt object
        super().__init__(parent)
        self._clock = clock
        self._personas: list[PersonaRow] = []
        self._sessions: dict[str, list[SessionRow]] = {}
        self._rows: list[Row] = []
        self._wanted = ""
        self._open_persona = ""
        self._open_session = ""

    def set_personas(self, personas: list[PersonaRow]) -> None:
        self._personas = personas
        self._rebuild()

    def set_sessions(self, persona_id: str, sessions: list[SessionRow]) -> None:
        self._sessions[persona_id] = sessions
        self._rebuild()

    def set_open(self, persona_id: str, guid: str) -> None:
        """Mark the session that the chat shows."""
        self._open_persona, self._open_session = persona_id, guid
        self._rebuild()

    def set_wanted(self, text: str) -> None:
        """Show only rows whose name, tagline, title or participants contain `text`; empty shows the usual list."""
        self._wanted = text.strip().casefold()
        self._rebuild()

    @property
    def is_searching(self) -> bool:
        return bool(self._wanted)

    def row_at(self, index: Index) -> Row | None:
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def index_of(self, key: str) -> QModelIndex:
        """Return the index of the row with `key`, or an invalid index."""
        found = next((number for number, row in enumerate(self._rows) if row.key == key), -1)
        return self.index(found) if found >= 0 else QModelIndex()

    def session(self, guid: str) -> SessionRow | None:
        return next((row for rows in self._sessions.values() for row in rows if row.guid == guid), None)

    def _rebuild(self) -> None:
        rows = self._found() if self._wanted else self._usual()
        if [row.key for row in rows] == [row.key for row in self._rows]:
            self._rows = rows
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()
        self.rearranged.emit()

    def _usual(self) -> list[Row]:
        rows: list[Row] = []
        for persona in self._personas:
            is_open = persona.persona_id == self._open_persona
            rows.append(replace(persona, is_open=is_open))
            if is_open:
                rows.extend(self._marked(row) for row in self._sessions.get(persona.persona_id, []))
        return rows

    def _found(self) -> list[Row]:
        rows: list[Row] = []
        for persona in self._personas:
            sessions = [row for row in self._sessions.get(persona.persona_id, []) if self._wanted in row.searched.casefold()]
            if sessions or self._wanted in f"{persona.name}\n{persona.tagline}".casefold():
                rows.append(replace(persona, is_open=persona.persona_id == self._open_persona))
                rows.extend(self._marked(row) for row in sessions)
        return rows

    def _marked(self, row: SessionRow) -> SessionRow:
        return replace(row, is_open=True) if row.guid == self._open_session else row

    # Model interface

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsEditable if isinstance(self.row_at(index), SessionRow) else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row_at(index)
        match role:
            case _ if row is None or role == ROW:
                return row
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return row.name if isinstance(row, PersonaRow) else row.title
            case Qt.ItemDataRole.ToolTipRole:
                return row.tagline if isinstance(row, PersonaRow) else "\n".join(describe_session(row))
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(row)
            case _ if role == AGE and isinstance(row, SessionRow):
                age = age_in_words(row.moment, self._clock())
                return f"+{len(row.guests)} · {age}" if row.guests else age
        return None

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row, title = self.row_at(index), str(value).strip()
        if not isinstance(row, SessionRow) or role != Qt.ItemDataRole.EditRole or not title or title == row.title:
            return False
        self.rename_wanted.emit(row.guid, title)  # the new title arrives with the next `set_sessions`
        return True

    def _spoken(self, row: Row) -> str:
        if isinstance(row, PersonaRow):
            words = [row.name, row.tagline]
        else:
            words = [*describe_session(row), age_in_words(row.moment, self._clock()), messages_in_words(row.messages)]
        if row.is_open:
            words.append(QCoreApplication.translate("Sidebar", "open"))
        return ", ".join(word for word in words if word)


def with_guests(row: SessionRow) -> str:
    """Return “with Edmund and Wren”; empty if there are no other participants."""
    return QCoreApplication.translate("Sidebar", "with {names}").format(names=joined(row.guests)) if row.guests else ""


def describe_session(row: SessionRow) -> list[str]:
    """Return title, other participants and the note that the session has ended, as far as they apply."""
    ended = QCoreApplication.translate("Sidebar", "Ended after inactivity") if row.is_ended else ""
    return [words for words in (row.title, with_guests(row), ended) if words]
