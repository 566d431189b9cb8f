"""Status line of the model; a click opens the model chooser."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QLocale, QSize, Qt, QTimer
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from lethe_app.ui.core.formatting import recalled_in_words, rounded

RESULT_STAYS_MS = 10_000
"""Milliseconds for which the figures of the last reply are shown."""


class StatusLine(QPushButton):
    """Line at the right of the header. The current activity replaces the description of the model while it lasts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._resting = self.tr("Opening…")
        self._passing = self._background = self._outgoing = self._meaning = ""
        self._thinking = QElapsedTimer()
        self._second = QTimer(self, interval=1000)
        self._second.timeout.connect(self._tell_thinking)
        self._end = QTimer(self, singleShot=True, interval=RESULT_STAYS_MS)
        self._end.timeout.connect(lambda: self._pass(""))
        self._tell()

    @property
    def words(self) -> str:
        """Return the whole text, even if it is elided on display."""
        return self._outgoing or self._passing or " · ".join(part for part in (self._resting, self._background) if part)

    # Model

    def show_none(self) -> None:
        self._rest(self.tr("No model: choose one"))

    def show_waiting(self) -> None:
        self._rest(self.tr("No model loaded: your first message loads one"))

    def show_loading(self, name: str, fraction: float) -> None:
        self._pass("")  # nothing else can be going on
        self._rest(self.tr("Loading {name}… {percent} %").format(name=name, percent=round(fraction * 100)))

    def show_ready(self, name: str, used: int, context: int) -> None:
        room = rounded(context)
        words = f"{rounded(used)} / {room}" if used else self.tr("{room} context").format(room=room)
        self._rest(f"● {name} · {words}", self._in_plain_words(name, used, context))

    def _in_plain_words(self, name: str, used: int, context: int) -> str:
        locale = QLocale()
        if used:
            words = self.tr("This conversation uses {used} of the {room} tokens in the context of {name}.")
        else:
            words = self.tr("{name} has a context of {room} tokens.")
        told = words.format(name=name, used=locale.toString(used), room=locale.toString(context))
        return f"{told}\n{self.tr('A token is a short word or part of a longer one.')}"

    def show_background(self, words: str) -> None:
        """Show what runs in the background; an empty text removes it."""
        self._background = words
        self._tell()

    def show_failed(self, name: str) -> None:
        self._rest(self.tr("{name} is not running: reload or choose another").format(name=name or self.tr("The model")))

    # Internet

    def show_internet(self, sign: QIcon | None) -> None:
        """Show an icon while internet search is allowed; None removes it."""
        self.setIcon(sign or QIcon())
        self._tell()

    def show_outgoing(self, words: str) -> None:
        """Show what is sent to the internet now, in place of everything else; an empty text removes it."""
        self._outgoing = words
        self._tell()

    # Current activity

    def show_busy(self, words: str) -> None:
        """Show an activity that has no method of its own."""
        self._pass(words)

    def show_thinking(self) -> None:
        """Show that the model is thinking, with the seconds since the first call, until something else is shown."""
        if not self._second.isActive():
            self._thinking.start()
            self._second.start()
        self._tell_thinking()

    def show_result(self, speed: float, reused: int, prompt: int, memories: int = 0) -> None:
        """Show speed, reused tokens and recalled memories of the last reply for `RESULT_STAYS_MS`."""
        locale = QLocale()
        words = self.tr("{speed} tokens/s · reused {reused} of {prompt} tokens")
        told = words.format(speed=round(speed), reused=locale.toString(reused), prompt=locale.toString(prompt))
        self._pass(f"{told} · {recalled_in_words(memories)}" if memories else told)
        self._end.start()

    def show_rest(self) -> None:
        """Show that nothing is going on."""
        self._pass("")

    def _tell_thinking(self) -> None:
        self._passing = self.tr("Thinking… {seconds} s").format(seconds=self._thinking.elapsed() // 1000)
        self._tell()

    def _rest(self, words: str, meaning: str = "") -> None:
        self._resting, self._meaning = words, meaning
        self._tell()

    def _pass(self, words: str) -> None:
        self._second.stop()
        self._end.stop()
        self._passing = words
        self._tell()

    def _tell(self) -> None:
        said = self.tr("Internet: {words}") if self._outgoing else self.tr("Model: {words}")
        parts = [said.format(words=self.words)]
        lines = [self.words] if not self._outgoing and not self._passing else [self._outgoing, self._passing, self._resting]
        if not self.icon().isNull():
            parts.append(self.tr("Internet search is allowed."))
            lines.append(parts[-1])
        lines += [self._meaning, self.tr("Click to choose another model.") if self._meaning else ""]
        self.setAccessibleName(". ".join(parts))
        self.setAccessibleDescription(self._meaning.replace("\n", " "))
        self.setToolTip("\n".join(line for line in lines if line))
        self.updateGeometry()
        self._elide()

    def _elide(self) -> None:
        room = max(40, self.width() - 18 - self._for_sign)
        self.setText(self.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideRight, room))

    @property
    def _for_sign(self) -> int:
        return 0 if self.icon().isNull() else self.iconSize().width() + 6

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.words) + 22 + self._for_sign, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(96, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()
