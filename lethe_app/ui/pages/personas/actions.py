"""Actions of the persona editor: save, chat, choose an avatar, duplicate, revert, export and delete."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from lethe_app.domain.bundle import BundleScope
from lethe_app.domain.persona import Persona
from lethe_app.ui.core.icons import icon
from lethe_app.ui.dialogs.dialogs import QuestionDialog, answered, foot_button
from lethe_app.ui.pages.personas.fields import AVATAR
from lethe_app.ui.pages.personas.pictures import ENDINGS, PENDING, read_picture
from lethe_app.ui.widgets.image_crop import CropDialog

if TYPE_CHECKING:
    from lethe_app.services.personas.draft_chat import Dismissal
    from lethe_app.ui.pages.personas.page import PersonaPage


class PersonaActions(QObject):
    """Actions of one editor page. Its menu is rebuilt each time it opens, so that only applicable actions are enabled."""

    def __init__(self, page: PersonaPage) -> None:
        super().__init__(page)
        self._page, self._place = page, page.place
        self._services = page.place.services
        self._copy = ""
        self._talking = asyncio.Lock()
        self._gone = ""
        """Unique name of a test copy that was deleted while its conversation was open below the editor."""
        self.ours: Persona | None = None
        """The persona as shipped with Lethe; None for a persona of the user."""
        self.menu = QMenu(page)
        self.menu.aboutToShow.connect(self.fill_menu)

    def fill_menu(self) -> None:
        page, colour = self._page, self._page.theme.palette.muted
        saved = page.saved
        page.sheet.finish()
        self.menu.clear()
        duplicate = self.menu.addAction(icon("copy", colour), self.tr("Duplicate"), self.duplicate)
        duplicate.setEnabled(bool(page.name))
        revert = self.menu.addAction(icon("undo", colour), self.tr("Revert to saved"), self.revert)
        revert.setEnabled(saved is not None and page.is_dirty)
        if self.ours is not None:
            ours = self.menu.addAction(icon("refresh", colour), self.tr("Reset to default"), self.revert_to_ours)
            ours.setEnabled(not page.draft.is_like(self.ours))
        if page.is_user:
            self.menu.addAction(icon("user", colour), self.tr("Use this persona"), self.choose)
        else:
            self.menu.addSeparator()
            away = self.menu.addAction(icon("export", colour), self.tr("Export…"))
            along = self.menu.addAction(icon("folder", colour), self.tr("Export with history…"))
            for action, scope in ((away, BundleScope.PERSONA), (along, BundleScope.EVERYTHING)):
                action.setEnabled(saved is not None)
                action.triggered.connect(lambda _checked=False, scope=scope: self.give(scope))
        self.menu.addSeparator()
        delete = self.menu.addAction(icon("trash", colour), self.tr("Delete…"), self.delete)
        delete.setEnabled(saved is not None and self.ours is None)

    # saving

    async def save_draft(self) -> Persona:
        """Write the draft to the user's folder and return the saved persona; the first user persona is put into use at once.

        A shipped persona without changes needs no file of the user's, so that file is moved to the trash.
        """
        draft, library = await self._complete(), self._services.library
        if draft == self.ours:
            if library.is_own(draft.unique_name):
                await library.delete_persona(draft.unique_name)
            saved = draft
        else:
            saved = await library.save_persona(draft, keeps_other=self._page.meanwhile.is_contested)
        if (before := self._page.saved) is not None and not saved.is_user:
            await self._services.chronicle.greet_anew(before, saved)
        preferences = self._services.preferences
        if saved.is_user and not preferences.current.user_persona:
            await preferences.set(user_persona=saved.unique_name)
        lost = self.tr("The previous file could not be read and is now in the Trash.")
        words = lost if self._page.meanwhile.is_broken else ""
        self._place.window.notifier.tell(self.tr("{name} was saved.").format(name=saved.name), words)
        return saved

    async def _complete(self) -> Persona:
        """Return the draft with a newly chosen avatar saved as a file."""
        page = self._page
        draft = page.draft.persona(self.tr("Unnamed"))
        if draft.avatar.startswith(PENDING):
            content = page.pictures.content(draft.avatar)
            file = page.pictures.file_of(draft.avatar) or await self._services.library.save_picture(draft.name, content or b"")
            page.pictures.saved_as(draft.avatar, file)
            draft = draft.model_copy(update={"avatar": file})
        return draft

    # Chatting.

    def talk(self) -> None:
        self._place.bridge.spawn(self._talk_once())

    async def _talk_once(self) -> None:
        # A second click must not start another conversation while the first is being created.
        if not self._talking.locked():
            async with self._talking:
                await self._talk()

    async def _talk(self) -> None:
        """Start a conversation with the persona, or with a test copy if the draft has unsaved changes."""
        page = self._page
        page.sheet.finish()
        if page.saved is not None and not page.is_dirty:
            session = await self._services.sessions.new(page.saved.unique_name)
            self._place.go_to(session.guid, None)
            return
        draft = await self._complete()
        session = await self._services.rehearsing.start_session(draft, self.tr("Draft"), self._copy)
        page.discard_unsaved()
        self._place.go_to(session.guid, None)
        self._place.window.notifier.tell(
            self.tr("You are chatting with the draft."),
            self.tr("The draft is a copy with its own memory."),
            self.tr("Back to editor"),
            self._place.window.actions_["persona_editor"].trigger,
        )

    def show_copy(self, copy_id: str) -> None:
        """Show a banner about the test copy of the draft, with buttons to keep or delete it."""
        self._copy = copy_id
        self._page.banner.say(
            self.tr("This is the draft you chatted with. Its test copy is still in the persona list."),
            (self.tr("Keep copy"), lambda: self._place.bridge.spawn(self._keep_copy())),
            (self.tr("Delete copy"), lambda: self._place.bridge.spawn(self._dismiss())),
        )

    async def _keep_copy(self) -> None:
        await self._services.rehearsing.keep_copy(self._copy)
        self._copy = ""

    async def _dismiss(self) -> None:
        copy_id, self._copy = self._copy, ""
        dismissal = await self._services.rehearsing.dismiss(copy_id)
        self._gone = copy_id
        self._place.window.notifier.tell(
            self.tr("The copy and its conversation were deleted."),
            button=self.tr("Undo"),
            action=partial(self._take_copy_back, dismissal),
        )

    def _take_copy_back(self, dismissal: Dismissal) -> None:
        self._gone = ""
        self._place.bridge.spawn(self._services.rehearsing.undo_dismissal(dismissal))

    # the picture

    def pick_picture(self) -> None:
        self._place.bridge.spawn(self._pick(), lane="picture")

    async def _pick(self) -> None:
        kinds = f"{self.tr('Images')} ({' '.join(f'*.{ending}' for ending in ENDINGS)})"
        dialog = QFileDialog(self._place.window, self.tr("Choose image"), str(Path.home()), kinds)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        if await answered(dialog):
            await self.crop(Path(dialog.selectedFiles()[0]))
        self._page.sheet.avatar.setFocus()

    async def crop(self, path: Path) -> None:
        """Let the user crop the image in `path` and use it as avatar; raise FileError if it cannot be read."""
        image = await asyncio.to_thread(read_picture, path)
        dialog = CropDialog(self._place.window, image, self._page.theme)
        if await answered(dialog):
            self._page.change(AVATAR, self._page.pictures.add(dialog.content))

    # Duplicating, reverting, exporting and deleting.

    def duplicate(self) -> None:
        self._place.bridge.spawn(self._duplicate())

    async def _duplicate(self) -> None:
        """Save a copy of the draft, including unsaved changes, and open it."""
        from lethe_app.ui.pages.persona_routes import open_persona  # noqa: PLC0415 - which imports the page

        draft = await self._complete()
        name = self.tr("{name} (copy)").format(name=draft.name)
        copy = await self._services.library.save_persona(draft.model_copy(update={"unique_name": "", "name": name}))
        open_persona(self._place, copy.unique_name, is_user=copy.is_user)

    def revert(self) -> None:
        if self._page.saved is not None:
            self._page.take_over(self._page.saved, self.tr("reverting to saved"))

    def revert_to_ours(self) -> None:
        if self.ours is not None:
            self._page.take_over(self.ours, self.tr("resetting to default"))

    def choose(self) -> None:
        self._place.bridge.spawn(self._choose())

    async def _choose(self) -> None:
        if self._page.is_dirty and not await self._page.save():
            return
        if self._page.saved is not None:
            await self._services.preferences.set(user_persona=self._page.saved.unique_name)

    def give(self, scope: BundleScope) -> None:
        """Export the persona as a bundle, after saving the draft."""
        self._place.bridge.spawn(self._give(scope), lane="give")

    async def _give(self, scope: BundleScope) -> None:
        from lethe_app.ui.controllers.bundles import give  # noqa: PLC0415 - rarely needed

        if self._page.is_dirty and not await self._page.save():
            return
        if self._page.saved is not None:
            await give(self._place, self._page.saved.unique_name, scope)

    def delete(self) -> None:
        if self._page.saved is not None:
            self._place.bridge.spawn(self._delete(self._page.saved), lane="delete")

    async def _delete(self, persona: Persona) -> None:
        from lethe_app.ui.pages.personas.deletion import PersonaDeletion  # noqa: PLC0415 - rarely needed

        farewell = PersonaDeletion(self._place)
        if await farewell.ask(persona):
            self._page.discard_unsaved()
            await farewell.say(persona)
            self._page.left.emit()

    def close(self) -> None:
        """Open another conversation if that of a deleted test copy would become visible."""
        from lethe_app.ui.pages.personas.deletion import PersonaDeletion  # noqa: PLC0415 - rarely needed

        where, saved = self._place.session(), self._page.saved
        if self._gone and where is not None and where.persona_id == self._gone:
            instead = saved.unique_name if saved is not None else ""
            self._place.bridge.spawn(PersonaDeletion(self._place).show_another(self._gone, instead))


class UserDecision(StrEnum):
    """Answer to the question about unsaved changes."""

    SAVE = "save"
    DISCARD = "discard"
    STAY = "stay"


class Leaving(QuestionDialog):
    """Dialog about unsaved changes; Enter saves, Esc keeps editing."""

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent, QCoreApplication.translate("Leaving", "Save changes?"), "")
        self.choice = UserDecision.STAY
        self.say(self.tr("“{name}” has unsaved changes.").format(name=name))
        self.save, self.stay = self.primary, self.cancel
        self.save.setText(self.tr("Save"))
        self.stay.setText(self.tr("Keep editing"))
        self.discard = foot_button(self.tr("Discard changes"), "filled", self._discard)
        self.buttons.insertWidget(0, self.discard)
        self.save.setFocus()

    def accept(self) -> None:
        if self.choice is UserDecision.STAY:
            self.choice = UserDecision.SAVE
        super().accept()

    def _discard(self) -> None:
        self.choice = UserDecision.DISCARD
        self.accept()
