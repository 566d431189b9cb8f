"""Draws the program's icon in the sizes and formats that systems ask for, from the one drawing it has."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

DRAWING = Path(__file__).resolve().parent.parent / "resources" / "icons" / "lethe.svg"
SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
ICNS_KINDS = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09"}


def png(size: int) -> bytes:
    """Return the icon as PNG, `size` pixels wide and high."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(DRAWING)).render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(data.data())


def ico() -> bytes:
    """Return the icon for Windows: a table of sizes, then the images."""
    pictures = [(size, png(size)) for size in ICO_SIZES]
    head, body = struct.pack("<HHH", 0, 1, len(pictures)), b""
    for size, picture in pictures:
        place = 6 + 16 * len(pictures) + len(body)
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(picture), place)
        body += picture
    return head + body


def icns() -> bytes:
    """Return the icon for macOS: every image after its type and length."""
    parts = [(kind, png(size)) for size, kind in ICNS_KINDS.items()]
    body = b"".join(kind + struct.pack(">I", len(picture) + 8) + picture for kind, picture in parts)
    return b"icns" + struct.pack(">I", len(body) + 8) + body


def main() -> None:
    """Write all icons into the folder named on the command line."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    application = QGuiApplication(["pictures", "-platform", "offscreen"])
    for size in SIZES:
        (folder / f"{size}.png").write_bytes(png(size))
    (folder / "lethe.ico").write_bytes(ico())
    (folder / "lethe.icns").write_bytes(icns())
    application.quit()


if __name__ == "__main__":
    main()
