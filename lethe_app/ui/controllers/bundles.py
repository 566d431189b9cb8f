"""Import and export of persona bundles: by menu, by a file dropped on the window, or by a double-clicked file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QFileSystemWatcher, QObject, QStandardPaths, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QDropEvent
from PySide6.QtWidgets import QFileDialog

from lethe_app.domain.bundle import ENDING, BundleScope
from lethe_app.services.maintenance import single_instance
from lethe_app.ui.core.avatars import avatar
from lethe_app.ui.dialogs.bundle_parts import FACE, Waiting, bytes_in_words, watched
from lethe_app.ui.dialogs.dialogs import answered

if TYPE_CHECKING:
    from lethe_app.domain.persona import Persona
    from lethe_app.services.personas.bundles import Received
    from lethe_app.ui.pages.context import PageContext

DROPS = {QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop}
"""Events of a drag that the event filter handles."""


class BundleController(QObject):
    """Imports bundles, once per window. Files are imported one after the other, so that only one dialog is open at a time."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.window)
        self._place, self._paths = place, place.services.paths
        self._one_at_a_time = asyncio.Lock()
        place.window.actions_.connect(meet=lambda: place.bridge.spawn(self._choose(), lane="meet"))
        text = place.window.chat.composer.text
        place.window.setAcceptDrops(True)
        for part in (place.window, text, text.viewport()):  # the writing field would else write the file's address
            part.installEventFilter(self)
        self._forget: Callable[[], None] = place.services.preferences.changed.add(lambda _settings: self._look())
        with suppress(OSError):  # a home that cannot be written was told of already
            self._paths.inbox.mkdir(parents=True, exist_ok=True)
        # Another start of the program hands over files and requests as notes in this folder.
        self._watcher = QFileSystemWatcher([str(self._paths.inbox)], self)
        self._watcher.directoryChanged.connect(self._look)
        # Notes may have arrived before the folder was watched.
        QTimer.singleShot(0, self, self._look)

    def close(self) -> None:
        """Disconnect from settings and inbox, and stop filtering the window's events."""
        self._forget()
        self._watcher.directoryChanged.disconnect(self._look)
        self._place.window.removeEventFilter(self)

    def meet(self, file: Path) -> None:
        """Start the import of the bundle `file`; the user is asked first."""
        self._place.bridge.spawn(self._meet(file))

    def _look(self) -> None:
        """Process requests of other starts of the program: bring the window to the front and import files that were handed
        over. Files wait until the welcome screen of the first start is finished.
        """
        if single_instance.was_called(self._paths):
            self._place.window.come_forward()
        if self._place.services.preferences.current.welcomed:
            for file in single_instance.take(self._paths):
                self._place.window.come_forward()
                self.meet(file)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Accept drags that contain bundles, and import the bundles that are dropped."""
        if event.type() in DROPS and isinstance(event, QDropEvent):
            files = bundles_in(event)
            if files:
                event.acceptProposedAction()
                for file in files if event.type() == QEvent.Type.Drop else []:
                    self.meet(file)
                return True
        return False

    async def _choose(self) -> None:
        tr = QCoreApplication.translate
        kinds = tr("BundleDesk", "Personas (*{ending})").format(ending=ENDING)
        dialog = QFileDialog(self._place.window, tr("BundleDesk", "Import character"), downloads(), kinds)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        if await answered(dialog):
            for name in dialog.selectedFiles():
                self.meet(Path(name))

    async def _meet(self, file: Path) -> None:
        from lethe_app.ui.dialogs.bundle_import import MeetingDialog  # noqa: PLC0415 - rarely needed

        place, bundles = self._place, self._place.services.bundles
        async with self._one_at_a_time:
            looking = Waiting(place.window, self.tr("Reading “{file}”…").format(file=file.name))
            bundle = await watched(looking, place.luggage, lambda told: bundles.look(file, told))
            if bundle is None:
                return
            dialog = MeetingDialog(place.window, place.theme, bundle, await bundles.name_for(bundle))
            if not await answered(dialog):
                return
            name = dialog.name.text()
            moving = Waiting(place.window, self.tr("Importing {name}…").format(name=name))
            received = await watched(moving, place.luggage, lambda told: bundles.receive(bundle, name, told))
        if received is not None:
            await self._welcome(received, is_awaited=not moving.is_aside)

    async def _welcome(self, received: Received, *, is_awaited: bool) -> None:
        """Open a session with the imported persona, unless the user did not wait for the import or it is a user persona;
        show a notification with Undo.
        """
        place, persona = self._place, received.persona
        if is_awaited and not persona.is_user:
            place.go_to((await place.services.sessions.resume(persona.unique_name)).guid, None)
        place.window.notifier.tell(
            self.tr("{name} was imported.").format(name=persona.name),
            button=self.tr("Undo"),
            action=partial(self._undo, received),
        )

    def _undo(self, received: Received) -> None:
        self._place.bridge.spawn(self._take_back(received))

    async def _take_back(self, received: Received) -> None:
        from lethe_app.ui.pages.personas.deletion import PersonaDeletion  # noqa: PLC0415 - rarely needed

        where, name = self._place.session(), received.persona.unique_name
        await self._place.services.bundles.revert_import(received)
        if where is not None and where.persona_id == name:
            await PersonaDeletion(self._place).show_another(name)


def bundles_in(event: QDropEvent) -> list[Path]:
    """Return the bundle files among the dragged URLs."""
    files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return [file for file in files if file.suffix.lower() == ENDING]


def downloads() -> str:
    """Return the path of the downloads folder, or of the home folder if there is none."""
    return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DownloadLocation) or str(Path.home())


async def give(place: PageContext, persona_id: str, scope: BundleScope) -> None:
    """Ask for scope and target file, then export a persona as a bundle."""
    from lethe_app.ui.dialogs.bundle_export import GivingDialog  # noqa: PLC0415 - rarely needed

    services, window = place.services, place.window
    offer = await services.bundles.offer(persona_id)
    name = offer.persona.name
    drawn = services.library.avatar(offer.persona)
    face = avatar(drawn, persona_id, name, FACE, place.theme.palette, window.devicePixelRatioF())
    dialog = GivingDialog(window, place.theme, offer, face, scope)
    if not await answered(dialog):
        return
    chosen, target = dialog.scope, await asked_where(place, name)
    if target is not None:  # on its own: whoever gives another one away meanwhile does not end this
        place.bridge.spawn(pack(place, offer.persona, chosen, target))


async def pack(place: PageContext, persona: Persona, scope: BundleScope, target: Path) -> None:
    """Write the bundle of a persona, and show a notification with its size and folder. The user can cancel it."""
    tr, window, bundles, name = QCoreApplication.translate, place.window, place.services.bundles, persona.name
    packing = Waiting(window, tr("BundleDesk", "Exporting {name}…").format(name=name))
    file = await watched(packing, place.luggage, lambda told: bundles.export(persona.unique_name, scope, target, told))
    if file is not None:
        folder = QUrl.fromLocalFile(str(file.parent))
        size = await asyncio.to_thread(lambda: file.stat().st_size)
        window.notifier.tell(
            tr("BundleDesk", "{name} was exported to “{file}”.").format(name=name, file=file.name),
            bytes_in_words(size),
            tr("BundleDesk", "Show in folder"),
            partial(show, folder),
        )


def show(folder: QUrl) -> None:
    """Open a folder in the system's file manager."""
    QDesktopServices.openUrl(folder)


async def asked_where(place: PageContext, name: str) -> Path | None:
    """Ask for the target file of an export; None if the user cancels. In the suggested file name, other characters than
    letters, digits, spaces and - _ ' are replaced.
    """
    tr = QCoreApplication.translate
    plain = "".join(letter if letter.isalnum() or letter in " -_'" else "-" for letter in name).strip(" -") or "Persona"
    kinds = tr("BundleDesk", "Personas (*{ending})").format(ending=ENDING)
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation) or str(Path.home())
    title = tr("BundleDesk", "Export {name}").format(name=name)
    dialog = QFileDialog(place.window, title, str(Path(folder) / f"{plain[:80]}{ENDING}"), kinds)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(ENDING.removeprefix("."))
    dialog.selectFile(f"{plain[:80]}{ENDING}")
    return Path(dialog.selectedFiles()[0]) if await answered(dialog) else None
