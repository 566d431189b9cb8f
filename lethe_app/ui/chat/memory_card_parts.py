"""Widgets of the memory panel: an elided link, a collapsible heading, an icon button, and the line with the mood."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy

from lethe_app.ui.core.accessibility import set_button_tooltip
from lethe_app.ui.core.formatting import insert_break_points
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_4, Palette
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.buttons import ElidedButton, IconButton
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_row


class LinkButton(ElidedButton):
    """Button that looks like a link; its text is elided in the middle to one line."""

    def __init__(self, label: str, tooltip: str, on_click: Callable[[], object]) -> None:
        """Create a link that calls `on_click`; `tooltip` is also its accessible name and says where the link leads."""
        super().__init__(padding=SPACE_1, min_width=40, elide_mode=Qt.TextElideMode.ElideMiddle)
        self.setProperty("link", True)
        self.setAccessibleName(tooltip)
        self.setToolTip(tooltip)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.clicked.connect(lambda _checked=False: on_click())
        self.set_full_text(label)

    def set_label(self, label: str) -> None:
        """Set another text, which is also the accessible name; the tooltip is removed."""
        self.setAccessibleName(label)
        self.setToolTip("")
        self.set_full_text(label)


class CollapsibleHeading(QPushButton):
    """Checkable heading with an arrow; connect `toggled` to show or hide the content."""

    def __init__(self, theme: Theme, title: str, *, is_open: bool = False) -> None:
        super().__init__(title)
        self._theme = theme
        self.setProperty("fold", True)
        self.setCheckable(True)
        self.setChecked(is_open)
        self.setIconSize(BUTTON_ICON_SIZE)
        self.toggled.connect(self._apply_theme)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        arrow = "chevron-down" if self.isChecked() else "chevron-right"
        self.setIcon(load_button_icon(arrow, self._theme.palette.muted))


class CardButton(IconButton):
    """Icon button that calls `callback`; amber if it is checked, which means pinned on cards."""

    def __init__(self, theme: Theme, icon_name: str, tooltip: str, callback: Callable[[], object]) -> None:
        super().__init__(theme, icon_name, tooltip, colour=self._choose_colour, size=ICON - 2)
        self.clicked.connect(lambda _checked=False: callback())
        self.toggled.connect(self._apply_theme)

    def _choose_colour(self, palette: Palette) -> str:
        return palette.amber if self.isChecked() else palette.muted


class MoodLine(QFrame):
    """Line with the mood of a persona in the words of the prompt, and a button to the page where it is edited; hidden without a
    text.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("header")
        self.setAccessibleName(self.tr("Mood"))
        self.mood_label = create_selectable_label("", "small")
        self.page_button = QPushButton(self.tr("Mind"))
        self.page_button.setProperty("small", True)
        self.page_button.hide()
        build_row(
            (self.mood_label, 1),
            (self.page_button, 0, Qt.AlignmentFlag.AlignVCenter),
            spacing=SPACE_2,
            margins=(SPACE_4, SPACE_2, SPACE_2, SPACE_2),
            parent=self,
        )
        self.hide()

    def set_page_action(self, page_action: QAction) -> None:
        """Connect the button to the action of a page and show it; without this call the button stays hidden."""
        connect_with_action(self.page_button, page_action)
        self.page_button.show()

    def show_mood(self, text: str) -> None:
        """Show the mood; an empty text hides the line."""
        self.mood_label.setText(text)
        self.setVisible(bool(text))


def connect_with_action(button: QPushButton, action: QAction) -> None:
    """Let a button trigger an action, whose title and shortcut its tooltip shows."""
    button.clicked.connect(lambda _checked=False: action.trigger())
    set_button_tooltip(button, f"{action.text()}  {action.shortcut().toString()}".rstrip())


def create_selectable_label(text: str, *style_properties: str) -> QLabel:
    """Create a label that wraps and whose text can be selected; `style_properties` are properties for the style sheet."""
    label = create_text_label(insert_break_points(text), *style_properties)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    label.setMinimumWidth(1)
    return label
