"""Composer: a text field that grows with its text, keeps a draft per session, and sends messages or stops the reply."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QSizePolicy, QToolButton, QToolTip, QWidget

from lethe_app.ui.core.formatting import tokens_in_words
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme, on_accent
from lethe_app.ui.shell.actions import hint
from lethe_app.ui.transcript.row_layout import AROUND, WIDEST

MOST_LINES = 10
"""Maximum height of the field in lines; beyond it the field scrolls."""
PAUSE_MS = 300
"""Pause after the last change of the draft before its tokens are counted."""
ENTERS = {Qt.Key.Key_Return, Qt.Key.Key_Enter}


class Composer(QWidget):
    """Draft field with the button to send or stop. It is never disabled: a message that cannot be answered yet is queued by
    the receiver of `sent`.
    """

    sent = Signal(str)
    """Emitted with the stripped draft; an empty text lets the persona speak again."""
    stop_wanted = Signal()
    """Emitted when the button is pressed while a reply is generated."""
    edit_last_wanted = Signal()
    """Emitted when Up is pressed in the empty field."""
    count_wanted = Signal(str)
    """Emitted with the draft when its tokens are to be counted; answer with `show_tokens`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._drafts: dict[str, str] = {}
        self._session = ""
        self._replying = False
        self._name = self._writer = ""
        self._speaker: str | None = None
        self._rest = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._rest.timeout.connect(lambda: self.count_wanted.emit(self.text.toPlainText()))
        self._build()
        self._is_ended = False
        self.set_name("")
        theme.changed.connect(self.dress)

    def _build(self) -> None:
        self.frame = QFrame()
        self.frame.setObjectName("composer_frame")
        self.frame.setMaximumWidth(WIDEST)
        self.text = DraftField()
        self.text.textChanged.connect(self._draft_changed)
        self.text.entered.connect(self._submit)
        self.text.went_up.connect(self.edit_last_wanted)
        self.text.focus_changed.connect(self._show_focus)
        self.note = QLabel()
        self.note.setProperty("small", True)
        self.note.setMinimumHeight(32)
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.button = QToolButton()
        self.button.setProperty("primary", True)
        self.button.setIconSize(QSize(ICON, ICON))
        self.button.clicked.connect(self._press)
        row = QHBoxLayout(self.frame)
        row.setContentsMargins(SPACE_4, SPACE_2, SPACE_2, SPACE_2)
        row.setSpacing(SPACE_3)
        row.addWidget(self.text, 1)
        row.addWidget(self.note, 0, Qt.AlignmentFlag.AlignBottom)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        around = QHBoxLayout(self)
        around.setContentsMargins(AROUND, SPACE_1, AROUND, SPACE_4)
        around.addWidget(self.frame)
        self._label_button()

    def dress(self) -> None:
        """Apply the icon and the line height of the current theme."""
        self.button.setIcon(icon("stop" if self._replying else "send", on_accent(self._theme.palette)))
        self.text.fit()

    # Displayed state

    def set_name(self, name: str) -> None:
        """Set the addressee: the persona's name, or the names of all participants of a group."""
        self._name, self._speaker = name, None
        self._write_hint()
        self.text.setAccessibleName(self.tr("Message to {name}").format(name=name) if name else self.tr("Message"))
        self._label_button()

    def set_ended(self, *, ended: bool) -> None:
        """Show in the placeholder whether the next message starts a new session."""
        self._is_ended = ended
        self._write_hint()

    def _write_hint(self) -> None:
        words = self.tr("Start a new conversation with {name}…") if self._is_ended else self.tr("Write to {name}…")
        self.text.set_hint(words.format(name=self._name) if self._name else self.tr("Write a message…"))

    def set_speaker(self, name: str) -> None:
        """Set which participant of a group speaks if nothing is written; empty if that is not decided yet."""
        self._speaker = name
        self._label_button()

    def switch_to(self, session: str) -> None:
        """Store the current draft under its session and show the draft of `session`. Text that was written before any
        session was open is appended to that draft.
        """
        written, kept = self.text.toPlainText(), self._drafts.pop(session, "")
        if self._session:
            self._drafts[self._session] = written
            self._put(kept)
        elif kept or not written:
            self._put("\n".join(part for part in (kept, written) if part))
        self._session = session

    def drafts(self) -> dict[str, str]:
        """Return the unsent drafts by session, without blank ones; the draft on display is last."""
        present = {self._session: self.text.toPlainText()} if self._session else {}
        return {session: text for session, text in (self._drafts | present).items() if text.strip()}

    def take_drafts(self, drafts: dict[str, str]) -> None:
        """Add the drafts of an earlier run; drafts of this run take precedence. Each is shown when its session is opened."""
        self._drafts = drafts | self._drafts

    def set_replying(self, replying: bool, writer: str = "") -> None:
        """Switch the button between stop and send; `writer` is the name of the speaker of the reply, if known."""
        self._replying, self._writer = replying, writer
        self._label_button()
        self._tell_note("")
        self.dress()

    def write_on(self, words: str) -> None:
        """Focus the field and insert `words` at the cursor; used for keys that were typed at the transcript."""
        self.text.setFocus()
        self.text.put_in(words)

    def give_back(self, session: str, text: str) -> None:
        """Restore a message that could not be stored as the draft of its session, unless that already has another draft."""
        if session == self._session and not self.text.toPlainText():
            self._put(text)
        elif session != self._session and not self._drafts.get(session):
            self._drafts[session] = text

    def show_tokens(self, text: str, count: int) -> None:
        """Show the token count of `text`. Counts arrive late, so one for an older draft is ignored."""
        if text == self.text.toPlainText():
            self._tell_note(tokens_in_words(count) if count and self._room_for_count() else "")

    @property
    def is_empty(self) -> bool:
        return not self.text.toPlainText().strip()

    # User actions

    def _press(self) -> None:
        if self._replying:
            self.stop_wanted.emit()
        else:
            self._submit()
        self.text.setFocus()

    def _submit(self) -> None:
        if self._replying:
            writer = self._writer or self._answers or self.tr("Someone")
            self._tell_note(self.tr("{name} is still writing. Press Esc to stop.").format(name=writer))
            return
        text = self.text.toPlainText().strip()
        self._put("")
        self.sent.emit(text)

    def _draft_changed(self) -> None:
        if self.is_empty:
            self._rest.stop()
            self._tell_note("")
        else:
            self._rest.start()
            self._tell_note(self.note.text())
        self._label_button()

    def _put(self, text: str) -> None:
        self.text.setPlainText(text)
        self.text.moveCursor(self.text.textCursor().MoveOperation.End)

    def _tell_note(self, words: str) -> None:
        self.note.setText(words)
        room = self._room_for_count() if words or not self.is_empty else 0
        self.note.setMinimumWidth(room)  # kept from the first letter on, so that no word moves when the count comes

    def _room_for_count(self) -> int:
        """Return the width in pixels reserved for a token count; 0 if that would be more than a fifth of the composer."""
        usual = self.note.fontMetrics().horizontalAdvance(tokens_in_words(9_999))
        return usual if 5 * usual <= self.frame.width() else 0

    def _label_button(self) -> None:
        if self._replying:
            title = hint("stop")
        elif self.is_empty:
            title = self._invitation
        else:
            title = hint("send")
        if title != self.button.toolTip() and self.button.underMouse():
            QToolTip.hideText()  # it says what the button was for a moment ago
        self.button.setToolTip(title)
        self.button.setAccessibleName(title)

    @property
    def _answers(self) -> str:
        """Return the name of the next speaker; empty if it is not decided yet."""
        return self._name if self._speaker is None else self._speaker

    @property
    def _invitation(self) -> str:
        """Return the button's tooltip for an empty draft: what sending nothing does."""
        if not self._name:
            return hint("send")
        return self.tr("Let {name} speak").format(name=self._answers) if self._answers else self.tr("Let someone speak")

    def _show_focus(self, has_focus: bool) -> None:
        self.frame.setProperty("focused", has_focus)
        # Qt evaluates style sheet selectors on a dynamic property again only after unpolish and polish.
        self.frame.style().unpolish(self.frame)
        self.frame.style().polish(self.frame)


