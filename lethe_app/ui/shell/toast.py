"""Toast over the window, which fades when there was time to read it; `notifier` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractAnimation, QEvent, QPropertyAnimation, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGraphicsOpacityEffect,
    QLabel,
    QPushButton,
    QWidget,
)

from lethe_app.errors import DatabaseDamaged
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.icons import render_icon
from lethe_app.ui.core.palette import ICON, MOTION_MS, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.buttons import IconButton, build_button
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

if TYPE_CHECKING:
    from lethe_app.ui.shell.notification import Notification

DISPLAY_MS, BUTTON_DISPLAY_MS, LONG_DISPLAY_MS, UNLIMITED_MS = 6000, 10_000, 60_000, (1 << 31) - 1
"""Milliseconds for which a toast stays; longer with a button, which has to be read and reached, and longer yet for an error. An
error that means damage stays until it is closed.
"""


class Toast(QFrame):
    """Card with icon, text, and at most one button besides the close button."""

    dismissed = Signal(object)

    def __init__(self, parent: QWidget, theme: Theme, notice: Notification) -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self.setProperty("kind", "error" if notice.is_error else "info")
        self.notice, self._theme = notice, theme
        self.text, self.detail, self.is_error = notice.text, notice.detail, notice.is_error
        self.button: QPushButton | None = None
        self._is_dismissed = False
        self._labels: list[QLabel] = []
        self._fade_animation: QPropertyAnimation | None = None
        is_long, has_button = notice.is_error or notice.is_lasting, notice.action is not None
        display_ms = LONG_DISPLAY_MS if is_long else BUTTON_DISPLAY_MS if has_button else DISPLAY_MS
        if issubclass(notice.error_class, DatabaseDamaged):
            display_ms = UNLIMITED_MS
        self._dismiss_timer = QTimer(self, singleShot=True, interval=display_ms)
        self._dismiss_timer.timeout.connect(self._fade_out)
        kind = self.tr("Error") if notice.is_error else self.tr("Notification")
        self.setAccessibleName(f"{kind}: {notice.text} {notice.detail}".strip())
        self._build()
        self.apply_theme()

    def _build(self) -> None:
        self._icon_label = QLabel()
        self._icon_label.setFixedSize(ICON, ICON)
        self._text_column = build_column(self._create_label(self.notice.text), spacing=SPACE_2)
        if self.notice.detail:
            detail = self._create_label(self.notice.detail)
            detail.setProperty("quiet", True)
            self._text_column.addWidget(detail)
        if self.notice.action is not None:  # the toast closes when its button is clicked
            self.button = build_button(self.notice.button)
            self.button.clicked.connect(self.notice.action)
            self.button.clicked.connect(self.dismiss)
            self._text_column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        close_button = IconButton(
            self._theme, "close", self.tr("Close"), accessible_name=self.tr("Close notification"), size=16
        )
        close_button.clicked.connect(self.dismiss)
        build_row(
            (self._icon_label, 0, Qt.AlignmentFlag.AlignTop),
            (self._text_column, 1),
            (close_button, 0, Qt.AlignmentFlag.AlignTop),
            spacing=SPACE_3,
            margins=(SPACE_3, SPACE_3, SPACE_2, SPACE_3),
            parent=self,
        )

    def _create_label(self, text: str) -> QLabel:
        label = create_text_label(text)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._labels.append(label)
        return label

    def keep_briefly(self) -> None:
        """Show the toast for no more than `BUTTON_DISPLAY_MS` from now on, because its subject is not on display any more."""
        if self._dismiss_timer.interval() > BUTTON_DISPLAY_MS:
            self._dismiss_timer.setInterval(BUTTON_DISPLAY_MS)  # starts a running timer again

    def apply_theme(self) -> None:
        palette = self._theme.palette
        name, colour = ("warning", palette.danger) if self.notice.is_error else ("info", palette.water)
        self._icon_label.setPixmap(render_icon(name, colour, ICON, self.devicePixelRatioF()))

    def fit_to_width(self, width: int) -> None:
        """Set the width and the height that the text needs in it."""
        self.setFixedWidth(width)
        layout = self.layout()
        assert layout is not None
        height = max(layout.heightForWidth(width), layout.minimumSize().height())
        area = QRect(0, 0, width, height).marginsRemoved(self.contentsMargins())
        layout.setGeometry(area)
        missing_height = sum(max(0, label.heightForWidth(label.width()) - label.height()) for label in self._labels)
        # Qt makes wrapped labels in nested layouts some pixels too low. The height is set only once: each change of it makes
        # the window lay out its notifications again, without end if that changes it back and forth.
        self.setFixedHeight(height + missing_height)
        layout.setGeometry(area.adjusted(0, 0, 0, missing_height))

    def show_toast(self) -> None:
        """Show the toast, announce it to screen readers, and start its timer."""
        self.show()
        offer = self.tr("Button: {title}").format(title=self.notice.button) if self.button is not None else ""
        announce(self, f"{self.accessibleName()} {offer}".strip())
        self._dismiss_timer.start()

    @property
    def remaining_ms(self) -> int | None:
        """Return the milliseconds until the toast fades; None while the pointer is on it."""
        return self._dismiss_timer.remainingTime() if self._dismiss_timer.isActive() else None

    def dismiss(self) -> None:
        if self._is_dismissed:
            return
        self._is_dismissed = True
        self._dismiss_timer.stop()
        self.hide()
        self.dismissed.emit(self)
        self.deleteLater()

    def _fade_out(self) -> None:
        focus = QApplication.focusWidget()
        if focus is not None and (focus is self or self.isAncestorOf(focus)):
            self._dismiss_timer.start()  # its text is being read or copied, or its button is about to be pressed
            return
        if self._theme.reduced_motion:
            self.dismiss()
            return
        effect = QGraphicsOpacityEffect(self)
        self.setGraphicsEffect(effect)
        self._fade_animation = QPropertyAnimation(effect, b"opacity", self)
        self._fade_animation.setDuration(MOTION_MS)
        self._fade_animation.setStartValue(1.0)
        self._fade_animation.setEndValue(0.0)
        self._fade_animation.finished.connect(self.dismiss)
        self._fade_animation.start(QAbstractAnimation.DeletionPolicy.KeepWhenStopped)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Enter:
            self._dismiss_timer.stop()  # the user is reading it
        elif event.type() == QEvent.Type.Leave:
            self._dismiss_timer.start()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)
