"""Central panel of the window: header, transcript, speaker chooser and composer."""

from __future__ import annotations

from operator import attrgetter

from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from lethe_app.ui.chat.composer import Composer
from lethe_app.ui.chat.speaker_chooser import SpeakerChooser
from lethe_app.ui.chat.speech_buttons import SpeechButtons
from lethe_app.ui.chat.status_line import StatusLine
from lethe_app.ui.core.actions import action_tooltip
from lethe_app.ui.core.palette import ICON, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.labels import ElidedLabel, build_badge
from lethe_app.ui.widgets.layouts import build_column, build_row

MIN_TAGLINE_SHARE = 0.6
"""Share of the tagline below which nothing of it is shown in the header, because the rest says nothing."""


class ChatPanel(QFrame):
    """Column of header, transcript and composer. `view` is an empty placeholder until the services are open."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("chat")
        self.setMinimumWidth(320)
        self.theme = theme
        self.header = ChatHeader(theme)
        self.composer = Composer(theme)
        self.speaker_chooser = SpeakerChooser(theme)
        self.view: QWidget = QWidget()
        self._column = build_column(self.header, (self.view, 1), self.speaker_chooser, self.composer, parent=self)

    @property
    def status(self) -> StatusLine:
        return self.header.status

    def set_view(self, view: QWidget) -> None:
        """Replace the placeholder, or the transcript before, by `view`."""
        self._column.replaceWidget(self.view, view)
        self.view.deleteLater()
        self.view = view

    @property
    def free_height(self) -> int:
        """Return the height in pixels that the messages leave empty at the end; 0 while there are none."""
        rows = getattr(self.view, "visible_rows", None)
        return self.view.height() - rows[-1].top - rows[-1].height if rows else 0

    @property
    def is_covered(self) -> bool:
        """Return whether a page covers the conversation."""
        return not self.isVisibleTo(self.window())

    def focus_composer(self) -> None:
        """Focus the input field, unless a page covers it: what the user types there is not meant for the input field."""
        if not self.is_covered:
            self.composer.draft_field.setFocus()

    def add_card(self, card: QWidget) -> None:
        """Insert a card above the speaker chooser and the composer, such as a tool permission request."""
        self._column.insertWidget(self._column.indexOf(self.speaker_chooser), card)

    def remove_card(self, card: QWidget) -> None:
        """Remove a card that was inserted by `add_card`, and delete it. If it had the focus, the input field gets it."""
        focused = card.focusWidget()
        if focused is not None and focused.hasFocus():
            self.focus_composer()
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()

    def apply_theme(self) -> None:
        """Apply the icons of the current theme."""
        self.header.speech.apply_theme()
        self.speaker_chooser.apply_theme()
        self.composer.apply_theme()


class ChatHeader(QFrame):
    """Header: participants and the button to invite others at the left, the model status at the right, the sidebar's button
    while the sidebar is hidden.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("header")
        self.setMinimumHeight(52)
        self.theme = theme
        self.sidebar_button = IconButton(theme, "menu", action_tooltip("sidebar"), colour=attrgetter("text"))
        self.sidebar_button.hide()
        self.name_label = ElidedLabel(min_width=144)
        self.name_label.setProperty("title", True)
        self.group_button = IconButton(theme, "users", action_tooltip("group"), size=ICON - 2)
        self.group_button.hide()
        self.tagline_label = ElidedLabel(min_share=MIN_TAGLINE_SHARE)
        self.tagline_label.setProperty("quiet", True)
        self.tagline_label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.incognito_label = build_badge(self.tr("Incognito"))
        self.incognito_label.setToolTip(
            self.tr("Nothing of this conversation is stored or learnt. It is gone when you close it or Lethe.")
        )
        self.incognito_label.hide()
        self.status = StatusLine()
        self.speech = SpeechButtons(theme)
        self._row = build_row(
            self.sidebar_button,
            self.name_label,
            self.incognito_label,
            self.group_button,
            (self.tagline_label, 1),
            self.status,
            self.speech,
            spacing=SPACE_3,
            margins=(SPACE_4, SPACE_2, SPACE_2, SPACE_2),
            parent=self,
        )
        theme.changed.connect(self.speech.apply_theme)

    def add_button(self, button: QWidget) -> None:
        """Add a button at the right end."""
        self._row.addWidget(button)
