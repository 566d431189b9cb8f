"""Page of the persona editor: fields with token counts, prompt preview, and chat with the draft."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton

from lethe_app.domain.persona import Persona
from lethe_app.services.speech.output import SpeechOutput
from lethe_app.ui.core.icons import load_button_icon
from lethe_app.ui.core.routes import PersonaRoute
from lethe_app.ui.core.theme import text_colour_on_accent
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.advanced_chip import build_advanced_chip
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.personas.actions import PersonaActions, PersonaExport, UnsavedChangesDialog, UserDecision
from lethe_app.ui.pages.personas.deletion import PersonaDeletion
from lethe_app.ui.pages.personas.editor import PersonaEditor
from lethe_app.ui.pages.personas.external_changes import ExternalChanges
from lethe_app.ui.pages.personas.fields import AVATAR, VOICE, field_title
from lethe_app.ui.pages.personas.loader import PersonaLoader
from lethe_app.ui.pages.personas.preview_updater import PersonaPreviewUpdater
from lethe_app.ui.pages.personas.services import PersonaEditorServices
from lethe_app.ui.pages.voice_choices import VoiceChoices
from lethe_app.ui.widgets.buttons import IconButton

PREVIEW_MIN_LINES, BOTH_MIN_LINES, LONG_LABEL_MIN_LINES, SECTIONS_MIN_LINES = 74, 60, 52, 40
"""Page widths as multiples of the line height.

