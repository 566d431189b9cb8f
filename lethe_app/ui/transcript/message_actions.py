"""Actions of a message, as a row of buttons below it and as a context menu."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.domain.chat import Role
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import DAY, RADIUS_CONTROL, Palette
from lethe_app.ui.transcript.model.feedback import PICTURES
from lethe_app.ui.transcript.model.model import ChatModel
from lethe_app.ui.transcript.painting.style import MessageStyle

ICON_SIZE = 16
BUTTON = 26
BUTTONS = ("previous", "count", "next", "good", "bad", "copy", "edit", "regenerate", "continue", "delete")
"""Actions with a button, and the label with the number of the alternative. The others are in the menu only; memories have
their chip.
"""
Do = Callable[[str], None]


@dataclass(frozen=True)
class MessageAction:
    """Action on a message."""

    name: str
    title: str
    picture: str


DEEDS = (
    MessageAction("previous", "Previous swipe", "chevron-left"),
    MessageAction("next", "Next swipe", "chevron-right"),
    MessageAction("good", "Good reply", "thumb-up"),
    MessageAction("bad", "Bad reply", "thumb-down"),
    MessageAction("copy", "Copy", "copy"),
    MessageAction("edit", "Edit", "edit"),
    MessageAction("regenerate", "Regenerate", "refresh"),
    MessageAction("continue", "Continue", "forward"),
    MessageAction("memories", "Memories used", "memory"),
    MessageAction("prompt", "Prompt inspector", "eye"),
    MessageAction("delete", "Delete message", "trash"),
)
"""All actions, in the order of the menu."""


def deeds_for(model: ChatModel, row: int) -> set[str]:
    """Return the names of the actions that are available for a row now."""
    message = model.message(row)
    if message is None:
        return set()
    recalled = {"memories"} if model.marks.count_of(row) else set()
    if model.growing_row is not None:
        return {"copy"} | recalled  # while a reply is being written, nothing may change under it
    deeds = {"copy", "edit", "delete"} | recalled
    if message.role in {Role.SYSTEM, Role.TOOL}:
        return deeds
    if model.is_last_reply(row):
        deeds |= {"regenerate", "continue"}
    if message.role is Role.ASSISTANT:
        deeds |= {"prompt", "good", "bad"}
    if message.shown > 0:
        deeds.add("previous")
    if message.shown < len(message.alternatives) - 1:
        deeds.add("next")
    return deeds


def title(deed: MessageAction) -> str:
    """Return the translated title of an action."""
    return QCoreApplication.translate("Deed", deed.title)


def fill_menu(menu: QMenu, style: MessageStyle, available: set[str], do: Do) -> None:
    """Add the available actions to a menu."""
    for deed in DEEDS:
        if deed.name in available:
            if deed.name == "delete":
                menu.addSeparator()
            action = menu.addAction(icon(deed.picture, style.palette.muted), title(deed))
            action.triggered.connect(lambda _checked=False, name=deed.name: do(name))


class MessageActions(QFrame):
    """Row of action buttons. There is one for the transcript; it is moved to the hovered or focused message."""

    def __init__(self, parent: QWidget, do: Do) -> None:
        super().__init__(parent)
        self.setObjectName("messageActions")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        row = QHBoxLayout(self)
        row.setContentsMargins(1, 1, 1, 1)
        row.setSpacing(0)
        self._buttons = {deed.name: self._button(deed, do) for deed in DEEDS if deed.name in BUTTONS}
        for thumb in ReplyRating:
            self._buttons[thumb.value].setCheckable(True)
        self._palette: Palette = DAY
        self._count = QLabel(self)
        for name in BUTTONS:
            row.addWidget(self._count if name == "count" else self._buttons[name])
        self.hide()

    def _button(self, deed: MessageAction, do: Do) -> QToolButton:
        button = QToolButton(self)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setFixedSize(BUTTON, BUTTON)
        button.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
        button.setToolTip(title(deed))
        button.setAccessibleName(title(deed))
        button.clicked.connect(lambda: do(deed.name))
        return button

    def restyle(self, style: MessageStyle) -> None:
        """Apply palette and fonts of `style`."""
        palette = self._palette = style.palette
        pictures = {deed.name: deed.picture for deed in DEEDS}
        for name, button in self._buttons.items():
            button.setIcon(icon(pictures[name], palette.muted))
        self._count.setFont(style.small_font)
        self.setStyleSheet(
            f"#messageActions {{ background: {palette.background}; border: 1px solid transparent;"
            f" border-radius: {RADIUS_CONTROL}px; }}"
            f"#messageActions[floating=true] {{ background: {palette.raised}; border-color: {palette.border}; }}"
            f"QToolButton {{ border: none; background: transparent; border-radius: {RADIUS_CONTROL - 1}px; padding: 0; }}"
            f"QToolButton:hover {{ background: {palette.raised}; }} QToolButton:pressed {{ background: {palette.border}; }}"
            f"QLabel {{ color: {palette.muted}; background: transparent; }}"
        )

    def offer(self, available: set[str], shown: int, count: int, verdict: ReplyRating | None = None) -> None:
        """Show the buttons of the available actions and, if there are several alternatives, the number of the one on
        display.
        """
        for thumb in ReplyRating:
            self._buttons[thumb.value].setChecked(thumb is verdict)
            colour = self._palette.water if thumb is verdict else self._palette.muted
            self._buttons[thumb.value].setIcon(icon(PICTURES[thumb], colour))
        for name, button in self._buttons.items():
            is_choice = name in {"previous", "next"}
            button.setVisible(count > 1 if is_choice else name in available)
            button.setEnabled(name in available)
        self._count.setVisible(count > 1)
        self._count.setText(f"{shown}/{count}")
        self.adjustSize()

    def float_above(self, floating: bool) -> None:
        """Set whether the row lies over text, and so is drawn with a border."""
        if self.property("floating") != floating:
            self.setProperty("floating", floating)
            # Qt evaluates style sheet selectors on a dynamic property again only after unpolish and polish.
            self.style().unpolish(self)
            self.style().polish(self)
