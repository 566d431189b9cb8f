"""Dialog for the participants of a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import fill

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QMouseEvent, QPixmap, QShowEvent
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QSizePolicy, QWidget

from lethe_app.domain.persona import Persona
from lethe_app.searchable_text import fold
from lethe_app.ui.core.formatting import insert_break_points, shorten_text
from lethe_app.ui.core.palette import SPACE_1, SPACE_3
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

MAX_DESCRIPTION_LENGTH, MAX_TOOLTIP_LENGTH = 110, 600
"""Maximum characters of a persona's description in the list, and in the tooltip."""
TOOLTIP_WIDTH = 72
"""Characters per line of a tooltip."""
SEARCH_THRESHOLD = 8
"""Number of personas from which the search field is shown."""

AvatarRenderer = Callable[[Persona], QPixmap]


class GroupDialog(QuestionDialog):
    """List of personas with check boxes. The session's own persona is first and cannot be removed. Afterwards `selected_names`
    are the others.
    """

    width_in_characters, max_height = 66, 640
    _is_fitted = False

    def __init__(
        self,
        parent: QWidget,
        guests: Sequence[str],
        participants: Sequence[Persona],
        other_personas: Sequence[Persona],
        render_avatar: AvatarRenderer,
    ) -> None:
        """Set up the dialog. `guests` are the file names of the current participants; `participants` lacks those whose files
        cannot be read.
        """
        super().__init__(parent, self.tr("Group chat"), self.tr("Done"), spacing=SPACE_3)
        self.selected_names = list(guests)
        self.is_alone = not guests and not other_personas
        """True if there is no other persona; then the primary button creates one."""
        self._rows: list[GroupMemberRow] = []
        host = participants[0]
        if self.is_alone:
            self.add_paragraph(self.tr("There is no other persona yet that could join {name}.").format(name=host.name))
            self.primary.setText(self.tr("Create persona"))
            self.primary.setFocus()
            return
        self.add_paragraph(
            self.tr(
                "Personas you add see this conversation and what {name} remembers of earlier ones. You can remove and add them "
                "again at any time."
            ).format(name=host.name)
        )
        self.search_field = QLineEdit()
        self._add_search(len(guests) + len(other_personas))
        belongs = self.tr("This conversation belongs to {name}.").format(name=host.name)
        self._add_row(GroupMemberRow(host.name, belongs, render_avatar(host)))
        personas_by_name = {one.unique_name: one for one in [*participants, *other_personas]}
        for name in [*guests, *(one.unique_name for one in other_personas)]:
            self._add_choice(name, personas_by_name.get(name), render_avatar)
        self.column.addStretch(1)
        (self.search_field if not self.search_field.isHidden() else self._boxes[0]).setFocus()

    @property
    def _boxes(self) -> list[QCheckBox]:
        return [row.box for row in self._rows if row.box is not None]

    def _add_search(self, count: int) -> None:
        self.search_field.setPlaceholderText(self.tr("Search personas"))
        self.search_field.setAccessibleName(self.tr("Search personas"))
        self.search_field.setClearButtonEnabled(True)
        self.search_field.textChanged.connect(self._filter_rows)
        self.search_field.setHidden(count < SEARCH_THRESHOLD)
        self.column.addWidget(self.search_field)

    def _add_choice(self, unique_name: str, persona: Persona | None, render_avatar: AvatarRenderer) -> None:
        """Add a row for a persona; None if its file is broken or missing: it does not reply until the file is back, and can be
        removed.
        """
        unreadable = self.tr("The persona file cannot be read at the moment.")
        description = describe_persona(persona) if persona is not None else unreadable
        shown = persona or Persona(unique_name=unique_name, name=unique_name)
        accessible_name = self.tr("{name} takes part").format(name=shown.name)
        row = GroupMemberRow(shown.name, description, render_avatar(shown), accessible_name)
        assert row.box is not None
        row.box.setChecked(unique_name in self.selected_names)
        row.box.toggled.connect(lambda on: self._on_toggled(unique_name, is_checked=on))
        self._add_row(row)

    def _add_row(self, row: GroupMemberRow) -> None:
        self._rows.append(row)
        self.column.addWidget(row)

    def _on_toggled(self, unique_name: str, *, is_checked: bool) -> None:
        """Append a new participant at the end, or remove one."""
        rest = [name for name in self.selected_names if name != unique_name]
        self.selected_names = [*rest, unique_name] if is_checked else rest

    def fit_to_content(self) -> None:
        """Fit the size when the dialog is shown, but not to what a search finds, nor after the user chose another."""
        if not self._is_fitted:
            super().fit_to_content()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._is_fitted = True

    def _filter_rows(self, search_text: str) -> None:
        for row in self._rows:
            row.setVisible(fold(search_text.strip()) in fold(row.name))


class GroupMemberRow(QWidget):
    """Row with avatar, name and description; a click anywhere on it toggles its check box."""

    def __init__(self, name: str, description: str, avatar: QPixmap, accessible_name: str = "") -> None:
        """Set up the row. `accessible_name` is the accessible name of the check box; without it there is none."""
        super().__init__()
        self.name = name
        self.box = QCheckBox() if accessible_name else None
        if self.box is not None:
            self.box.setAccessibleName(accessible_name)
            self.box.setAccessibleDescription(description)
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        avatar_label = QLabel()
        avatar_label.setPixmap(avatar)
        if len(description) > MAX_DESCRIPTION_LENGTH:
            self.setToolTip(fill(description, TOOLTIP_WIDTH))
        labels = [create_row_label(name, "field")]
        labels += [create_row_label(shorten_text(description, MAX_DESCRIPTION_LENGTH), "small")] if description else []
        box = (self.box or create_box_spacer(), 0, Qt.AlignmentFlag.AlignVCenter)
        items = (box, (avatar_label, 0, Qt.AlignmentFlag.AlignTop), (build_column(*labels), 1))
        build_row(*items, spacing=SPACE_3, margins=(0, SPACE_1, SPACE_3, SPACE_1), parent=self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        is_click = event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint())
        if self.box is not None and is_click:
            self.box.setFocus()
            self.box.toggle()


def create_box_spacer() -> QWidget:
    """Create an invisible widget with the width of a check box."""
    spacer = QCheckBox()
    policy = spacer.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    spacer.setSizePolicy(policy)
    spacer.hide()
    return spacer


def create_row_label(text: str, style_property: str) -> QLabel:
    """Create a wrapped label that takes the width of its row."""
    label = create_text_label(insert_break_points(text), style_property)
    label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return label


def describe_persona(persona: Persona) -> str:
    """Return a one-line description of a persona."""
    description = persona.mini_bio.strip() or persona.bio.strip() or persona.tagline
    you = QCoreApplication.translate("GroupDialog", "you")
    return shorten_text(description.replace("{{char}}", persona.name).replace("{{user}}", you), MAX_TOOLTIP_LENGTH)
