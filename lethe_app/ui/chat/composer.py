"""Composer: a text field that grows with its text, keeps a draft per session, and sends messages or stops the reply."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolButton, QToolTip, QWidget

from lethe_app.ui.chat.dictated_text import DictatedText
from lethe_app.ui.chat.microphone_button import MicrophoneButton
from lethe_app.ui.core.accessibility import set_button_tooltip
from lethe_app.ui.core.actions import action_tooltip, is_idle_undo
from lethe_app.ui.core.formatting import format_token_count
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.input_watch import is_composing
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme, set_style_properties, text_colour_on_accent
from lethe_app.ui.transcript.row_layout import COLUMN_MARGIN, MAX_COLUMN_WIDTH
from lethe_app.ui.widgets.layouts import build_row
from lethe_app.ui.widgets.text_area import PlainTextEdit

MAX_LINES = 10
"""Maximum height of the field in lines; beyond it the field scrolls."""
COUNT_DELAY_MS = 300
"""Pause after the last change of the draft before its tokens are counted."""
ENTER_KEYS = {Qt.Key.Key_Return, Qt.Key.Key_Enter}


class Composer(QWidget):
    """Draft field with the button to send or stop. It is never disabled: a message that cannot be answered yet is queued by
    the receiver of `sent`.
    """

    sent = Signal(str, bool)
    """Emitted with the stripped draft, and whether some of it was dictated; an empty text lets the persona speak again."""
    stop_requested = Signal()
    """Emitted when the button is pressed while a reply is generated."""
    edit_last_requested = Signal()
    """Emitted when Up is pressed in the empty field."""
    count_requested = Signal(str)
    """Emitted with the draft when its tokens are to be counted; answer with `show_tokens`."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._drafts: dict[str, str] = {}
        self._private_sessions: set[str] = set()
        self._session_id = ""
        self._is_replying = self._is_stopping = self._sends_after_stop = False
        self._dictation_state = ""
        self._addressee = self._replying_name = ""
        self._next_speaker: str | None = None
        self._count_timer = QTimer(self, singleShot=True, interval=COUNT_DELAY_MS)
        self._count_timer.timeout.connect(lambda: self.count_requested.emit(self.draft_field.toPlainText()))
        self._build()
        self._is_ended = False
        self.set_addressee("")
        theme.changed.connect(self.apply_theme)

    def _build(self) -> None:
        self.frame = QFrame()
        self.frame.setObjectName("composer_frame")
        self.frame.setMaximumWidth(MAX_COLUMN_WIDTH)
        self.draft_field = DraftField()
        self.draft_field.textChanged.connect(self._on_draft_changed)
        self.draft_field.entered.connect(self.submit)
        self.draft_field.up_pressed.connect(self.edit_last_requested)
        self.draft_field.focus_changed.connect(lambda has_focus: set_style_properties(self.frame, focused=has_focus))
        self.dictated = DictatedText(self.draft_field, self._theme)
        self.microphone_button = MicrophoneButton(self._theme)
        self.note_label = QLabel()
        self.note_label.setProperty("small", True)
        self.note_label.setMinimumHeight(32)
        self.note_label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.send_button = QToolButton()
        self.send_button.setProperty("primary", True)
        self.send_button.setIconSize(QSize(ICON, ICON))
        self.send_button.clicked.connect(self._on_button_clicked)
        build_row(
            (self.draft_field, 1),
            (self.note_label, 0, Qt.AlignmentFlag.AlignBottom),
            (self.microphone_button, 0, Qt.AlignmentFlag.AlignBottom),
            (self.send_button, 0, Qt.AlignmentFlag.AlignBottom),
            spacing=SPACE_3,
            margins=(SPACE_4, SPACE_2, SPACE_2, SPACE_2),
            parent=self.frame,
        )
        build_row(self.frame, margins=(COLUMN_MARGIN, SPACE_1, COLUMN_MARGIN, SPACE_4), parent=self)
        self._update_button_label()

    def apply_theme(self) -> None:
        """Apply the icon and the line height of the current theme."""
        self.send_button.setIcon(load_icon("stop" if self._is_replying else "send", text_colour_on_accent(self._theme.palette)))
        self.draft_field.adjust_height()

    # Displayed state

    def set_addressee(self, name: str) -> None:
        """Set the addressee: the persona's name, or the names of all participants of a group."""
        self._addressee, self._next_speaker = name, None
        self._update_placeholder()
        self.draft_field.setAccessibleName(self.tr("Message to {name}").format(name=name) if name else self.tr("Message"))
        self._update_button_label()

    def set_ended(self, *, is_ended: bool) -> None:
        """Show in the placeholder whether the next message starts a new session."""
        self._is_ended = is_ended
        self._update_placeholder()

    def show_dictation_state(self, text: str) -> None:
        """Show what dictation does in place of the placeholder; empty for the placeholder."""
        self._dictation_state = text
        self._update_placeholder()

    def _update_placeholder(self) -> None:
        if self._dictation_state:
            self.draft_field.set_placeholder(self._dictation_state)
            return
        template = self.tr("Start a new conversation with {name}…") if self._is_ended else self.tr("Write to {name}…")
        self.draft_field.set_placeholder(
            template.format(name=self._addressee) if self._addressee else self.tr("Write a message…")
        )

    def set_speaker(self, name: str) -> None:
        """Set which participant of a group speaks if nothing is written; empty if that is not decided yet."""
        self._next_speaker = name
        self._update_button_label()

    def switch_session(self, session_id: str, *, is_private: bool = False) -> None:
        """Store the current draft under its session and show that of `session_id`. Text that was written before any
        session was open is appended to that draft. The draft of a private session is never listed.
        """
        if is_private:
            self._private_sessions.add(session_id)
        self._sends_after_stop = False
        current_text, stored_draft = self.draft_field.toPlainText(), self._drafts.pop(session_id, "")
        if self._session_id:
            self._drafts[self._session_id] = current_text
            self._set_text(stored_draft)
        elif stored_draft or not current_text:
            self._set_text("\n".join(part for part in (stored_draft, current_text) if part))
        self._session_id = session_id

    def list_drafts(self) -> dict[str, str]:
        """Return the unsent drafts by session, without blank ones; the draft on display is last."""
        current_draft = {self._session_id: self.draft_field.toPlainText()} if self._session_id else {}
        drafts = self._drafts | current_draft
        return {session: text for session, text in drafts.items() if text.strip() and session not in self._private_sessions}

    def add_drafts(self, drafts: dict[str, str]) -> None:
        """Add the drafts of an earlier run; drafts of this run take precedence. Each is shown when its session is opened."""
        self._drafts = drafts | self._drafts

    def drop_drafts(self, sessions: Collection[str]) -> None:
        """Delete the drafts of these sessions."""
        self._drafts = {session: text for session, text in self._drafts.items() if session not in sessions}
        if self._session_id in sessions:
            self._set_text("")

    def set_replying(self, is_replying: bool, replying_name: str = "") -> None:
        """Switch the button between stop and send; `writer` is the name of the speaker of the reply, if known. A draft that was
        entered while the reply stopped is sent now.
        """
        if self._sends_after_stop and not is_replying:
            QTimer.singleShot(0, self, self._send_after_stop)  # when everybody else has learnt of the end
        self._is_replying, self._replying_name, self._is_stopping = is_replying, replying_name, False
        self._update_button_label()
        self._set_note("")
        self.apply_theme()

    def set_stopping(self) -> None:
        """Keep what is entered from now on until the reply has stopped."""
        self._is_stopping = True

    def insert_text(self, text: str) -> None:
        """Focus the field and insert `text` at the cursor; used for text that was typed elsewhere."""
        self.draft_field.setFocus()
        self.draft_field.insert_normalized_text(text)

    def restore_draft(self, session_id: str, text: str) -> None:
        """Restore a message that could not be stored as the draft of its session, unless that already has another draft."""
        if session_id == self._session_id and not self.draft_field.toPlainText():
            self._set_text(text)
        elif session_id != self._session_id and not self._drafts.get(session_id):
            self._drafts[session_id] = text

    def show_tokens(self, text: str, count: int) -> None:
        """Show the token count of `text`. Counts arrive late, so one for an older draft is ignored."""
        if text == self.draft_field.toPlainText():
            self._set_note(format_token_count(count) if count and self._token_count_width() else "")

    @property
    def is_empty(self) -> bool:
        return self.draft_field.is_blank

    # User actions

    def _on_button_clicked(self) -> None:
        if self._is_replying:
            self.stop_requested.emit()
        else:
            self.submit()
        self.draft_field.setFocus()

    def submit(self) -> None:
        """Send the draft with the words that are being heard, unless a reply is generated; while one is being stopped, as soon
        as it has.
        """
        if self._is_stopping:
            self._sends_after_stop = True
            self._set_note(self.tr("Sent as soon as the reply has stopped."))
        elif self._is_replying:
            writer = self._replying_name or self._next_speaker_name or self.tr("Someone")
            self._set_note(self.tr("{name} is still writing. Press Esc to stop.").format(name=writer))
        else:
            self.dictated.commit_partial()
            text, is_dictated = self.draft_field.toPlainText().strip(), self.dictated.is_in_draft
            self._set_text("")
            self.sent.emit(text, is_dictated)

    def _send_after_stop(self) -> None:
        """Send the draft that was entered while the reply stopped, unless its session was left meanwhile."""
        if self._sends_after_stop and not self._is_replying:
            self._sends_after_stop = False
            self.submit()

    def _on_draft_changed(self) -> None:
        if self.is_empty:
            self._count_timer.stop()
            self._set_note("")
        else:
            self._count_timer.start()
            self._set_note(self.note_label.text())
        self._update_button_label()

    def _set_text(self, text: str) -> None:
        self.draft_field.setPlainText(text)
        self.draft_field.moveCursor(self.draft_field.textCursor().MoveOperation.End)

    def _set_note(self, text: str) -> None:
        self.note_label.setText(text)
        # Reserved from the first letter on, so that the text does not move when the count is shown.
        self.note_label.setMinimumWidth(self._token_count_width() if text or not self.is_empty else 0)

    def _token_count_width(self) -> int:
        """Return the width in pixels reserved for a token count; 0 if that would be more than a fifth of the composer."""
        text_width = self.note_label.fontMetrics().horizontalAdvance(format_token_count(9_999))
        return text_width if 5 * text_width <= self.frame.width() else 0

    def _update_button_label(self) -> None:
        if self._is_replying:
            title = action_tooltip("stop")
        elif self.is_empty:
            title = self._empty_draft_tooltip
        else:
            title = action_tooltip("send")
        if title != self.send_button.toolTip() and self.send_button.underMouse():
            QToolTip.hideText()  # the open tooltip still describes the previous function of the button
        set_button_tooltip(self.send_button, title)

    @property
    def _next_speaker_name(self) -> str:
        """Return the name of the next speaker; empty if it is not decided yet."""
        return self._addressee if self._next_speaker is None else self._next_speaker

    @property
    def _empty_draft_tooltip(self) -> str:
        """Return the button's tooltip for an empty draft: what sending nothing does."""
        if not self._addressee:
            return action_tooltip("send")
        name = self._next_speaker_name
        return self.tr("Let {name} speak").format(name=name) if name else self.tr("Let someone speak")


