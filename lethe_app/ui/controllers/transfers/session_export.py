"""Export of one conversation as Markdown or as a chat of SillyTavern."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, QStandardPaths
from PySide6.QtWidgets import QFileDialog

from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.formatting import suggest_file_name, truncate_text
from lethe_app.ui.dialogs.dialogs import run_dialog

if TYPE_CHECKING:
    from lethe_app.services.personas.card_export import CardExport
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.notifier import Notifier
    from lethe_app.ui.shell.sidebar import Sidebar


class SessionExporter(QObject):
    """Asks for the file and writes the conversation."""

    def __init__(
        self, sidebar: Sidebar, notifier: Notifier, get_card_export: Callable[[], CardExport], tasks: TaskRunner
    ) -> None:
        """Set up the exporter. `get_card_export` is called when it is needed, because the service takes long to load."""
        super().__init__(sidebar)
        self._sidebar, self._notifier = sidebar, notifier
        self._get_card_export, self._tasks = get_card_export, tasks
        sidebar.export_session_requested.connect(self.export_session)

    def export_session(self, guid: str, title: str) -> None:
        """Ask for the file, then write the conversation."""
        self._tasks.start_task(self._ask_and_write(UUID(guid), title), key="export session")

    async def _ask_and_write(self, session_id: UUID, title: str) -> None:
        file_name = f"{suggest_file_name(title, self.tr('Conversation'))}.md"
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation) or str(Path.home())
        filters = [self.tr("Markdown (*.md)"), self.tr("Chat of SillyTavern (*.jsonl)")]
        place, caption = str(Path(folder) / file_name), self.tr("Export conversation")
        dialog = QFileDialog(self._sidebar.window(), caption, place, ";;".join(filters))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("md")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(chosen.rpartition("*.")[2].rstrip(")")))
        dialog.selectFile(file_name)
        if await run_dialog(dialog):
            await self.write_session(session_id, title, Path(dialog.selectedFiles()[0]))

    async def write_session(self, session_id: UUID, title: str, target: Path) -> None:
        """Write the conversation, and show a notification."""
        file = await self._get_card_export().export_conversation(session_id, target)
        self._notifier.notify(
            self.tr("“{title}” was exported to “{file}”.").format(title=truncate_text(title), file=file.name),
            button=self.tr("Show in folder"),
            action=partial(open_folder, file.parent),
        )