From WIDE on the preview is shown at first, below NARROW it replaces the fields, below SHORT the chat button has a short
label, below TINY the list of sections is hidden.
"""
CHAT_SHORTCUT = QKeySequence("Ctrl+Return")


class PersonaPage(PersonaEditor):
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
        speech: SpeechOutput,
        persona_id: str = "",
        *,
        is_user: bool = False,
    ) -> None:
        """Create the page; without an id for a new persona, with the id of a test copy for the draft it was made from."""
        super().__init__(context, draft_file, is_user=is_user)
        self._library, self._preferences = services.library, services.preferences
        self.external_changes = ExternalChanges(self, services.library)
        self.persona_actions = PersonaActions(self, services, deletion, export_persona, self.external_changes)
        self.preview_updater = PersonaPreviewUpdater(self, services.prompt_inspector, services.models, services.preferences)
        self._build()
        if not is_user:
            self.voices = VoiceChoices(self, self.sheet, (VOICE,), lambda name: str(self.draft.values[name]), context, speech)
            self.loaded.connect(self.voices.show_stored_values)
        self.guard_undo(self)
        self._unsubscribers: list[Callable[[], None]] = [
            services.models.changed.add(lambda _state: self.preview_updater.schedule_update()),
            services.preferences.changed.add(lambda _settings: self.preview_updater.schedule_update()),
        ]
        self.sheet.avatar.pick_requested.connect(self.persona_actions.pick_picture)
        self.draft_changed.connect(self.show_draft_state)
        self.loaded.connect(self.preview_updater.update_now)
        self.saving.connect(self._move_focus)
        self.show_draft_state()
        context.tasks.start_task(PersonaLoader(self, services, self.persona_actions).load_page(persona_id))

    # building

    def _build(self) -> None:
        self.advanced_chip = build_advanced_chip("persona", self._preferences, self.context.tasks)
        self.advanced_chip.toggled.connect(self.sheet.show_advanced)
        self.sheet.show_advanced(self.advanced_chip.isChecked())
        self._buttons.addWidget(self.advanced_chip)
        self.advanced_chip.setVisible(not self.is_user)
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
        button = IconButton(self.theme, icon_name, text, colour=attrgetter("text"))
        self._buttons.addWidget(button)
        return button

    def show_draft_state(self) -> None:
        """Update title, buttons and previews for the state of the draft."""
        name = self.persona_name
        new_title = self.tr("New user persona") if self.is_user else self.tr("New persona")
        self.title.set_full_text(name or new_title)
        accessible_name = self.tr("Edit {name}").format(name=name) if name else new_title
        if self.accessibleName() != accessible_name:
            self.setAccessibleName(accessible_name)
            self.name_changed.emit()
        is_dirty = self.is_dirty or self.sheet.is_unfinished
        unsaved_text = self.tr("not saved") if self.saved is None else self.tr("unsaved changes")
        self.subtitle.set_full_text(unsaved_text if is_dirty else "")
        self._save_button.setEnabled(self.is_loaded and (is_dirty or self.saved is None))
        self._chat_button.setEnabled(self.is_loaded)
        self._update_save_icon()
        self._update_chat_button()
        if name:
            self.sheet.show_error("name", "")
        self._update_advanced_chip()
        self.show_picture()
        self.preview_updater.schedule_update()

    def _update_chat_button(self) -> None:
        is_draft = self.is_dirty or self.saved is None
        full_label = self.tr("Chat with draft") if is_draft else self.tr("Chat")
        self._chat_button.setText(full_label if self._width_in_lines() >= LONG_LABEL_MIN_LINES else self.tr("Chat"))
        self._chat_button.setToolTip(f"{full_label}  {CHAT_SHORTCUT.toString(QKeySequence.SequenceFormat.NativeText)}")

    def _update_advanced_chip(self) -> None:
        """Show how many advanced fields are filled in, so that nothing of a card is hidden without a word."""
        filled = [field_title(name) for name in self.sheet.advanced_names if self.draft.is_filled(name)]
        self.advanced_chip.setText(self.tr("Advanced ({n})").format(n=len(filled)) if filled else self.tr("Advanced"))
        tooltip = self.tr("Show options that few people need to change")
        self.advanced_chip.setToolTip(
            self.tr("{text}. Filled in: {names}").format(text=tooltip, names=", ".join(filled)) if filled else tooltip
        )

    def _update_save_icon(self) -> None:
        """Set the icon's colour, because a disabled button has a different background."""
        colour = text_colour_on_accent(self.theme.palette) if self._save_button.isEnabled() else self.theme.palette.muted
        self._save_button.setIcon(load_button_icon("save", colour))

    def show_picture(self) -> None:
        """Show the draft's avatar."""
        persona_id, avatar_name = self.saved.unique_name if self.saved else self.persona_name, str(self.draft.values[AVATAR])
        path = self._library.avatar(Persona(name="?", avatar=avatar_name)) if avatar_name else None
        pixmap = self.pictures.render_avatar(
            avatar_name, path, (persona_id, self.persona_name), self.theme.palette, self.devicePixelRatioF()
        )
        text = self.tr("Avatar of {name}").format(name=self.persona_name) if avatar_name else self.tr("No avatar")
        self.sheet.avatar.show_avatar(pixmap, text, is_custom=bool(avatar_name))

    # saving and leaving

    def _start_saving(self) -> None:
        self.sheet.apply_unfinished()
        if self._save_button.isEnabled():
            self.context.tasks.start_task(self._save_ignoring_result())

    async def _save_ignoring_result(self) -> None:
        await self.persona_actions.save_persona()

    def _move_focus(self) -> None:
        """Move the focus off the save button, which is about to be disabled."""
        if self._save_button.hasFocus():
            self._chat_button.setFocus()

    async def confirm_leave(self) -> bool:
        self.sheet.apply_unfinished()
        if self._is_discarded or not self.is_loaded or not self.is_dirty:
            return True
        dialog = UnsavedChangesDialog(self.context.dialog_parent, self.title.accessibleName())
        await run_dialog(dialog)
        if dialog.choice is UserDecision.SAVE:
            return await self.persona_actions.save_persona()
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
        super().close_page()
        self.store_draft()

    # Qt events.

    def apply_theme(self) -> None:
        super().apply_theme()
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


def create_page(environment: PageEnvironment, route: PersonaRoute) -> PersonaPage:
    """Create the page with the services that it calls."""
    services = environment.services
    group = PersonaEditorServices(
        services.library,
        services.preferences,
        services.sessions,
        services.session_editing,
        services.draft_chat,
        services.prompt_inspector,
        services.models,
        services.tool_registry,
        services.background_runner,
    )
    return PersonaPage(
        environment.context,
        group,
        environment.create_persona_deletion(),
        environment.export_persona,
        services.paths.window,
        environment.speech_output,
        route.persona_id,
        is_user=route.is_user,
    )
