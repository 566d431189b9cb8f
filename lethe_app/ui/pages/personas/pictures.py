"""Avatar in the persona editor: its field, and reading of images that the user chooses."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QImageReader, QPixmap
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from lethe_app.errors import FileError
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row

AVATAR_SIZE = 96
"""Diameter of the avatar in pixels."""


class AvatarField(QWidget):
    """Show an avatar and emit the user's requests; images are read and stored by the receiver of the signals."""

    pick_requested = Signal()
    remove_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._avatar_label = QLabel()
        self._avatar_label.setFixedSize(AVATAR_SIZE, AVATAR_SIZE)
        self.choose_button = QPushButton(self.tr("Choose image…"))
        self.choose_button.clicked.connect(self.pick_requested)
        self.remove_button = QPushButton(self.tr("Remove image"))
        self.remove_button.clicked.connect(self.remove_requested)
        self.setFocusProxy(self.choose_button)
        for button in (self.choose_button, self.remove_button):
            button.setProperty("filled", True)
        hint = build_small_label(self.tr("PNG, JPEG or WebP from this computer; you can crop it afterwards."))
        buttons = build_row(self.choose_button, self.remove_button, 1, spacing=SPACE_2)
        column = build_column(1, buttons, hint, 1, spacing=SPACE_1)
        build_row((self._avatar_label, 0, Qt.AlignmentFlag.AlignVCenter), (column, 1), spacing=SPACE_4, parent=self)
        self.apply_theme()

    def show_avatar(self, pixmap: QPixmap, accessible_name: str, *, is_custom: bool) -> None:
        """Show an avatar; `accessible_name` is its accessible name. The remove button is only visible if `is_custom`, not for a
        letter avatar.
        """
        self._avatar_label.setPixmap(pixmap)
        self._avatar_label.setAccessibleName(accessible_name)
        self.remove_button.setVisible(is_custom)

    def apply_theme(self) -> None:
        self.choose_button.setIconSize(BUTTON_ICON_SIZE)
        self.choose_button.setIcon(load_button_icon("user", self._theme.palette.text))


FORMATS = {"png", "jpeg", "webp"}
MAX_FILE_BYTES = 25 * 1024 * 1024
MAX_SIDE, MAX_PIXELS = 20_000, 50_000_000
"""Pixels above which an image is not decoded, as it would take too much memory."""
MAX_MEGABYTES = 256
"""Allocation limit of Qt's image reader."""
WORKING_SIDE = 1600
"""Pixels of the longer side while cropping; more would only make dragging slow."""
PENDING_PREFIX = "new picture "
"""Prefix of the name of an unsaved avatar; as it has no file extension, it cannot be confused with a file."""


def read_picture(path: Path) -> QImage:
    """Return the image in a file, rotated as its metadata says and scaled down to `WORKING_SIDE`.

    Raise FileError if it is larger than 25 MB, not a PNG, JPEG or WebP image, too large in pixels, or damaged. The format is
    taken from the content, not from the file name.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise FileError(path, f"is larger than {MAX_FILE_BYTES // 1024 // 1024} MB", remedy="Choose a smaller image.")
    except OSError as error:
        raise FileError(path, f"cannot be opened: {(error.strerror or str(error)).lower()}") from error
    QImageReader.setAllocationLimit(MAX_MEGABYTES)
    reader = QImageReader(str(path))
    reader.setDecideFormatFromContent(True)
    if bytes(reader.format().data()).decode("ascii", "replace") not in FORMATS:
        raise FileError(path, "is not a PNG, JPEG or WebP image")
    # The size is read from the header, so that a huge image is rejected before it is decoded.
    size = reader.size()
    if not size.isValid() or size.isEmpty():
        raise FileError(path, "is damaged: it contains no image size")
    if max(size.width(), size.height()) > MAX_SIDE or size.width() * size.height() > MAX_PIXELS:
        raise FileError(path, f"is too large ({size.width()} × {size.height()})", remedy="Choose a smaller image.")
    reader.setAutoTransform(True)
    if max(size.width(), size.height()) > WORKING_SIDE:
        reader.setScaledSize(size.scaled(WORKING_SIDE, WORKING_SIDE, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        raise FileError(path, f"cannot be shown: {reader.errorString().lower()}")
    return image.convertToFormat(QImage.Format.Format_ARGB32)
