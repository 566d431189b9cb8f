"""Widgets of the memory panel: an elided link, a collapsible heading and an icon button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from lethe_app.ui.core.accessibility import set_button_tooltip
from lethe_app.ui.core.formatting import insert_break_points
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon, load_icon
from lethe_app.ui.core.palette import ICON, SPACE_1
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.labels import create_text_label


class LinkButton(QPushButton):
    """Button that looks like a link; its text is elided in the middle to one line."""

    def __init__(self, label: str, tooltip: str, on_click: Callable[[], object], parent: QWidget | None = None) -> None:
        """Create a link that calls `on_click`; `tooltip` is also its accessible name and says where the link leads."""
        super().__init__(parent)
        self._label = label
        self.setProperty("link", True)
        self.setAccessibleName(tooltip)
        self.setToolTip(tooltip)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.clicked.connect(lambda _checked=False: on_click())
        self._elide_label()

    def set_label(self, label: str) -> None:
        """Set another text, which is also the accessible name; the tooltip is removed."""
        self._label = label
        self.setAccessibleName(label)
        self.setToolTip("")
        self._elide_label()

    def _elide_label(self) -> None:
        available_width = self.width() - SPACE_1
        self.setText(self.fontMetrics().elidedText(self._label, Qt.TextElideMode.ElideMiddle, available_width))

    def minimumSizeHint(self) -> QSize:
        return QSize(40, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide_label()


class CollapsibleHeading(QPushButton):
    """Checkable heading with an arrow; connect `toggled` to show or hide the content."""

    def __init__(self, theme: Theme, title: str, *, is_open: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
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


class CardButton(QToolButton):
    """Icon button; `tooltip` is also its accessible name."""

    def __init__(
        self, theme: Theme, icon_name: str, tooltip: str, callback: Callable[[], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._icon_name = theme, icon_name
        self.setIconSize(QSize(ICON - 2, ICON - 2))
        set_button_tooltip(self, tooltip)
        self.clicked.connect(lambda _checked=False: callback())
        theme.changed.connect(self.apply_theme)
        self.apply_theme()

    def apply_theme(self) -> None:
        """Apply the icon of the current theme: amber if the button is checked, which means pinned on cards."""
        palette = self._theme.palette
        self.setIcon(load_icon(self._icon_name, palette.amber if self.isChecked() else palette.muted))


def create_selectable_label(text: str, *style_properties: str) -> QLabel:
    """Create a label that wraps and whose text can be selected; `style_properties` are properties for the style sheet."""
    label = create_text_label(insert_break_points(text), *style_properties)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    label.setMinimumWidth(1)
    return label
