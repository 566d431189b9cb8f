"""Common parts of the bundle dialogs: avatar, contents as text, button row and progress dialog."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from PySide6.QtCore import QBuffer, QByteArray, QCoreApplication, QIODevice, QLocale, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QImageReader, QPainter, QPainterPath, QPixmap, QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.bundle import Holds
from lethe_app.ui.controllers.file_transfers import FileTransfers
from lethe_app.ui.core.avatars import draw_letter
from lethe_app.ui.core.formatting import counted, memories_in_words, messages_in_words
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4, SPACE_6, Palette
from lethe_app.ui.dialogs.scrolling_dialog import Tall, fitting_height, room_for

T = TypeVar("T")
WIDTH = 60
"""Width of a dialog in average character widths."""
FACE = 72
"""Diameter of the avatar, in pixels."""
NOT_AT_ONCE = 400
"""Milliseconds before the progress dialog is shown; shorter work needs none."""


def portrait(content: bytes, name: str, side: int, palette: Palette, density: float) -> QPixmap:
    """Return a bundle's image as a disc of `side` logical pixels; the first letter of the name if there is none or it is
    unreadable.

    The image is decoded no larger than it is shown.
    """
    drawn = QPixmap(round(side * density), round(side * density))
    drawn.setDevicePixelRatio(density)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    if not (content and _draw(painter, content, side, density)):
        draw_letter(painter, name, name, side, palette)
    painter.end()
    return drawn


def _draw(painter: QPainter, content: bytes, side: int, density: float) -> bool:
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    full, pixels = reader.size(), round(side * density)
    if full.isValid():
        reader.setScaledSize(full.scaled(QSize(pixels, pixels), Qt.AspectRatioMode.KeepAspectRatioByExpanding))
    image = reader.read()
    if image.isNull():
        return False
    disc = QPainterPath()
    disc.addEllipse(QRectF(0, 0, side, side))
    painter.setClipPath(disc)
    part = min(image.width(), image.height())
    painter.drawImage(QRectF(0, 0, side, side), image, QRectF((image.width() - part) / 2, 0, part, part))
    return True


def contents_in_words(holds: Holds) -> list[str]:
    """Return texts such as “2 worlds”, “3 memories” and “5 conversations with 212 messages”; kinds without records are
    omitted.
    """
    tr = QCoreApplication.translate
    found = []
    if holds.worlds:
        found.append(counted(holds.worlds, tr("Bundle", "{n} world"), tr("Bundle", "{n} worlds")))
    if holds.memories:
        found.append(memories_in_words(holds.memories))
    if holds.facts:
        found.append(counted(holds.facts, tr("Bundle", "{n} fact"), tr("Bundle", "{n} facts")))
    if holds.notebooks:
        found.append(counted(holds.notebooks, tr("Bundle", "{n} notebook"), tr("Bundle", "{n} notebooks")))
    if holds.conversations:
        talks = counted(holds.conversations, tr("Bundle", "{n} conversation"), tr("Bundle", "{n} conversations"))
        found.append(tr("Bundle", "{talks} with {messages}").format(talks=talks, messages=messages_in_words(holds.messages)))
    return found


def bytes_in_words(size: int) -> str:
    """Return a size such as “9 kB” or “1.2 MB”, with decimal units as in file managers."""
    precision = 0 if size < 1_000_000 else 1
    return QLocale().formattedDataSize(size, precision, QLocale.DataSizeFormat.DataSizeSIFormat)


def words(text: str, kind: str = "") -> QLabel:
    """Create a plain text label, because the text may come from a stranger's file. `kind` is `title`, `quiet` or `small`."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    if kind:
        label.setProperty(kind, True)
    return label


