"""Buttons over the transcript: the actions of a message, which its context menu has as well, and one to the newest message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QPushButton, QToolButton, QWidget

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.domain.chat import Role
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import DAY, RADIUS_CONTROL, SPACE_1, SPACE_2, SPACE_3, SPACE_4, Palette
from lethe_app.ui.core.theme import set_style_properties
from lethe_app.ui.transcript.model.annotations import RATING_ICONS
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.widgets.layouts import build_row

ICON_SIZE = 16
BUTTON_SIZE = 26
BUTTON_NAMES = ("previous", "count", "next", "good", "bad", "read", "copy", "edit", "regenerate", "continue", "delete")
"""Actions with a button, and the label with the number of the alternative. The others are in the menu only; memories have
their chip.
"""
RunAction = Callable[[str], None]
"""Run the action of this name on the message that the buttons or the menu belong to."""
MAX_MENU_LINKS = 8
"""Maximum number of links of a message in its menu."""
MAX_LINK_LENGTH = 60
"""Maximum length of an address in the menu; a longer one is cut."""


@dataclass(frozen=True)
class MessageAction:
    """Action on a message."""

    name: str
    title: str
    icon_name: str


MESSAGE_ACTIONS = (
    MessageAction("previous", "Previous swipe", "chevron-left"),
    MessageAction("next", "Next swipe", "chevron-right"),
    MessageAction("good", "Good reply", "thumb-up"),
    MessageAction("bad", "Bad reply", "thumb-down"),
    MessageAction("read", "Read aloud", "speaker"),
    MessageAction("copy", "Copy", "copy"),
    MessageAction("edit", "Edit", "edit"),
    MessageAction("regenerate", "Regenerate", "refresh"),
    MessageAction("continue", "Continue", "forward"),
    MessageAction("memories", "Memories used", "memory"),
    MessageAction("prompt", "Prompt inspector", "eye"),
    MessageAction("details", "Message details", "info"),
    MessageAction("delete", "Delete message", "trash"),
)
"""All actions, in the order of the menu."""


def available_actions(model: ChatModel, row: int) -> set[str]:
    """Return the names of the actions that are available for a row now."""
    message = model.message(row)
    if message is None:
        return set()
    memory_actions = {"memories"} if model.annotations_of(row).recalled.total else set()
    if model.growing_row is not None:
        return {"copy"} | memory_actions  # while a reply is being written, nothing may change under it
    names = {"copy", "edit", "delete", "details"} | memory_actions
    if message.role in {Role.SYSTEM, Role.TOOL}:
        return names
    if message.content.strip():
        names.add("read")
    if model.is_last_reply(row):
        names |= {"regenerate", "continue"}
    if message.role is Role.ASSISTANT:
        names |= {"prompt", "good", "bad"}
    if message.shown > 0:
        names.add("previous")
    if message.shown < len(message.alternatives) - 1:
        names.add("next")
    return names


def translate_title(action: MessageAction) -> str:
    """Return the translated title of an action."""
    return QCoreApplication.translate("MessageAction", action.title)


def fill_menu(menu: QMenu, style: MessageStyle, available: set[str], run_action: RunAction) -> None:
    """Add the available actions to a menu."""
    for message_action in MESSAGE_ACTIONS:
        if message_action.name in available:
            if message_action.name == "delete":
                menu.addSeparator()
            action = menu.addAction(load_icon(message_action.icon_name, style.palette.muted), translate_title(message_action))
            action.triggered.connect(lambda _checked=False, name=message_action.name: run_action(name))


def add_link_entries(menu: QMenu, links: Sequence[str], open_link: Callable[[str], None]) -> None:
    """Add the links of a message to a menu, so that the keyboard reaches them."""
    if links:
        menu.addSeparator()
    template = QCoreApplication.translate("MessageAction", "Open {address}")
    for address in links[:MAX_MENU_LINKS]:
        shown = address if len(address) <= MAX_LINK_LENGTH else f"{address[: MAX_LINK_LENGTH - 3]}…"
        # In the text of a menu entry a single & would underline the next letter.
        action = menu.addAction(template.format(address=shown.replace("&", "&&")))
        action.triggered.connect(lambda _checked=False, link=address: open_link(link))


class MessageActions(QFrame):
    """Row of action buttons. There is one for the transcript; it is moved to the hovered or focused message."""

    def __init__(self, viewport: QWidget, run_action: RunAction) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self.setObjectName("messageActions")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._buttons = {
            action.name: self._create_button(action, run_action) for action in MESSAGE_ACTIONS if action.name in BUTTON_NAMES
        }
        for rating in ReplyRating:
            self._buttons[rating.value].setCheckable(True)
        self._palette: Palette = DAY
        self._count_label = QLabel(self)
        widgets: dict[str, QWidget] = {**self._buttons, "count": self._count_label}
        build_row(*(widgets[name] for name in BUTTON_NAMES), margins=1, parent=self)
        self.hide()

    def _create_button(self, action: MessageAction, run_action: RunAction) -> QToolButton:
        button = QToolButton(self)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setFixedSize(BUTTON_SIZE, BUTTON_SIZE)
        button.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
        button.setToolTip(translate_title(action))
        button.setAccessibleName(translate_title(action))
        button.clicked.connect(lambda: run_action(action.name))
        return button

    def apply_style(self, style: MessageStyle) -> None:
        """Apply palette and fonts of `style`."""
        palette = self._palette = style.palette
        icon_names = {action.name: action.icon_name for action in MESSAGE_ACTIONS}
        for name, button in self._buttons.items():
            button.setIcon(load_icon(icon_names[name], palette.muted))
        self._count_label.setFont(style.small_font)
        self.setStyleSheet(
            f"#messageActions {{ background: {palette.background}; border: 1px solid transparent;"
            f" border-radius: {RADIUS_CONTROL}px; }}"
            f"#messageActions[floating=true] {{ background: {palette.raised}; border-color: {palette.border}; }}"
            f"QToolButton {{ border: none; background: transparent; border-radius: {RADIUS_CONTROL - 1}px; padding: 0; }}"
            f"QToolButton:hover {{ background: {palette.raised}; }} QToolButton:pressed {{ background: {palette.border}; }}"
            f"QLabel {{ color: {palette.muted}; background: transparent; }}"
        )

    def show_actions(
        self, available: set[str], alternative_number: int, alternative_count: int, current_rating: ReplyRating | None = None
    ) -> None:
        """Show the buttons of the available actions and, if there are several alternatives, the number of the one on
        display.
        """
        for rating in ReplyRating:
            self._buttons[rating.value].setChecked(rating is current_rating)
            colour = self._palette.water if rating is current_rating else self._palette.muted
            self._buttons[rating.value].setIcon(load_icon(RATING_ICONS[rating], colour))
        for name, button in self._buttons.items():
            is_choice = name in {"previous", "next"}
            button.setVisible(alternative_count > 1 if is_choice else name in available)
            button.setEnabled(name in available)
        self._count_label.setVisible(alternative_count > 1)
        self._count_label.setText(f"{alternative_number}/{alternative_count}")
        self.adjustSize()

    def place(self, left: int, right: int, indent: int, top: int) -> None:
        """Move the row to `top` in the column from `left` to `right`, behind a chip of the width `indent`. If that is below the
        viewport, the row floats at its lower right.
        """
        lowest = self._viewport.height() - self.height() - SPACE_2
        # While the row lies over text, it is drawn with a border.
        set_style_properties(self, floating=top > lowest)
        max_left = right - self.width()
        if top > lowest:
            self.move(max_left, lowest)
        else:
            self.move(max(left, min(left + indent, max_left)), top)  # in a narrow window over the chip, not beyond the edge


class NewestButton(QPushButton):
    """Button that is shown while new text is out of view. Its parent is the viewport."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self.setText(self.tr("↓ new"))
        self.setObjectName("newestButton")
        self.setAccessibleName(self.tr("Go to the newest message"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    def apply_style(self, style: MessageStyle) -> None:
        """Apply palette and fonts of `style`."""
        palette = style.palette
        self.setFont(style.small_font)
        self.setStyleSheet(
            f"#newestButton {{ background: {palette.raised}; color: {palette.water}; border: 1px solid {palette.border};"
            f" border-radius: 14px; padding: 0 {SPACE_4}px; min-height: 26px; max-height: 26px; }}"
            f"#newestButton:hover {{ border-color: {palette.water}; }}"
        )

    def place(self, obstacle: QWidget) -> None:
        """Move the button to the middle of the lower edge, or above `obstacle` if that is visible and in the way."""
        self.adjustSize()
        self.move((self._viewport.width() - self.width()) // 2, self._viewport.height() - self.height() - SPACE_3)
        if obstacle.isVisible() and obstacle.geometry().intersects(self.geometry()):
            self.move(self.x(), obstacle.y() - self.height() - SPACE_1)
        self.raise_()
