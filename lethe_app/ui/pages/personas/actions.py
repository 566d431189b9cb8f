"""Actions of the persona editor: save, chat, choose an avatar, duplicate, revert, export and delete."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from lethe_app.domain.bundle import BundleScope
from lethe_app.domain.persona import Persona
from lethe_app.ui.core.avatars import IMAGE_EXTENSIONS
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.routes import PersonaRoute
from lethe_app.ui.dialogs.dialogs import QuestionDialog, create_dialog_button, run_dialog
from lethe_app.ui.dialogs.image_crop import CropDialog
from lethe_app.ui.pages.personas.fields import AVATAR
from lethe_app.ui.pages.personas.pictures import PENDING_PREFIX, read_picture

if TYPE_CHECKING:
    from lethe_app.services.personas.draft_chat import DeletedDraftTest
    from lethe_app.ui.pages.personas.deletion import PersonaDeletion
    from lethe_app.ui.pages.personas.editor import PersonaEditor
    from lethe_app.ui.pages.personas.external_changes import ExternalChanges
    from lethe_app.ui.pages.personas.services import PersonaEditorServices


PersonaExport = Callable[[str, BundleScope], Awaitable[None]]
"""Coroutine function that asks for the scope and the target file, and exports the persona of an id."""


class PersonaActions(QObject):
    """Actions of one editor page. Its menu is rebuilt each time it opens, so that only applicable actions are enabled."""

    def __init__(
        self,
        page: PersonaEditor,
        services: PersonaEditorServices,
        deletion: PersonaDeletion,
        export_persona: PersonaExport,
        external_changes: ExternalChanges,
    ) -> None:
        super().__init__(page)
        self._page, self._context, self._services = page, page.context, services
        self._deletion, self._export, self._external_changes = deletion, export_persona, external_changes
        self._copy_id = ""
        self._chat_lock = asyncio.Lock()
        self._deleted_copy_id = ""
        """Unique name of a test copy that was deleted while its conversation was open below the editor."""
        self.shipped: Persona | None = None
        """The persona as shipped with Lethe; None for a persona of the user."""
        self.menu = QMenu(page)
        self.menu.setToolTipsVisible(True)  # which say why an action is not available
        self.menu.aboutToShow.connect(self.fill_menu)

    def fill_menu(self) -> None:
        page, colour = self._page, self._page.theme.palette.muted
        saved = page.saved
        page.sheet.apply_unfinished()
        self.menu.clear()
        duplicate = self.menu.addAction(load_icon("copy", colour), self.tr("Duplicate"), self.duplicate_persona)
        _set_available(duplicate, bool(page.persona_name), self.tr("A persona needs a name first"))
        revert = self.menu.addAction(load_icon("undo", colour), self.tr("Revert to saved"), self.revert_to_saved)
        _set_available(revert, saved is not None and page.is_dirty, self.tr("There are no unsaved changes"))
        if self.shipped is not None:
            reset = self.menu.addAction(load_icon("refresh", colour), self.tr("Reset to default"), self.reset_to_default)
            is_changed = not page.draft.is_equivalent_to(self.shipped)
            _set_available(reset, is_changed, self.tr("The built-in persona has not been changed"))
        if page.is_user:
            self.menu.addAction(load_icon("user", colour), self.tr("Use this persona"), self.use_as_user_persona)
        else:
            self.menu.addSeparator()
            unsaved = self.tr("The persona has not been saved yet")
            export = self.menu.addAction(load_icon("export", colour), self.tr("Export…"))
            export_with_history = self.menu.addAction(load_icon("folder", colour), self.tr("Export with history…"))
            for action, scope in ((export, BundleScope.PERSONA), (export_with_history, BundleScope.EVERYTHING)):
                _set_available(action, saved is not None, unsaved)
                action.triggered.connect(lambda _checked=False, scope=scope: self.export_persona(scope))
        self.menu.addSeparator()
        delete = self.menu.addAction(load_icon("trash", colour), self.tr("Delete…"), self.delete_persona)
        _set_available(delete, saved is not None, self.tr("The persona has not been saved yet"))

    # saving

    async def save_persona(self) -> bool:
        """Save the draft; return False and mark the field if it is not valid."""
        page = self._page
        page.sheet.apply_unfinished()
        if not page.persona_name:
            page.sheet.show_error("name", self.tr("Name is required."))
            page.sheet.reveal_field("name")
            return False
        page.saving.emit()
        async with page.save_lock:  # of two requests at once the second finds everything done
            if page.is_dirty or page.saved is None:
                await self._external_changes.merge_changes()
                page.adopt_saved(await self.save_draft())
                self._external_changes.mark_saved()
        return True

    async def save_draft(self) -> Persona:
        """Write the draft to the user's folder and return the saved persona; the first user persona is put into use at once.

        A shipped persona without changes needs no file of the user's, so that file is moved to the trash.
        """
        draft, library = await self._finish_draft(), self._services.library
        if draft == self.shipped:
            if library.is_own(draft.unique_name):
                await library.delete_persona(draft.unique_name)
            saved = draft
        else:
            saved = await library.save_persona(draft, trash_existing=self._external_changes.is_contested)
        if (before := self._page.saved) is not None and not saved.is_user:
            await self._services.session_editing.replace_greeting(before, saved)
        preferences = self._services.preferences
        if saved.is_user and not preferences.current.user_persona:
            await preferences.set(user_persona=saved.unique_name)
        unreadable_text = self.tr("The previous file could not be read and is now in the Trash.")
        text = unreadable_text if self._external_changes.is_broken else ""
        self._context.notifier.notify(self.tr("{name} was saved.").format(name=saved.name), text)
        return saved

    async def _finish_draft(self) -> Persona:
        """Return the draft with a newly chosen avatar saved as a file."""
        page = self._page
        draft = page.draft.build_persona(self.tr("Unnamed"))
        if draft.avatar.startswith(PENDING_PREFIX):
            content = page.pictures.content(draft.avatar)
            file = page.pictures.file_of(draft.avatar) or await self._services.library.save_picture(draft.name, content or b"")
            page.pictures.mark_saved(draft.avatar, file)
            draft = draft.model_copy(update={"avatar": file})
        return draft

    # Chatting.

    def start_chat(self) -> None:
        self._context.tasks.start_task(self._start_chat_once())

    async def _start_chat_once(self) -> None:
        # A second click must not start another conversation while the first is being created.
        if not self._chat_lock.locked():
            async with self._chat_lock:
                await self._start_chat()

    async def _start_chat(self) -> None:
        """Start a conversation with the persona, or with a test copy if the draft has unsaved changes."""
        page = self._page
        page.sheet.apply_unfinished()
        if page.saved is not None and not page.is_dirty:
            session = await self._services.sessions.new(page.saved.unique_name)
            self._context.open_session(session.guid, None)
            return
        draft = await self._finish_draft()
        session = await self._services.draft_chat.start_session(draft, self.tr("Draft"), self._copy_id)
        page.discard_unsaved()
        self._context.open_session(session.guid, None)
        self._context.notifier.notify(
            self.tr("You are chatting with the draft."),
            self.tr("The draft is a copy with its own memory."),
            self.tr("Back to editor"),
            partial(self._context.navigator.open, PersonaRoute(session.persona_id)),
        )

    def show_copy(self, copy_id: str) -> None:
        """Show a banner about the test copy of the draft, with buttons to keep or delete it."""
        self._copy_id = copy_id
        self._page.banner.show_message(
            self.tr("This is the draft you chatted with. Its test copy is still in the persona list."),
            (self.tr("Keep copy"), lambda: self._context.tasks.start_task(self._keep_copy())),
            (self.tr("Delete copy"), lambda: self._context.tasks.start_task(self._delete_copy())),
        )

    async def _keep_copy(self) -> None:
        await self._services.draft_chat.keep_copy(self._copy_id)
        self._copy_id = ""

    async def _delete_copy(self) -> None:
        copy_id, self._copy_id = self._copy_id, ""
        dismissal = await self._services.draft_chat.delete_copy(copy_id)
        self._deleted_copy_id = copy_id
        self._context.notifier.notify(
            self.tr("The copy and its conversation were deleted."),
            button=self.tr("Undo"),
            action=partial(self._restore_copy, dismissal),
        )

    def _restore_copy(self, dismissal: DeletedDraftTest) -> None:
        self._deleted_copy_id = ""
        self._context.tasks.start_task(self._services.draft_chat.restore_copy(dismissal))

    # the picture

    def pick_picture(self) -> None:
        self._context.tasks.start_task(self._pick_and_crop(), key="picture")

    async def _pick_and_crop(self) -> None:
        name_filter = f"{self.tr('Images')} ({' '.join(f'*.{ending}' for ending in IMAGE_EXTENSIONS)})"
        dialog = QFileDialog(self._context.dialog_parent, self.tr("Choose image"), str(Path.home()), name_filter)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        if await run_dialog(dialog):
            await self.crop_picture(Path(dialog.selectedFiles()[0]))
        self._page.sheet.avatar.setFocus()

    async def crop_picture(self, path: Path) -> None:
        """Let the user crop the image in `path` and use it as avatar; raise FileError if it cannot be read."""
        image = await asyncio.to_thread(read_picture, path)
        dialog = CropDialog(self._context.dialog_parent, image, self._page.theme)
        if await run_dialog(dialog):
            self._page.change_field(AVATAR, self._page.pictures.add_picture(dialog.content))

    # Duplicating, reverting, exporting and deleting.

    def duplicate_persona(self) -> None:
        self._context.tasks.start_task(self._save_and_open_copy())

    async def _save_and_open_copy(self) -> None:
        """Save a copy of the draft, including unsaved changes, and open it."""
        draft = await self._finish_draft()
        name = self.tr("{name} (copy)").format(name=draft.name)
        copy = await self._services.library.save_persona(draft.model_copy(update={"unique_name": "", "name": name}))
        self._context.navigator.open(PersonaRoute(copy.unique_name, copy.is_user))

    def revert_to_saved(self) -> None:
        if self._page.saved is not None:
            self._page.replace_fields(self._page.saved, self.tr("reverting to saved"))

    def reset_to_default(self) -> None:
        if self.shipped is not None:
            self._page.replace_fields(self.shipped, self.tr("resetting to default"))

    def use_as_user_persona(self) -> None:
        self._context.tasks.start_task(self._save_and_use())

    async def _save_and_use(self) -> None:
        if self._page.is_dirty and not await self.save_persona():
            return
        if self._page.saved is not None:
            await self._services.preferences.set(user_persona=self._page.saved.unique_name)

    def export_persona(self, scope: BundleScope) -> None:
        """Export the persona as a bundle, after saving the draft."""
        self._context.tasks.start_task(self._save_and_export(scope), key="export")

    async def _save_and_export(self, scope: BundleScope) -> None:
        if self._page.is_dirty and not await self.save_persona():
            return
        if self._page.saved is not None:
            await self._export(self._page.saved.unique_name, scope)

    def delete_persona(self) -> None:
        if self._page.saved is not None:
            self._context.tasks.start_task(self._confirm_and_delete(self._page.saved), key="delete")

    async def _confirm_and_delete(self, persona: Persona) -> None:
        deletion = self._deletion
        if await deletion.confirm_deletion(persona):
            self._page.discard_unsaved()
            await deletion.delete_persona(persona)
            self._page.back_requested.emit()

    def close(self) -> None:
        """Open another conversation if that of a deleted test copy would become visible."""
        session, saved = self._context.current_session(), self._page.saved
        if self._deleted_copy_id and session is not None and session.persona_id == self._deleted_copy_id:
            preferred_id = saved.unique_name if saved is not None else ""
            self._context.tasks.start_task(self._deletion.open_other_session(self._deleted_copy_id, preferred_id))


def _set_available(action: QAction, is_available: bool, reason: str) -> None:
    """Enable an action, or disable it with the reason as tooltip."""
    action.setEnabled(is_available)
    action.setToolTip("" if is_available else reason)


class UserDecision(StrEnum):
    """Answer to the question about unsaved changes."""

    SAVE = "save"
    DISCARD = "discard"
    STAY = "stay"


class UnsavedChangesDialog(QuestionDialog):
    """Dialog about unsaved changes; Enter saves, Esc keeps editing."""

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent, QCoreApplication.translate("UnsavedChangesDialog", "Save changes?"), "")
        self.choice = UserDecision.STAY
        self.add_paragraph(self.tr("“{name}” has unsaved changes.").format(name=name))
        self.save_button, self.stay_button = self.primary, self.cancel
        self.save_button.setText(self.tr("Save"))
        self.stay_button.setText(self.tr("Keep editing"))
        self.discard_button = create_dialog_button(self.tr("Discard changes"), "filled", self._discard)
        self.buttons.insertWidget(0, self.discard_button)
        self.save_button.setFocus()

    def accept(self) -> None:
        if self.choice is UserDecision.STAY:
            self.choice = UserDecision.SAVE
        super().accept()

    def _discard(self) -> None:
        self.choice = UserDecision.DISCARD
        self.accept()