class DraftField(QPlainTextEdit):
    """Plain text field of one to ten visible lines. Enter emits `entered`, Shift+Enter inserts a line break."""

    entered = Signal()
    """Emitted when Enter is pressed without Shift."""
    went_up = Signal()
    """Emitted when Up is pressed while the field is empty."""
    focus_changed = Signal(bool)
    """Emitted with True when the field receives the focus, and with False when it loses it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hint = ""
        self.setObjectName("composer_text")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(6)
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self.fit())
        self.fit()

    def fit(self) -> None:
        """Set the height to the number of lines, up to `MOST_LINES`; show a scroll bar beyond that."""
        # The document layout of a QPlainTextEdit measures its height in lines, not in pixels.
        lines = max(1, int(self.document().size().height()))
        shown = min(lines, MOST_LINES)
        line = QFontMetrics(self.font()).lineSpacing()
        height = shown * line + 2 * int(self.document().documentMargin())
        always = Qt.ScrollBarPolicy.ScrollBarAsNeeded if lines > MOST_LINES else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(always)
        if height != self.height():
            self.setFixedHeight(height)
            self.ensureCursorVisible()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()  # another width, other lines
        self._elide_hint()

    def set_hint(self, words: str) -> None:
        """Set the placeholder, elided to one line."""
        self._hint = words
        self._elide_hint()

    def _elide_hint(self) -> None:
        room = self.viewport().width() - 2 * int(self.document().documentMargin()) - 2
        self.setPlaceholderText(self.fontMetrics().elidedText(self._hint, Qt.TextElideMode.ElideRight, max(60, room)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Enter on the keypad carries KeypadModifier.
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() in ENTERS and modifiers == Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        elif event.key() in ENTERS:
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Up and not self.toPlainText():
            self.went_up.emit()
        else:
            super().keyPressEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste plain text only."""
        if source.hasText():
            self.put_in(source.text())

    def put_in(self, words: str) -> None:
        """Insert text at the cursor, with normalised line ends."""
        self.insertPlainText(words.replace("\r\n", "\n").replace("\u2029", "\n"))
        self.ensureCursorVisible()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accept only text."""
        return source.hasText()

    def event(self, event: QEvent) -> bool:
        """Report focus changes, and adapt the height when font or style change or the field is shown."""
        if event.type() in {QEvent.Type.FocusIn, QEvent.Type.FocusOut}:
            self.focus_changed.emit(event.type() == QEvent.Type.FocusIn)
        elif event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange, QEvent.Type.Show}:
            self.fit()
        return super().event(event)
