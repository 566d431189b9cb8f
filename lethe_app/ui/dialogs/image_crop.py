"""Selection of the square of an image that becomes the avatar, by mouse, wheel or keyboard."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QSlider, QWidget

from lethe_app.ui.core.avatars import encode_png
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_row

SAVED_SIDE = 512
"""Pixels per side of the saved square."""
ZOOM_STEPS = 100
"""Number of zoom steps of the slider."""
MIN_SIDE = 48
"""Side of the smallest crop frame, in image pixels."""
ARROW_KEY_OFFSETS = {
    Qt.Key.Key_Left: QPoint(-1, 0),
    Qt.Key.Key_Right: QPoint(1, 0),
    Qt.Key.Key_Up: QPoint(0, -1),
    Qt.Key.Key_Down: QPoint(0, 1),
}


class CropFrame:
    """Square within an image, in image pixels; it is kept inside the image by every move and resize."""

    def __init__(self, size: QSize) -> None:
        """Start with the largest square, at the top and centred horizontally, where portraits have the face."""
        self._image_size = size
        self.max_side = max(1, min(size.width(), size.height()))
        self.min_side = min(self.max_side, MIN_SIDE)
        self.rect = QRect((size.width() - self.max_side) // 2, 0, self.max_side, self.max_side)

    def move(self, offset: QPoint) -> None:
        left = min(max(self.rect.x() + offset.x(), 0), self._image_size.width() - self.rect.width())
        top = min(max(self.rect.y() + offset.y(), 0), self._image_size.height() - self.rect.height())
        self.rect.moveTo(left, top)

    def resize(self, side: int) -> None:
        """Resize the square about its centre, within the limits of the image."""
        side = min(max(side, self.min_side), self.max_side)
        shift = (self.rect.width() - side) // 2
        self.rect = QRect(self.rect.x() + shift, self.rect.y() + shift, side, side)
        self.move(QPoint())

    @property
    def zoom(self) -> int:
        """Return the zoom step, from 0 for the largest square to `ZOOM_STEPS` for the smallest."""
        span = self.max_side - self.min_side
        return round(ZOOM_STEPS * (self.max_side - self.rect.width()) / span) if span else 0

    @zoom.setter
    def zoom(self, steps: int) -> None:
        self.resize(round(self.max_side - (self.max_side - self.min_side) * steps / ZOOM_STEPS))


class CropView(QWidget):
    """Image with the crop frame: dragging and arrow keys (with Shift in larger steps) move it, + and − resize it."""

    resized = Signal()

    def __init__(self, image: QImage, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image, self._theme = image, theme
        self.frame = CropFrame(image.size())
        self._drag_position: QPointF | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.SizeAllCursor)
        self.setAccessibleName(self.tr("Crop area"))
        self.setAccessibleDescription(self.tr("Arrow keys move the frame; plus makes it smaller, minus makes it larger."))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(420, 180)

    def sizeHint(self) -> QSize:
        return self._image.size().scaled(480, 380, Qt.AspectRatioMode.KeepAspectRatio)

    def set_zoom(self, steps: int) -> None:
        if steps != self.frame.zoom:
            self.frame.zoom = steps
            self.update()

    def _image_rect(self) -> QRectF:
        """Return the rectangle of the image within the widget."""
        size = QSize(self._image.size()).scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        return QRectF((self.width() - size.width()) / 2, (self.height() - size.height()) / 2, size.width(), size.height())

    def _scale(self) -> float:
        return self._image_rect().width() / self._image.width()

    def paintEvent(self, _event: QPaintEvent) -> None:
        image_rect, scale, frame = self._image_rect(), self._scale(), self.frame.rect
        side = frame.width() * scale
        shown = QRectF(image_rect.x() + frame.x() * scale, image_rect.y() + frame.y() * scale, side, side)
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(image_rect, self._image)
        outside, disc = QPainterPath(), QPainterPath()
        outside.addRect(image_rect)
        disc.addEllipse(shown)
        shade = QColor(self._theme.palette.background)
        shade.setAlphaF(0.68)
        painter.fillPath(outside.subtracted(disc), shade)
        painter.setPen(QPen(QColor(self._theme.palette.water), 2 if self.hasFocus() else 1))
        painter.drawRect(shown)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._drag_position = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._drag_position is None:
            return
        moved = (event.position() - self._drag_position) / self._scale()
        step = QPoint(round(moved.x()), round(moved.y()))
        if not step.isNull():
            self._drag_position = event.position()
            self._move_frame(step)

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        self._drag_position = None

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._zoom_by(round(event.angleDelta().y() / 24))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in ARROW_KEY_OFFSETS:
            large = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._move_frame(ARROW_KEY_OFFSETS[key] * max(1, round(self.frame.max_side * (0.1 if large else 0.01))))
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self._zoom_by(5)
        elif key == Qt.Key.Key_Minus:
            self._zoom_by(-5)
        else:
            super().keyPressEvent(event)

    def _move_frame(self, offset: QPoint) -> None:
        self.frame.move(offset)
        self.update()

    def _zoom_by(self, steps: int) -> None:
        self.set_zoom(min(max(self.frame.zoom + steps, 0), ZOOM_STEPS))
        self.resized.emit()


class CropDialog(QuestionDialog):
    """Dialog with the crop view and a zoom slider; `content` is the chosen square."""

    def __init__(self, parent: QWidget, image: QImage, theme: Theme) -> None:
        title = QCoreApplication.translate("CropDialog", "Crop image")
        super().__init__(parent, title, QCoreApplication.translate("CropDialog", "Crop"))
        self._image = image
        self.view = CropView(image, theme)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, ZOOM_STEPS)
        self.slider.setPageStep(10)
        self.slider.setAccessibleName(self.tr("Zoom"))
        self.slider.valueChanged.connect(self.view.set_zoom)
        self.view.resized.connect(lambda: self.slider.setValue(self.view.frame.zoom))
        zoom = QLabel(self.tr("Zoom"))
        zoom.setBuddy(self.slider)
        self.column.addWidget(self.view, 1)
        self.column.addLayout(build_row(zoom, (self.slider, 1), spacing=SPACE_3))
        self.column.addWidget(build_small_label(self.tr("Drag the frame or use the arrow keys; + and − change its size.")))
        self.view.setFocus()

    @property
    def content(self) -> bytes:
        """Return the chosen square as a PNG file."""
        return crop_to_png(self._image, self.view.frame.rect)


def crop_to_png(image: QImage, frame: QRect) -> bytes:
    """Return the part of `image` in the square `frame` as a PNG of `SAVED_SIDE` pixels."""
    part = image.copy(frame).scaled(
        QSize(SAVED_SIDE, SAVED_SIDE), Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
    return encode_png(part)
