"""Page of the persona editor: fields with token counts, prompt preview, and chat with the draft."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from lethe_app.domain.persona import Persona
from lethe_app.ui.core.icons import icon, icon_before_words
from lethe_app.ui.core.palette import ICON, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import on_accent
from lethe_app.ui.dialogs.dialogs import answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.personas.actions import Leaving, PersonaActions, UserDecision
from lethe_app.ui.pages.personas.draft import Draft, Leftover, Stroke
from lethe_app.ui.pages.personas.external_changes import ExternalChanges
from lethe_app.ui.pages.personas.fields import AVATAR, chapters, own_chapters, title_of
from lethe_app.ui.pages.personas.form import PersonaSheet
from lethe_app.ui.pages.personas.loader import PersonaOpening
from lethe_app.ui.pages.personas.pictures import Pictures
from lethe_app.ui.pages.personas.preview import PersonaPreview, PersonaReading
from lethe_app.ui.pages.undo_commands import UndoGuard


class Banner(QFrame):
    """Message strip with buttons; hidden until `say`, and again after a click on a button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self._words = QLabel()
        self._words.setWordWrap(True)
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._buttons = QWidget()
        self._row = QHBoxLayout(self._buttons)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(SPACE_2)
        line = QHBoxLayout(self)
        line.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        line.setSpacing(SPACE_3)
        line.addWidget(self._words, 1)
        line.addWidget(self._buttons)
        self.hide()

    def say(self, words: str, *buttons: tuple[str, Callable[[], object]]) -> None:
        """Show a text with (label, action) buttons; without any there is a button that closes the banner."""
        self._words.setText(words)
        self.setAccessibleName(words)
        while (item := self._row.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for title, action in buttons or ((self.tr("Dismiss"), self.hide),):
            button = QPushButton(title)
            button.setProperty("filled", True)
            button.clicked.connect(self.hide)
            button.clicked.connect(lambda _checked=False, action=action: action())
            self._row.addWidget(button)
        self.show()


WIDE, NARROW, SHORT, TINY = 74, 60, 52, 40
"""Page widths as multiples of the line height.

From WIDE on the preview is shown at first, below NARROW it replaces the fields, below SHORT the chat button has a short
label, below TINY the list of sections is hidden.
"""
TALK = QKeySequence("Ctrl+Return")


class PersonaPage(Page):
    """Editor page. Changes remain a draft until saved: leaving asks, and closing the window stores the draft for the next
    start.
    """

    def __init__(self, place: PageContext, persona_id: str = "", *, is_user: bool = False) -> None:
        """Create the page; without an id for a new persona, with the id of a test copy for the draft it was made from."""
        super().__init__(place.theme, "")
        self.place = place
        self.draft = Draft(is_user=is_user)
        self.saved: Persona | None = None
        self.is_user = is_user
        self.pictures = Pictures()
        self.is_loaded = self.is_closed = False
        self.saving = asyncio.Lock()
        self._by_hand = False
        self._settled = False
        self._leftover = Leftover(place.services.paths.window)
        self.deeds = PersonaActions(self)
        self.sheet = PersonaSheet(own_chapters() if is_user else chapters(), self.theme)
        self.sheet.changed.connect(self.change)
        self.sheet.typed.connect(self.follow_draft)
        self.sheet.avatar.pick_wanted.connect(self.deeds.pick_picture)
        self.sheet.avatar.remove_wanted.connect(lambda: self.change(AVATAR, ""))
        self.preview = PersonaPreview(self.theme, is_user=is_user)
        self.banner = Banner()
        self.reading = PersonaReading(self)
        self.meanwhile = ExternalChanges(self)
        self._build()
        self._guard = UndoGuard(self)
        self._forget: list[Callable[[], None]] = [
            place.services.models.changed.add(lambda _state: self.reading.soon()),
            place.services.preferences.changed.add(lambda _settings: self.reading.soon()),
        ]
        self.sheet.setEnabled(False)  # nothing is written into a draft that is about to be replaced
        self.follow_draft()
        place.bridge.spawn(PersonaOpening(self, self._leftover).run(persona_id))

    # building

    def _build(self) -> None:
        self._preview_button = self._tool("eye", self.tr("Show prompt preview"))
        self._preview_button.setCheckable(True)
        self._preview_button.clicked.connect(self._arrange)
        self._is_arranged = False
        self._talk = self.add_button("", self.deeds.talk, "send")
        self._talk.setVisible(not self.is_user)
        self._save = self.add_button(self.tr("Save"), self._save_now, "save", primary=True)
        self._save.setToolTip(self.tr("Save  Ctrl+S"))
        more = self._tool("dots", self.tr("More"))
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setMenu(self.deeds.menu)
        for keys, slot in ((QKeySequence(QKeySequence.StandardKey.Save), self._save_now), (TALK, self._talk.click)):
            shortcut = QShortcut(keys, self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.sheet, 3)
        row.addWidget(self.preview, 2)
        self.body.addWidget(self.banner)
        self.body.addLayout(row, 1)

    def _tool(self, drawing: str, words: str) -> QToolButton:
        button = QToolButton()
        button.setIconSize(QSize(ICON, ICON))
        button.setToolTip(words)
        button.setAccessibleName(words)
        self._icons.append(lambda: button.setIcon(icon(drawing, self.theme.palette.text)))
        self._icons[-1]()
        self._buttons.addWidget(button)
        return button

    def begin_writing(self) -> None:
        """Show the loaded draft and enable editing."""
        self.is_loaded = True
        self.sheet.setEnabled(True)
        self.sheet.show_values(self.draft.values)
        self.follow_draft()
        self.reading.now()
        self.first_focus().setFocus()

    # changing

    def change(self, name: str, value: object) -> None:
        """Set a field as input of the user. Can be undone."""
        old = self.draft.values[name]
        if value != old:
            self._by_hand = True
            self.undo.push(Stroke(title_of(name), name, old, value, self._put))
            self._by_hand = False

    def take_over(self, persona: Persona, title: str) -> None:
        """Set all fields to those of `persona` in a single undo step."""
        changes = list(self.draft.differences(persona))
        if not changes:
            return
        self._by_hand = True
        self.undo.beginMacro(title)
        for name, old, new in changes:
            self.undo.push(Stroke(title, name, old, new, self._put))
        self.undo.endMacro()
        self._by_hand = False

    def _put(self, name: str, value: object) -> None:
        """Store and show a value; on undo and redo, scroll to its field."""
        self.draft.values[name] = self.pictures.file_of(str(value)) or value if name == AVATAR else value
        self.sheet.set_field(name, value)
        if not self._by_hand:
            self.sheet.reveal(name)
        self.follow_draft()

    def follow_draft(self) -> None:
        """Update title, buttons and previews for the state of the draft."""
        name = self.name
        new = self.tr("New user persona") if self.is_user else self.tr("New persona")
        self.title.set_full(name or new)
        self.setAccessibleName(self.tr("Edit {name}").format(name=name) if name else new)
        is_dirty = self.is_dirty or self.sheet.is_unfinished
        unsaved = self.tr("not saved") if self.saved is None else self.tr("unsaved changes")
        self.subtitle.set_full(unsaved if is_dirty else "")
        self._save.setEnabled(self.is_loaded and (is_dirty or self.saved is None))
        self._talk.setEnabled(self.is_loaded)
        self._dress_save()
        self._name_talk()
        if name:
            self.sheet.complain("name", "")
        self.show_picture()
        self.reading.soon()

    def _name_talk(self) -> None:
        is_draft = self.is_dirty or self.saved is None
        full = self.tr("Chat with draft") if is_draft else self.tr("Chat")
        self._talk.setText(full if self._lines() >= SHORT else self.tr("Chat"))
        self._talk.setToolTip(f"{full}  {TALK.toString(QKeySequence.SequenceFormat.NativeText)}")

    def _dress_save(self) -> None:
        """Set the icon's colour, because a disabled button has a different background."""
        ink = on_accent(self.theme.palette) if self._save.isEnabled() else self.theme.palette.muted
        self._save.setIcon(icon_before_words("save", ink))

    def show_picture(self) -> None:
        """Show the draft's avatar."""
        who, kept = self.saved.unique_name if self.saved else self.name, str(self.draft.values[AVATAR])
        path = self.place.services.library.avatar(Persona(name="?", avatar=kept)) if kept else None
        drawn = self.pictures.drawn(kept, path, (who, self.name), self.theme.palette, self.devicePixelRatioF())
        words = self.tr("Avatar of {name}").format(name=self.name) if kept else self.tr("No avatar")
        self.sheet.avatar.show_picture(drawn, words, is_own=bool(kept))

    # saving and leaving

    @property
    def name(self) -> str:
        return str(self.draft.values["name"]).strip()

    @property
    def is_dirty(self) -> bool:
        return not self.draft.is_like(self.saved)

    def _save_now(self) -> None:
        self.sheet.finish()
        if self._save.isEnabled():
            self.place.bridge.spawn(self._save_once())

    async def _save_once(self) -> None:
        await self.save()

    async def save(self) -> bool:
        """Save the draft; return False and mark the field if it is not valid."""
        self.sheet.finish()
        if not self.name:
            self.sheet.complain("name", self.tr("Name is required."))
            self.sheet.reveal("name")
            return False
        if self._save.hasFocus():  # it is greyed in a moment, and the keyboard would land on whatever is next
            self._talk.setFocus()
        async with self.saving:  # of two wishes at once the second finds everything done
            if self.is_dirty or self.saved is None:
                await self.meanwhile.catch_up()
                self.become(await self.deeds.save_draft())
        return True

    def become(self, saved: Persona) -> None:
        """Take the saved persona as the base of the draft."""
        self.saved = self.draft.base = saved
        self.draft.values[AVATAR] = saved.avatar
        self.meanwhile.mark_saved()
        self.follow_draft()

    def discard_unsaved(self) -> None:
        """Drop unsaved changes: neither ask about them nor store them."""
        self._settled = True

    def keep_draft(self) -> None:
        """Store unsaved changes for the next start, in case the window is closed or the program is killed."""
        if self.is_loaded and self.is_dirty and not self._settled:
            self._leftover.keep_draft(self.draft.persona("?"), is_new=self.saved is None)
        elif self.is_loaded:
            self._leftover.drop()

    async def may_leave(self) -> bool:
        self.sheet.finish()
        if self._settled or not self.is_loaded or not self.is_dirty:
            return True
        dialog = Leaving(self.place.window, self.title.accessibleName())
        await answered(dialog)
        if dialog.choice is UserDecision.SAVE:
            return await self.save()
        if dialog.choice is UserDecision.DISCARD:
            self.discard_unsaved()
        return dialog.choice is UserDecision.DISCARD

    def close_page(self) -> None:
        self.sheet.finish()
        self.is_closed = True
        self.meanwhile.close()
        for forget in self._forget:
            forget()
        self.reading.close()
        self.deeds.close()
        self._guard.close()
        self.keep_draft()

    def first_focus(self) -> QWidget:
        return self.sheet.field("name")

    # Qt events.

    def dress(self) -> None:
        super().dress()
        # The constructor of Page calls this method before the fields exist.
        if hasattr(self, "sheet"):
            self.sheet.fit_sections()
            self.sheet.avatar.dress()
            self._dress_save()
            self.show_picture()
            self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
        self._name_talk()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.place.window.actions_["persona_editor"].setEnabled(True)

    def showEvent(self, event: QShowEvent) -> None:
        """Show the preview if there is room for it when the page is first shown; later only the user's choice counts."""
        super().showEvent(event)
        self.place.window.actions_["persona_editor"].setEnabled(False)  # of one persona there must not be two drafts
        if not self._is_arranged:
            self._is_arranged = True
            self._preview_button.setChecked(self._lines() >= WIDE)
            self._arrange()

    def _lines(self) -> float:
        return self.width() / max(1, self.fontMetrics().height())

    def _arrange(self) -> None:
        """Show preview, fields and list of sections as far as the width allows."""
        wanted, lines = self._preview_button.isChecked(), self._lines()
        self.preview.setVisible(wanted)
        self.sheet.setVisible(not wanted or lines >= NARROW)
        self.sheet.sections.setVisible(lines >= TINY)
