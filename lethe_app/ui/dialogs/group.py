"""Dialog for the participants of a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import fill

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QMouseEvent, QPixmap, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from lethe_app.domain.persona import Persona
from lethe_app.ui.chat.memory_card_parts import breakable
from lethe_app.ui.core.palette import SPACE_1, SPACE_3
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.dialogs.scrolling_dialog import fitting_height, room_for

LONGEST, WHOLE = 110, 600
"""Maximum characters of a persona's description in the list, and in the tooltip."""
TOOLTIP_WIDTH = 72
"""Characters per line of a tooltip."""
MANY = 8
"""Number of personas from which the search field is shown."""
USUAL, HIGHEST = 508, 640
"""Minimum width and maximum height of the dialog, in pixels."""

Face = Callable[[Persona], QPixmap]


class Invitation(QuestionDialog):
    """List of personas with check boxes. The session's own persona is first and cannot be removed. Afterwards `names` are
    the others.
    """

    def __init__(
        self, parent: QWidget, guests: Sequence[str], people: Sequence[Persona], others: Sequence[Persona], face: Face
    ) -> None:
        """Set up the dialog. `guests` are the file names of the current participants; `people` lacks those whose files
        cannot be read.
        """
        super().__init__(parent, self.tr("Choose participants"), self.tr("Done"), spacing=SPACE_3)
        self.names = list(guests)
        self.is_alone = not guests and not others
        """True if there is no other persona; then the primary button creates one."""
        self._rows: list[GroupMemberRow] = []
        host = people[0]
        if self.is_alone:
            self.say(self.tr("There is no other persona yet that could join {name}.").format(name=host.name))
            self.primary.setText(self.tr("Create persona"))
            self.primary.setFocus()
            return
        self.say(
            self.tr(
                "Personas you add know everything said in this conversation. You can remove and add them again at any time."
            )
        )
        self.search = QLineEdit()
        self._add_search(len(guests) + len(others))
        self._add(GroupMemberRow(host.name, self.tr("This conversation belongs to {name}.").format(name=host.name), face(host)))
        known = {one.unique_name: one for one in [*people, *others]}
        for name in guests:
            self._add_choice(known[name], face) if name in known else self._add_missing(name, face)
        for one in others:
            self._add_choice(one, face)
        self.column.addStretch(1)
        (self.search if not self.search.isHidden() else self._boxes[0]).setFocus()

    @property
    def _boxes(self) -> list[QCheckBox]:
        return [row.box for row in self._rows if row.box is not None]

    def _add_search(self, count: int) -> None:
        self.search.setPlaceholderText(self.tr("Search personas"))
        self.search.setAccessibleName(self.tr("Search personas"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.search.setHidden(count < MANY)
        self.column.addWidget(self.search)

    def _add_choice(self, persona: Persona, face: Face) -> None:
        about = told_of(persona)
        row = GroupMemberRow(persona.name, about, face(persona), self.tr("{name} takes part").format(name=persona.name))
        self._let_choose(row, persona.unique_name)

    def _add_missing(self, name: str, face: Face) -> None:
        """Add a participant whose file is broken or missing: it does not reply until the file is back, and can be removed."""
        words = self.tr("The persona file cannot be read at the moment.")
        letter = face(Persona(unique_name=name, name=name))
        self._let_choose(GroupMemberRow(name, words, letter, self.tr("{name} takes part").format(name=name)), name)

    def _let_choose(self, row: GroupMemberRow, unique_name: str) -> None:
        assert row.box is not None
        row.box.setChecked(unique_name in self.names)
        row.box.toggled.connect(lambda on: self._tick(unique_name, on=on))
        self._add(row)

    def _add(self, row: GroupMemberRow) -> None:
        self._rows.append(row)
        self.column.addWidget(row)

    def _tick(self, unique_name: str, *, on: bool) -> None:
        """Append a new participant at the end, or remove one."""
        rest = [name for name in self.names if name != unique_name]
        self.names = [*rest, unique_name] if on else rest

    def _filter(self, words: str) -> None:
        for row in self._rows:
            row.setVisible(words.strip().casefold() in row.name.casefold())

    def showEvent(self, event: QShowEvent) -> None:
        room = room_for(self)
        self.setMaximumHeight(min(HIGHEST, room.height()))
        super().showEvent(event)
        width = min(max(self.width(), USUAL), room.width())
        self.resize(width, fitting_height(self, self._tall, width))


class GroupMemberRow(QWidget):
    """Row with avatar, name and description; a click anywhere on it toggles its check box."""

    def __init__(self, name: str, words: str, face: QPixmap, spoken: str = "") -> None:
        """Set up the row. `spoken` is the accessible name of the check box; without it there is none."""
        super().__init__()
        self.name = name
        self.box = QCheckBox() if spoken else None
        line = QHBoxLayout(self)
        line.setContentsMargins(0, SPACE_1, SPACE_3, SPACE_1)
        line.setSpacing(SPACE_3)
        if self.box is not None:
            self.box.setAccessibleName(spoken)
            self.box.setAccessibleDescription(words)
            line.addWidget(self.box, 0, Qt.AlignmentFlag.AlignVCenter)
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            line.addWidget(room_of_a_tick(), 0, Qt.AlignmentFlag.AlignVCenter)
        picture = QLabel()
        picture.setPixmap(face)
        line.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        beside = QVBoxLayout()
        beside.setSpacing(0)
        title, about = plain(name), plain(shortened(words, LONGEST))
        title.setProperty("field", True)
        about.setProperty("small", True)
        if len(words) > LONGEST:
            self.setToolTip(fill(words, TOOLTIP_WIDTH))
        beside.addWidget(title)
        if words:
            beside.addWidget(about)
        line.addLayout(beside, 1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        is_click = event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint())
        if self.box is not None and is_click:
            self.box.setFocus()
            self.box.toggle()


def room_of_a_tick() -> QWidget:
    """Create an invisible widget with the width of a check box."""
    unseen = QCheckBox()
    policy = unseen.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    unseen.setSizePolicy(policy)
    unseen.hide()
    return unseen


def plain(words: str) -> QLabel:
    """Create a word-wrapping plain text label."""
    label = QLabel(breakable(words))
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return label


def told_of(persona: Persona) -> str:
    """Return a one-line description of a persona."""
    words = persona.mini_bio.strip() or persona.bio.strip() or persona.tagline
    you = QCoreApplication.translate("Invitation", "you")
    return shortened(" ".join(words.replace("{{char}}", persona.name).replace("{{user}}", you).split()), WHOLE)


def shortened(words: str, most: int) -> str:
    """Cut a text to `most` characters, between words where possible."""
    if len(words) <= most:
        return words
    cut = words[: most - 1]
    return f"{(cut.rsplit(' ', 1)[0] if ' ' in cut[most // 2 :] else cut).rstrip(' ,;:')}…"
