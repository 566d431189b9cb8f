"""Reads a picture the user chose from their disk, carefully, and keeps those that are not saved yet."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QImageWriter, QPainter, QPainterPath, QPixmap

from lethe_app.errors import FileError
from lethe_app.ui.core.avatars import avatar
from lethe_app.ui.core.palette import Palette
from lethe_app.ui.widgets.avatar_field import SIZE

ENDINGS = ("png", "jpg", "jpeg", "webp")
FORMATS = {"png", "jpeg", "webp"}
LARGEST_FILE = 25 * 1024 * 1024
LONGEST_SIDE, MOST_PIXELS = 20_000, 50_000_000
"""Above these a picture is not even decoded: it would take more memory than any avatar is worth."""
MOST_MEGABYTES = 256
"""Qt refuses to decode what would take more."""
WORKED_ON = 1600
"""Pixels of the longer side while the user crops; more would only make moving it slow."""
SIDE = 512
"""Pixels of the square that is kept."""
PENDING = "new picture "
"""Begins the name of a picture that is not saved yet; no file can be called so, as it has no ending."""


def read_picture(path: Path) -> QImage:
    """The picture in a file of the user's own disk, upright and no larger than is needed. Raises FileError."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise FileError(path, f"is larger than {LARGEST_FILE // 1024 // 1024} MB", remedy="Choose a smaller picture.")
    except OSError as error:
        raise FileError(path, f"cannot be opened: {(error.strerror or str(error)).lower()}") from error
    QImageReader.setAllocationLimit(MOST_MEGABYTES)
    reader = QImageReader(str(path))
    reader.setDecideFormatFromContent(True)
    if bytes(reader.format().data()).decode("ascii", "replace") not in FORMATS:
        raise FileError(path, "is not a PNG, JPEG or WebP picture")
    size = reader.size()
    if not size.isValid() or size.isEmpty():
        raise FileError(path, "is damaged: it does not say how large its picture is")
    if max(size.width(), size.height()) > LONGEST_SIDE or size.width() * size.height() > MOST_PIXELS:
        raise FileError(path, f"is too large a picture ({size.width()} × {size.height()})", remedy="Choose a smaller one.")
    reader.setAutoTransform(True)
    if max(size.width(), size.height()) > WORKED_ON:
        reader.setScaledSize(size.scaled(WORKED_ON, WORKED_ON, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        raise FileError(path, f"cannot be shown: {reader.errorString().lower()}")
    return image.convertToFormat(QImage.Format.Format_ARGB32)


def cropped(image: QImage, frame: QRect) -> bytes:
    """The part of `image` in the square `frame` as a PNG of `SIDE` pixels."""
    part = image.copy(frame).scaled(
        QSize(SIDE, SIDE), Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(part)
    return bytes(content.data())


class Pictures:
    """Pictures that were chosen and cropped, by the name under which the draft knows them."""

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}
        self._files: dict[str, str] = {}

    def add(self, content: bytes) -> str:
        """Keep it for now; returns what to write into the draft."""
        name = f"{PENDING}{len(self._contents) + 1}"
        self._contents[name] = content
        return name

    def content(self, name: str) -> bytes | None:
        """None for one that is a file already."""
        return self._contents.get(name)

    def file_of(self, name: str) -> str:
        """The file under which it was saved; empty if it was not. What is no picture of ours is a file already."""
        return self._files.get(name, "") if name in self._contents else name

    def saved_as(self, name: str, file: str) -> None:
        self._files[name] = file

    def drawn(self, name: str, path: Path | None, who: tuple[str, str], palette: Palette, density: float) -> QPixmap:
        """The picture a draft knows by that name as a disc; of one that is a file already `path` is that.

        `who` is the identity and the name of whose it is, for those who have none.
        """
        content = self.content(name)
        return round_picture(content, SIZE, density) if content is not None else avatar(path, *who, SIZE, palette, density)


def round_picture(content: bytes, side: int, density: float) -> QPixmap:
    """A picture of ours as a disc of `side` logical pixels."""
    drawn = QPixmap(round(side * density), round(side * density))
    drawn.setDevicePixelRatio(density)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    disc = QPainterPath()
    disc.addEllipse(QRectF(0, 0, side, side))
    painter.setClipPath(disc)
    painter.drawImage(QRectF(0, 0, side, side), QImage.fromData(content))
    painter.end()
    return drawn
