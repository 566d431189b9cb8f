"""Page of the persona editor: fields with token counts, prompt preview, and chat with the draft."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from lethe_app.domain.bundle import BundleScope
from lethe_app.domain.persona import Persona
from lethe_app.ui.core.icons import load_button_icon, load_icon
from lethe_app.ui.core.palette import ICON, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.routes import PersonaRoute, Route
from lethe_app.ui.core.theme import text_colour_on_accent
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.personas.actions import PersonaActions, UnsavedChangesDialog, UserDecision
from lethe_app.ui.pages.personas.deletion import PersonaDeletion
from lethe_app.ui.pages.personas.draft import Draft, StoredDraft, TypingCommand
from lethe_app.ui.pages.personas.external_changes import ExternalChanges
from lethe_app.ui.pages.personas.fields import AVATAR, chapters, field_title, user_persona_chapters
from lethe_app.ui.pages.personas.form import PersonaForm
from lethe_app.ui.pages.personas.loader import PersonaLoader
from lethe_app.ui.pages.personas.pictures import UnsavedAvatars
from lethe_app.ui.pages.personas.preview import PersonaPreview, PersonaPreviewUpdater
from lethe_app.ui.pages.personas.services import PersonaEditorServices
from lethe_app.ui.pages.undo_commands import UndoGuard

PersonaExport = Callable[[str, BundleScope], Awaitable[None]]
"""Coroutine function that asks for the scope and the target file, and exports the persona of an id."""


class MessageBanner(QFrame):
    """Message strip with buttons; hidden until `show_message`, and again after a click on a button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self._label = QLabel()
        self._label.setWordWrap(True)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._buttons = QWidget()
        self._row = QHBoxLayout(self._buttons)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(SPACE_2)
        line = QHBoxLayout(self)
        line.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        line.setSpacing(SPACE_3)
        line.addWidget(self._label, 1)
        line.addWidget(self._buttons)
        self.hide()

    def show_message(self, text: str, *buttons: tuple[str, Callable[[], object]]) -> None:
        """Show a text with (label, action) buttons; without any there is a button that closes the banner."""
        self._label.setText(text)
        self.setAccessibleName(text)
        while (item := self._row.takeAt(0)) is not None:
            if (old_button := item.widget()) is not None:
                old_button.hide()
                old_button.deleteLater()
        for title, action in buttons or ((self.tr("Dismiss"), self.hide),):
            button = QPushButton(title)
            button.setProperty("filled", True)
            button.clicked.connect(self.hide)
            button.clicked.connect(lambda _checked=False, action=action: action())
            self._row.addWidget(button)
        self.show()


PREVIEW_MIN_LINES, BOTH_MIN_LINES, LONG_LABEL_MIN_LINES, SECTIONS_MIN_LINES = 74, 60, 52, 40
"""Page widths as multiples of the line height.

From WIDE on the preview is shown at first, below NARROW it replaces the fields, below SHORT the chat button has a short
label, below TINY the list of sections is hidden.
"""
CHAT_SHORTCUT = QKeySequence("Ctrl+Return")


