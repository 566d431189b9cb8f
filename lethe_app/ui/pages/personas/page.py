"""Page of the persona editor: fields with token counts, prompt preview, and chat with the draft."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from operator import attrgetter
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QMenu, QToolButton

from lethe_app.domain.bundle import BundleScope
from lethe_app.domain.persona import Persona
from lethe_app.services.speech.output import SpeechOutput
from lethe_app.ui.core.avatars import IMAGE_EXTENSIONS, render_avatar, render_portrait
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.routes import PersonaRoute
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.dialogs.files import ask_for_file, build_name_filter
from lethe_app.ui.dialogs.image_crop import CropDialog
from lethe_app.ui.pages.advanced_chip import build_advanced_chip
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.personas.deletion import PersonaDeletion
from lethe_app.ui.pages.personas.editor import PersonaEditor, PersonaEditorServices
from lethe_app.ui.pages.personas.fields import AVATAR, VOICE, field_title
from lethe_app.ui.pages.personas.pictures import AVATAR_SIZE, PENDING_PREFIX, read_picture
from lethe_app.ui.pages.personas.preview import PersonaPreview
from lethe_app.ui.pages.voice_choices import VoiceChoices
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.layouts import build_row

PREVIEW_MIN_LINES, BOTH_MIN_LINES = 74, 60
"""Page widths as multiples of the line height: from which the preview is shown at first, and below which it replaces the
fields.
"""
CHAT_SHORTCUT = QKeySequence("Ctrl+Return")


PersonaExport = Callable[[str, BundleScope], Awaitable[None]]
"""Coroutine function that asks for the scope and the target file, and exports the persona of an id."""


class PersonaPage(PersonaEditor):
    """Editor page: fields with token counts, prompt preview, and what can be done with the persona."""

    def __init__(
        self,
        context: PageContext,
        services: PersonaEditorServices,
        persona_deletion: PersonaDeletion,
        export_persona: PersonaExport,
        draft_file: Path,
        speech_output: SpeechOutput,
        persona_id: str,
        *,
        is_user: bool,
    ) -> None:
        """Create the page; with an empty id for a new persona, with that of a test copy for the draft it was made from."""
        super().__init__(context, services, draft_file, is_user=is_user)
        self._deletion, self._export = persona_deletion, export_persona
        readers = (services.prompt_inspector, services.models, services.preferences)
        self.preview = PersonaPreview(context, *readers, self.sheet.form, self.build_draft, is_user=is_user)
        self.preview.update_timer.timeout.connect(self.store_draft)
        self.menu = QMenu(self)
        self.menu.setToolTipsVisible(True)  # which say why an action is not available
        self.menu.aboutToShow.connect(self.fill_menu)
        self._build()
        if not is_user:
            self.voices = VoiceChoices(
                self, self.sheet.form, (VOICE,), lambda name: str(self.draft.values[name]), context, speech_output
            )
            self.loaded.connect(self.voices.show_stored_values)
        self.guard_undo(self)
        self.sheet.avatar.pick_requested.connect(context.tasks.create_callback(self._pick_and_crop, key="picture"))
        self.draft_changed.connect(self.show_draft_state)
        self.loaded.connect(self.preview.update_now)
        self.show_draft_state()
        context.tasks.start_task(self.load_persona(persona_id))

    # building

    def _build(self) -> None:
        self.advanced_chip = build_advanced_chip("persona", self.services.preferences, self.context.tasks)
        self.advanced_chip.toggled.connect(self.sheet.show_advanced)
        self.sheet.show_advanced(self.advanced_chip.isChecked())
        self._buttons.addWidget(self.advanced_chip)
        self.advanced_chip.setVisible(not self.is_user)
        self._preview_button = self._add_tool_button("eye", self.tr("Show prompt preview"))
        self._preview_button.setCheckable(True)
        self._preview_button.clicked.connect(self._update_layout)
        self._is_arranged = False
        self._chat_button = self.add_button("", self.context.tasks.create_callback(self.start_chat), "send")
        self._chat_button.setVisible(not self.is_user)
        self._save_button = self.add_button(self.tr("Save"), self._start_saving, "save", primary=True)
        self._save_button.setToolTip(self.tr("Save  Ctrl+S"))
        more = self._add_tool_button("dots", self.tr("More"))
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setMenu(self.menu)
        for keys, slot in (
            (QKeySequence(QKeySequence.StandardKey.Save), self._start_saving),
            (CHAT_SHORTCUT, self._chat_button.click),
        ):
            shortcut = QShortcut(keys, self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)
        self.body.addWidget(self.banner)
        self.body.addLayout(build_row((self.sheet, 3), (self.preview, 2)), 1)

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
        label = self.tr("Chat with draft") if self.is_dirty or self.saved is None else self.tr("Chat")
        self._chat_button.setText(label)
        self._chat_button.setToolTip(f"{label}  {CHAT_SHORTCUT.toString(QKeySequence.SequenceFormat.NativeText)}")
        if name:
            self.sheet.form.show_error("name", "")
        self._update_advanced_chip()
        self.show_picture()
        self.preview.update_timer.start()

    def _update_advanced_chip(self) -> None:
        """Show how many advanced fields are filled in, so that nothing of a card is hidden without a word."""
        filled = [field_title(name) for name in self.sheet.advanced_names if self.draft.is_filled(name)]
        self.advanced_chip.setText(self.tr("Advanced ({n})").format(n=len(filled)) if filled else self.tr("Advanced"))
        tooltip = self.tr("Show options that few people need to change")
        self.advanced_chip.setToolTip(
            self.tr("{text}. Filled in: {names}").format(text=tooltip, names=", ".join(filled)) if filled else tooltip
        )

    def show_picture(self) -> None:
        """Show the draft's avatar."""
        persona_id, name = self.saved.unique_name if self.saved else self.persona_name, str(self.draft.values[AVATAR])
        avatar, look = self.new_avatars.get(name, name), (AVATAR_SIZE, self.theme.palette, self.devicePixelRatioF())
        if isinstance(avatar, bytes):
            pixmap = render_portrait(avatar, self.persona_name, *look)
        else:
            path = self.services.library.avatar(Persona(name="?", avatar=avatar))
            pixmap = render_avatar(path, persona_id, self.persona_name, *look)
        text = self.tr("Avatar of {name}").format(name=self.persona_name) if name else self.tr("No avatar")
        self.sheet.avatar.show_avatar(pixmap, text, is_custom=bool(name))

    # saving and leaving

    def _start_saving(self) -> None:
        self.sheet.apply_unfinished()
        if self._save_button.isEnabled():
            self.context.tasks.start_task(self._save())

    async def _save(self) -> None:
        if self._save_button.hasFocus():
            self._chat_button.setFocus()  # the other one is about to be disabled
        await self.save_persona()

    def close_page(self) -> None:
        """Open another conversation if that of a deleted test copy would become visible."""
        self.preview.close_preview()
        super().close_page()
        session, copy_id = self.context.current_session(), self.deleted_copy_id
        if copy_id and session is not None and session.persona_id == copy_id:
            preferred_id = self.saved.unique_name if self.saved is not None else ""
            self.context.tasks.start_task(self._deletion.open_other_session(copy_id, preferred_id))

    # the picture

    async def _pick_and_crop(self) -> None:
        images = build_name_filter(self.tr("Images"), IMAGE_EXTENSIONS)
        path = await ask_for_file(self.context.dialog_parent, self.tr("Choose image"), images)
        if path is not None:
            await self.crop_picture(path)
        self.sheet.avatar.setFocus()

    async def crop_picture(self, path: Path) -> None:
        """Let the user crop the image in `path` and use it as avatar; raise FileError if it cannot be read."""
        image = await asyncio.to_thread(read_picture, path)
        dialog = CropDialog(self.context.dialog_parent, image, self.theme)
        if await run_dialog(dialog):
            name = f"{PENDING_PREFIX}{len(self.new_avatars) + 1}"
            self.new_avatars[name] = dialog.content
            self.change_field(AVATAR, name)

    # menu

    def fill_menu(self) -> None:
        """Fill the menu anew, so that only actions that apply are enabled."""
        self.sheet.apply_unfinished()
        self.menu.clear()
        callback, is_saved = self.context.tasks.create_callback, self.saved is not None
        unsaved = self.tr("The persona has not been saved yet")
        nameless, unchanged = self.tr("A persona needs a name first"), self.tr("There are no unsaved changes")
        self._add_action("copy", self.tr("Duplicate"), callback(self._save_and_open_copy), bool(self.persona_name), nameless)
        revert = partial(self.replace_fields, self.saved, self.tr("reverting to saved"))
        self._add_action("undo", self.tr("Revert to saved"), revert, is_saved and self.is_dirty, unchanged)
        if self.shipped is not None:
            is_changed = not self.draft.is_equivalent_to(self.shipped)
            default = self.tr("The built-in persona has not been changed")
            reset = partial(self.replace_fields, self.shipped, self.tr("resetting to default"))
            self._add_action("refresh", self.tr("Reset to default"), reset, is_changed, default)
        if self.is_user:
            self._add_action("user", self.tr("Use this persona"), callback(self._save_and_use))
        else:
            self.menu.addSeparator()
            for icon, title, scope in (
                ("export", self.tr("Export…"), BundleScope.PERSONA),
                ("folder", self.tr("Export with history…"), BundleScope.EVERYTHING),
            ):
                self._add_action(icon, title, callback(self._save_and_export, scope, key="export"), is_saved, unsaved)
        self.menu.addSeparator()
        self._add_action("trash", self.tr("Delete…"), callback(self.delete_persona, key="delete"), is_saved, unsaved)

    def _add_action(
        self, icon_name: str, title: str, slot: Callable[[], object], is_available: bool = True, reason: str = ""
    ) -> None:
        """Add an action to the menu; if it is not available, with the reason as tooltip."""
        action = self.menu.addAction(load_icon(icon_name, self.theme.palette.muted), title, slot)
        action.setEnabled(is_available)
        action.setToolTip("" if is_available else reason)

    async def _save_and_open_copy(self) -> None:
        """Save a copy of the draft, including unsaved changes, and open it."""
        draft = await self.finish_draft()
        name = self.tr("{name} (copy)").format(name=draft.name)
        copy = await self.services.library.save_persona(draft.model_copy(update={"unique_name": "", "name": name}))
        self.context.navigator.open(PersonaRoute(copy.unique_name, copy.is_user))

    async def _save_changes(self) -> Persona | None:
        """Save the draft if it has unsaved changes, and return the saved persona; None if that is not possible."""
        return self.saved if not self.is_dirty or await self.save_persona() else None

    async def _save_and_use(self) -> None:
        if (saved := await self._save_changes()) is not None:
            await self.services.preferences.set(user_persona=saved.unique_name)

    async def _save_and_export(self, scope: BundleScope) -> None:
        """Export the persona as a bundle, after saving the draft."""
        if (saved := await self._save_changes()) is not None:
            await self._export(saved.unique_name, scope)

    async def delete_persona(self) -> None:
        """Delete the persona after confirmation, and leave the page."""
        if self.saved is not None and await self._deletion.confirm_deletion(self.saved):
            self.discard_unsaved()
            await self._deletion.delete_persona(self.saved)
            self.back_requested.emit()

    # Qt events.

    def apply_theme(self) -> None:
        super().apply_theme()
        self.sheet.avatar.apply_theme()
        self.show_picture()
        self._update_layout()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_layout()

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
        """Show preview and fields as far as the width allows."""
        shows_preview = self._preview_button.isChecked()
        self.preview.setVisible(shows_preview)
        self.sheet.setVisible(not shows_preview or self._width_in_lines() >= BOTH_MIN_LINES)


def create_page(environment: PageEnvironment, route: PersonaRoute) -> PersonaPage:
    """Create the page with the services that it calls."""
    services, draft_file = environment.create(PersonaEditorServices), environment.services.paths.window
    return environment.create(
        PersonaPage, services=services, draft_file=draft_file, persona_id=route.persona_id, is_user=route.is_user
    )
