"""Toast over the window: an error stays until it is closed, any other notification fades."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QAbstractAnimation, QEvent, QPropertyAnimation, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsOpacityEffect,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lethe_app.ui.core.icons import icon, picture
from lethe_app.ui.core.palette import ICON, MOTION_MS, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme

STAYS_MS, OFFER_STAYS_MS = 6000, 10_000
"""Milliseconds for which a toast stays; longer with a button, which has to be read and reached."""


class Toast(QFrame):
    """Card with icon, text, and at most one button besides the close button."""

    dismissed = Signal(object)

    def __init__(self, parent: QWidget, theme: Theme, text: str, detail: str = "", *, is_error: bool = False) -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self.setProperty("kind", "error" if is_error else "info")
        self.text, self.detail, self.is_error = text, detail, is_error
        self._theme = theme
        self._gone = False
        self._labels: list[QLabel] = []
        self._fade: QPropertyAnimation | None = None
        self._clock = QTimer(self, singleShot=True, interval=STAYS_MS)
        self._clock.timeout.connect(self._fade_out)
        self.setAccessibleName(f"{self.tr('Error') if is_error else self.tr('Notification')}: {text} {detail}".strip())
        self._build()
        self.dress()

    def _build(self) -> None:
        self._sign = QLabel()
        self._sign.setFixedSize(ICON, ICON)
        self._words = QVBoxLayout()
        self._words.setSpacing(SPACE_2)
        self._words.addWidget(self._label(self.text))
        if self.detail:
            detail = self._label(self.detail)
            detail.setProperty("quiet", True)
            self._words.addWidget(detail)
        self._close = QToolButton()
        self._close.setAccessibleName(self.tr("Close notification"))
        self._close.setToolTip(self.tr("Close"))
        self._close.clicked.connect(self.dismiss)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_3, SPACE_3, SPACE_2, SPACE_3)
        row.setSpacing(SPACE_3)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(self._words, 1)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)

    def _label(self, text: str) -> QLabel:
        label = QLabel(text)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._labels.append(label)
        return label

    def add_button(self, title: str, action: Callable[[], None]) -> None:
        """Add a button; the toast closes when it is clicked."""
        button = QPushButton(title)
        button.setProperty("filled", True)
        button.clicked.connect(action)
        button.clicked.connect(self.dismiss)
        self._words.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._clock.setInterval(OFFER_STAYS_MS)

    def dress(self) -> None:
        palette = self._theme.palette
        colour = palette.danger if self.is_error else palette.water
        self._sign.setPixmap(picture("warning" if self.is_error else "info", colour, ICON, self.devicePixelRatioF()))
        self._close.setIcon(icon("close", palette.muted))

    def fit(self, width: int) -> None:
        """Set the width and the height that the text needs in it."""
        self.setFixedWidth(width)
        layout = self.layout()
        assert layout is not None
        self.setFixedHeight(max(layout.heightForWidth(width), layout.minimumSize().height()))
        layout.activate()
        short = sum(max(0, label.heightForWidth(label.width()) - label.height()) for label in self._labels)
        self.setFixedHeight(self.height() + short)  # Qt gives columns in a row some pixels less than their words take

    def appear(self) -> None:
        """Show the toast and announce it to screen readers; start its timer unless it is an error."""
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))
        if not self.is_error:
            self._clock.start()

    def dismiss(self) -> None:
        if self._gone:
            return
        self._gone = True
        self._clock.stop()
        self.hide()
        self.dismissed.emit(self)
        self.deleteLater()

    def _fade_out(self) -> None:
        if self._theme.reduced_motion:
            self.dismiss()
            return
        effect = QGraphicsOpacityEffect(self)
        self.setGraphicsEffect(effect)
        self._fade = QPropertyAnimation(effect, b"opacity", self)
        self._fade.setDuration(MOTION_MS)
        self._fade.setStartValue(1.0)
        self._fade.setEndValue(0.0)
        self._fade.finished.connect(self.dismiss)
        self._fade.start(QAbstractAnimation.DeletionPolicy.KeepWhenStopped)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Enter:
            self._clock.stop()  # it is being read
        elif event.type() == QEvent.Type.Leave and not self.is_error:
            self._clock.start()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)