class PersonaPage(Page):
    """Editor page. Changes remain a draft until saved: leaving asks, and closing the window stores the draft for the next
    start.
    """

    def __init__(
        self,
        context: PageContext,
        services: PersonaEditorServices,
        deletion: PersonaDeletion,
        export_persona: PersonaExport,
        draft_file: Path,
        persona_id: str = "",
        *,
        is_user: bool = False,
    ) -> None:
        """Create the page; without an id for a new persona, with the id of a test copy for the draft it was made from."""
        super().__init__(context.theme, "")
        self.context, self.services, self.deletion, self.export_persona = context, services, deletion, export_persona
        self.draft = Draft(is_user=is_user)
        self.saved: Persona | None = None
        self.is_user = is_user
        self.pictures = UnsavedAvatars()
        self.is_loaded = self.is_closed = False
        self.save_lock = asyncio.Lock()
        self._is_user_input = False
        self._is_discarded = False
        self._leftover = StoredDraft(draft_file)
        self.persona_actions = PersonaActions(self)
        self.sheet = PersonaForm(user_persona_chapters() if is_user else chapters(), self.theme)
        self.sheet.changed.connect(self.change_field)
        self.sheet.unfinished_changed.connect(self.show_draft_state)
        self.sheet.avatar.pick_wanted.connect(self.persona_actions.pick_picture)
        self.sheet.avatar.remove_wanted.connect(lambda: self.change_field(AVATAR, ""))
        self.preview = PersonaPreview(self.theme, is_user=is_user)
        self.banner = MessageBanner()
        self.preview_updater = PersonaPreviewUpdater(self)
        self.external_changes = ExternalChanges(self)
        self._build()
        self._guard = UndoGuard(self)
        self._unsubscribers: list[Callable[[], None]] = [
            services.models.changed.add(lambda _state: self.preview_updater.schedule_update()),
            services.preferences.changed.add(lambda _settings: self.preview_updater.schedule_update()),
        ]
        self.sheet.setEnabled(False)  # nothing is written into a draft that is about to be replaced
        self.show_draft_state()
        context.tasks.start_task(PersonaLoader(self, self._leftover).load_page(persona_id))

    # building

    def _build(self) -> None:
        self._preview_button = self._add_tool_button("eye", self.tr("Show prompt preview"))
        self._preview_button.setCheckable(True)
        self._preview_button.clicked.connect(self._update_layout)
        self._is_arranged = False
        self._chat_button = self.add_button("", self.persona_actions.start_chat, "send")
        self._chat_button.setVisible(not self.is_user)
        self._save_button = self.add_button(self.tr("Save"), self._start_saving, "save", primary=True)
        self._save_button.setToolTip(self.tr("Save  Ctrl+S"))
        more = self._add_tool_button("dots", self.tr("More"))
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setMenu(self.persona_actions.menu)
        for keys, slot in (
            (QKeySequence(QKeySequence.StandardKey.Save), self._start_saving),
            (CHAT_SHORTCUT, self._chat_button.click),
        ):
            shortcut = QShortcut(keys, self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.sheet, 3)
        row.addWidget(self.preview, 2)
        self.body.addWidget(self.banner)
        self.body.addLayout(row, 1)

    def _add_tool_button(self, icon_name: str, text: str) -> QToolButton:
        button = QToolButton()
        button.setIconSize(QSize(ICON, ICON))
        button.setToolTip(text)
        button.setAccessibleName(text)
        self._icon_updates.append(lambda: button.setIcon(load_icon(icon_name, self.theme.palette.text)))
        self._icon_updates[-1]()
        self._buttons.addWidget(button)
        return button

    def enable_editing(self) -> None:
        """Show the loaded draft and enable editing."""
        self.is_loaded = True
        self.sheet.setEnabled(True)
        self.sheet.show_values(self.draft.values)
        self.show_draft_state()
        self.preview_updater.update_now()
        self.first_focus_widget().setFocus()

    # changing

    def change_field(self, name: str, value: object) -> None:
        """Set a field as input of the user. Can be undone."""
        old = self.draft.values[name]
        if value != old:
            self._is_user_input = True
            self.undo_stack.push(TypingCommand(field_title(name), name, old, value, self._apply_value))
            self._is_user_input = False

    def replace_fields(self, persona: Persona, title: str) -> None:
        """Set all fields to those of `persona` in a single undo step."""
        changes = list(self.draft.differing_fields(persona))
        if not changes:
            return
        self._is_user_input = True
        self.undo_stack.beginMacro(title)
        for name, old, new in changes:
            self.undo_stack.push(TypingCommand(title, name, old, new, self._apply_value))
        self.undo_stack.endMacro()
        self._is_user_input = False

    def _apply_value(self, name: str, value: object) -> None:
        """Store and show a value; on undo and redo, scroll to its field."""
        self.draft.values[name] = self.pictures.file_of(str(value)) or value if name == AVATAR else value
        self.sheet.set_field(name, value)
        if not self._is_user_input:
            self.sheet.reveal_field(name)
        self.show_draft_state()

    def show_draft_state(self) -> None:
        """Update title, buttons and previews for the state of the draft."""
        name = self.persona_name
        new_title = self.tr("New user persona") if self.is_user else self.tr("New persona")
        self.title.set_full_text(name or new_title)
        self.setAccessibleName(self.tr("Edit {name}").format(name=name) if name else new_title)
        is_dirty = self.is_dirty or self.sheet.is_unfinished
        unsaved_text = self.tr("not saved") if self.saved is None else self.tr("unsaved changes")
        self.subtitle.set_full_text(unsaved_text if is_dirty else "")
        self._save_button.setEnabled(self.is_loaded and (is_dirty or self.saved is None))
        self._chat_button.setEnabled(self.is_loaded)
        self._update_save_icon()
        self._update_chat_button()
        if name:
            self.sheet.show_error("name", "")
        self.show_picture()
        self.preview_updater.schedule_update()

    def _update_chat_button(self) -> None:
        is_draft = self.is_dirty or self.saved is None
        full_label = self.tr("Chat with draft") if is_draft else self.tr("Chat")
        self._chat_button.setText(full_label if self._width_in_lines() >= LONG_LABEL_MIN_LINES else self.tr("Chat"))
        self._chat_button.setToolTip(f"{full_label}  {CHAT_SHORTCUT.toString(QKeySequence.SequenceFormat.NativeText)}")

    def _update_save_icon(self) -> None:
        """Set the icon's colour, because a disabled button has a different background."""
        colour = text_colour_on_accent(self.theme.palette) if self._save_button.isEnabled() else self.theme.palette.muted
        self._save_button.setIcon(load_button_icon("save", colour))

    def show_picture(self) -> None:
        """Show the draft's avatar."""
        persona_id, avatar_name = self.saved.unique_name if self.saved else self.persona_name, str(self.draft.values[AVATAR])
        path = self.services.library.avatar(Persona(name="?", avatar=avatar_name)) if avatar_name else None
        pixmap = self.pictures.render_avatar(
            avatar_name, path, (persona_id, self.persona_name), self.theme.palette, self.devicePixelRatioF()
        )
        text = self.tr("Avatar of {name}").format(name=self.persona_name) if avatar_name else self.tr("No avatar")
        self.sheet.avatar.show_avatar(pixmap, text, is_custom=bool(avatar_name))

    # saving and leaving

    @property
    def persona_name(self) -> str:
        return str(self.draft.values["name"]).strip()

    @property
    def is_dirty(self) -> bool:
        return not self.draft.is_equivalent_to(self.saved)

    def _start_saving(self) -> None:
        self.sheet.apply_unfinished()
        if self._save_button.isEnabled():
            self.context.tasks.start_task(self._save_ignoring_result())

    async def _save_ignoring_result(self) -> None:
        await self.save_persona()

    async def save_persona(self) -> bool:
        """Save the draft; return False and mark the field if it is not valid."""
        self.sheet.apply_unfinished()
        if not self.persona_name:
            self.sheet.show_error("name", self.tr("Name is required."))
            self.sheet.reveal_field("name")
            return False
        if self._save_button.hasFocus():  # it is greyed in a moment, and the keyboard would land on whatever is next
            self._chat_button.setFocus()
        async with self.save_lock:  # of two wishes at once the second finds everything done
            if self.is_dirty or self.saved is None:
                await self.external_changes.merge_changes()
                self.adopt_saved(await self.persona_actions.save_draft())
        return True

    def adopt_saved(self, saved: Persona) -> None:
        """Take the saved persona as the base of the draft."""
        self.saved = self.draft.base = saved
        self.draft.values[AVATAR] = saved.avatar
        self.external_changes.mark_saved()
        self.show_draft_state()

    def discard_unsaved(self) -> None:
        """Drop unsaved changes: neither ask about them nor store them."""
        self._is_discarded = True

    def store_draft(self) -> None:
        """Store unsaved changes for the next start, in case the window is closed or the program is killed."""
        if self.is_loaded and self.is_dirty and not self._is_discarded:
            self._leftover.save_draft(self.draft.build_persona("?"), is_new=self.saved is None)
        elif self.is_loaded:
            self._leftover.delete_draft()

    async def confirm_leave(self) -> bool:
        self.sheet.apply_unfinished()
        if self._is_discarded or not self.is_loaded or not self.is_dirty:
            return True
        dialog = UnsavedChangesDialog(self.context.dialog_parent, self.title.accessibleName())
        await run_dialog(dialog)
        if dialog.choice is UserDecision.SAVE:
            return await self.save_persona()
        if dialog.choice is UserDecision.DISCARD:
            self.discard_unsaved()
        return dialog.choice is UserDecision.DISCARD

    def close_page(self) -> None:
        self.sheet.apply_unfinished()
        self.is_closed = True
        self.external_changes.close()
        for unsubscribe in self._unsubscribers:
            unsubscribe()
        self.preview_updater.close()
        self.persona_actions.close()
        self._guard.stop_watching()
        self.store_draft()

    def first_focus_widget(self) -> QWidget:
        return self.sheet.field("name")

    def is_showing(self, route: Route) -> bool:
        """Return whether the page edits the persona of the route, for example one that was created on it."""
        return isinstance(route, PersonaRoute) and self.saved is not None and self.saved.unique_name == route.persona_id

    # Qt events.

    def apply_theme(self) -> None:
        super().apply_theme()
        # The constructor of Page calls this method before the fields exist.
        if hasattr(self, "sheet"):
            self.sheet.fit_sections()
            self.sheet.avatar.apply_theme()
            self._update_save_icon()
            self.show_picture()
            self._update_layout()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_layout()
        self._update_chat_button()

    def showEvent(self, event: QShowEvent) -> None:
        """Show the preview if there is room for it when the page is first shown; later only the user's choice counts."""
        super().showEvent(event)
        if not self._is_arranged:
            self._is_arranged = True
            self._preview_button.setChecked(self._width_in_lines() >= PREVIEW_MIN_LINES)
            self._update_layout()

    def _width_in_lines(self) -> float:
        return self.width() / max(1, self.fontMetrics().height())

    def _update_layout(self) -> None:
        """Show preview, fields and list of sections as far as the width allows."""
        shows_preview, lines = self._preview_button.isChecked(), self._width_in_lines()
        self.preview.setVisible(shows_preview)
        self.sheet.setVisible(not shows_preview or lines >= BOTH_MIN_LINES)
        self.sheet.sections.setVisible(lines >= SECTIONS_MIN_LINES)
