"""Common parts of the bundle dialogs: avatar, contents as text, button row and progress dialog."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget

from lethe_app.domain.bundle import BundleCounts
from lethe_app.ui.core.file_transfers import FileTransfers
from lethe_app.ui.core.formatting import format_count, format_memory_count, format_message_count
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import ContentDialog
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

T = TypeVar("T")
AVATAR_SIZE = 72
"""Diameter of the avatar, in pixels."""
SHOW_DELAY_MS = 400
"""Milliseconds before the progress dialog is shown; shorter work needs none."""


def describe_contents(contents: BundleCounts) -> list[str]:
    """Return texts such as “2 worlds”, “3 memories” and “5 conversations with 212 messages”; kinds without records are
    omitted.
    """
    tr = QCoreApplication.translate
    talks = format_count(contents.conversations, tr("Bundle", "{n} conversation"), tr("Bundle", "{n} conversations"))
    messages, notebooks = format_message_count(contents.messages), (tr("Bundle", "{n} notebook"), tr("Bundle", "{n} notebooks"))
    parts = (
        (contents.worlds, format_count(contents.worlds, tr("Bundle", "{n} world"), tr("Bundle", "{n} worlds"))),
        (contents.memories, format_memory_count(contents.memories)),
        (contents.facts, format_count(contents.facts, tr("Bundle", "{n} fact"), tr("Bundle", "{n} facts"))),
        (contents.notebooks, format_count(contents.notebooks, *notebooks)),
        (contents.conversations, tr("Bundle", "{talks} with {messages}").format(talks=talks, messages=messages)),
    )
    return [text for count, text in parts if count]


class BundleDialog(ContentDialog):
    """Dialog of a readable width, with the persona's avatar beside its title."""

    width_in_characters = 60

    def add_header(self, avatar: QPixmap, title: str, subtitle: str) -> None:
        avatar_label = QLabel()
        avatar_label.setPixmap(avatar)
        avatar_label.setFixedSize(avatar.deviceIndependentSize().toSize())
        labels = [create_text_label(title, "title"), *([create_text_label(subtitle, "quiet")] if subtitle else [])]
        texts, top = build_column(1, *labels, 1, spacing=SPACE_2), Qt.AlignmentFlag.AlignTop
        self.column.addLayout(build_row((avatar_label, 0, top), (texts, 1), spacing=SPACE_4))


class TransferProgressDialog(BundleDialog):
    """Progress dialog of a running transfer, which can be cancelled, or sent to the background, where the task list shows
    it.
    """

    def __init__(self, parent: QWidget, title: str, *, can_cancel: bool = True) -> None:
        super().__init__(parent, title, QCoreApplication.translate("TransferProgressDialog", "Run in background"))
        self._can_cancel = can_cancel
        self.cancel.setVisible(can_cancel)
        self.is_cancelled = False
        self.is_in_background = False
        """True if the user sent the dialog to the background."""
        self.progress = 0.0
        headline = create_text_label(title, "title")
        self.progress_bar = QProgressBar()
        self.progress_bar.setRange(0, 100)
        self.progress_bar.setTextVisible(False)
        self.progress_bar.setAccessibleName(title)
        self.column.setSpacing(SPACE_3)
        self.column.addWidget(headline)
        self.column.addWidget(self.progress_bar)
        self.primary.setToolTip(self.tr("Continue in the background; progress is shown at the bottom of the sidebar"))
        self.primary.setAccessibleDescription(self.primary.toolTip())

    def accept(self) -> None:
        """Hide the dialog; the transfer stays in the task list."""
        self.is_in_background = True
        self.hide()

    def reject(self) -> None:
        """Cancel the transfer, or hide the dialog if that is not possible."""
        if self._can_cancel:
            super().reject()
        else:
            self.accept()

    def report_progress(self, fraction: float) -> None:
        self.progress = fraction
        self.progress_bar.setValue(round(100 * fraction))


async def run_with_progress(
    dialog: TransferProgressDialog, transfers: FileTransfers, work: Callable[[Callable[[float], None]], Awaitable[T]]
) -> T | None:
    """Return the result of `work`, with a progress dialog and an entry in the task list if it takes long; None if the user
    cancelled it.

    If the surrounding task is cancelled instead, the CancelledError is raised.
    """
    key = ""

    def on_progress(fraction: float) -> None:
        dialog.report_progress(fraction)
        transfers.report_progress(key, fraction)

    def stop() -> None:
        dialog.is_cancelled = not task.done()
        task.cancel()

    def show() -> None:
        nonlocal key
        key = transfers.add_transfer(dialog.windowTitle(), dialog.progress, stop)
        dialog.open()

    task = asyncio.ensure_future(work(on_progress))
    dialog.rejected.connect(stop)
    timer = QTimer(dialog)
    timer.setSingleShot(True)
    timer.timeout.connect(show)
    timer.start(SHOW_DELAY_MS)
    try:
        return await task
    except asyncio.CancelledError:
        if dialog.is_cancelled:
            return None
        raise
    finally:
        timer.stop()
        transfers.remove_transfer(key)
        dialog.rejected.disconnect(stop)
        dialog.close()
        dialog.deleteLater()