class DraftField(PlainTextEdit):
    """Plain text field of one to ten visible lines. Enter emits `entered`, Shift+Enter inserts a line break."""

    entered = Signal()
    """Emitted when Enter is pressed without Shift."""
    up_pressed = Signal()
    """Emitted when Up is pressed while the field is empty."""
    focus_changed = Signal(bool)
    """Emitted with True when the field receives the focus, and with False when it loses it."""

    def __init__(self) -> None:
        super().__init__()
        self._placeholder = ""
        self.setObjectName("composer_text")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(6)
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self.adjust_height())
        self.adjust_height()

    def adjust_height(self) -> None:
        """Set the height to the number of lines, up to `MAX_LINES`; show a scroll bar beyond that."""
        # The document layout of a QPlainTextEdit measures its height in lines, not in pixels.
        lines = max(1, int(self.document().size().height()))
        visible_lines = min(lines, MAX_LINES)
        line_height = QFontMetrics(self.font()).lineSpacing()
        # Without a pixel more the last line counts as hidden, and the field scrolls the first one away.
        height = visible_lines * line_height + 2 * int(self.document().documentMargin()) + 1
        scroll_bar_policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if lines > MAX_LINES else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(scroll_bar_policy)
        if height != self.height():
            self.setFixedHeight(height)
            self.ensureCursorVisible()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.adjust_height()  # the text wraps differently in another width
        self._elide_placeholder()

    def set_placeholder(self, text: str) -> None:
        """Set the placeholder, elided to one line."""
        self._placeholder = text
        self._elide_placeholder()

    def _elide_placeholder(self) -> None:
        available_width = self.viewport().width() - 2 * int(self.document().documentMargin()) - 2
        self.setPlaceholderText(
            self.fontMetrics().elidedText(self._placeholder, Qt.TextElideMode.ElideRight, max(60, available_width))
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_composing(self):
            return
        # Enter on the keypad carries KeypadModifier.
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() in ENTER_KEYS and modifiers == Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        elif event.key() in ENTER_KEYS:
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Up and not self.toPlainText():
            self.up_pressed.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Report focus changes, adapt the height when font or style change or the field is shown, and leave undo and redo to
        the window while there is nothing to undo or redo here.
        """
        if event.type() in {QEvent.Type.FocusIn, QEvent.Type.FocusOut}:
            self.focus_changed.emit(event.type() == QEvent.Type.FocusIn)
        elif event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange, QEvent.Type.Show}:
            self.adjust_height()
        document = self.document()
        if is_idle_undo(event, has_undo=document.isUndoAvailable(), has_redo=document.isRedoAvailable()):
            event.ignore()
            return True
        return super().event(event)