class BundleDialog(QDialog):
    """Dialog with a scrolling column, and a primary and a cancel button below it."""

    def __init__(self, parent: QWidget, title: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._tall = Tall(SPACE_4, self.fit)
        self.column = self._tall.column
        """Layout of everything except the buttons."""
        self._whole = QVBoxLayout(self)
        self._whole.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        self._whole.setSpacing(SPACE_4)
        self._whole.addWidget(self._tall, 1)

    def fit(self) -> None:
        """Set a readable width and the height that the text then needs, limited by the screen."""
        self.ensurePolished()
        width = min(self.fontMetrics().averageCharWidth() * WIDTH + 2 * SPACE_6, room_for(self).width())
        self.resize(width, fitting_height(self, self._tall, width))

    def showEvent(self, event: QShowEvent) -> None:
        self.fit()
        super().showEvent(event)

    def add_head(self, face: QPixmap, title: str, small: str) -> None:
        picture = QLabel()
        picture.setPixmap(face)
        picture.setFixedSize(face.deviceIndependentSize().toSize())
        beside = QVBoxLayout()
        beside.setSpacing(SPACE_2)
        beside.addStretch(1)
        beside.addWidget(words(title, "title"))
        if small:
            beside.addWidget(words(small, "quiet"))
        beside.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(SPACE_4)
        row.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(beside, 1)
        self.column.addLayout(row)

    def add_buttons(self, primary: str, cancel: str) -> None:
        self.cancel = QPushButton(cancel)
        self.cancel.setProperty("filled", True)
        self.cancel.clicked.connect(self.reject)
        self.primary = QPushButton(primary)
        self.primary.setProperty("primary", True)
        self.primary.setDefault(True)
        self.primary.clicked.connect(self.accept)
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.primary)
        self._whole.addLayout(row)


class Waiting(BundleDialog):
    """Progress dialog of a running transfer, which can be cancelled, or sent to the background, where the task list shows
    it.
    """

    def __init__(self, parent: QWidget, title: str) -> None:
        super().__init__(parent, title)
        self.was_stopped = False
        self.is_aside = False
        """True if the user sent the dialog to the background."""
        self.done_so_far = 0.0
        headline = words(title, "title")
        self.bar = QProgressBar()
        self.bar.setRange(0, 100)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(title)
        self.column.setSpacing(SPACE_3)
        self.column.addWidget(headline)
        self.column.addWidget(self.bar)
        self.add_buttons(self.tr("Run in background"), self.tr("Cancel"))
        self.primary.setToolTip(self.tr("Continue in the background; progress is shown at the bottom of the sidebar"))
        self.primary.setAccessibleDescription(self.primary.toolTip())

    def accept(self) -> None:
        """Hide the dialog; the transfer stays in the task list."""
        self.is_aside = True
        self.hide()

    def report_progress(self, done: float) -> None:
        self.done_so_far = done
        self.bar.setValue(round(100 * done))


async def watched(dialog: Waiting, luggage: FileTransfers, work: Callable[[Callable[[float], None]], Awaitable[T]]) -> T | None:
    """Return the result of `work`, with a progress dialog and an entry in the task list if it takes long; None if the user
    cancelled it.

    If the surrounding task is cancelled instead, the CancelledError is raised.
    """
    key = ""

    def told(done: float) -> None:
        dialog.report_progress(done)
        luggage.report_progress(key, done)

    def stop() -> None:
        dialog.was_stopped = not task.done()
        task.cancel()

    def show() -> None:
        nonlocal key
        key = luggage.take_up(dialog.windowTitle(), dialog.done_so_far, stop)
        dialog.open()

    task = asyncio.ensure_future(work(told))
    dialog.rejected.connect(stop)
    timer = QTimer(dialog)
    timer.setSingleShot(True)
    timer.timeout.connect(show)
    timer.start(NOT_AT_ONCE)
    try:
        return await task
    except asyncio.CancelledError:
        if dialog.was_stopped:
            return None
        raise
    finally:
        timer.stop()
        luggage.put_down(key)
        dialog.rejected.disconnect(stop)
        dialog.close()
        dialog.deleteLater()
