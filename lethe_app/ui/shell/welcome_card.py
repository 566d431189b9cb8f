"""Selectable card with image, title, text and a check mark."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from lethe_app.ui.core.icons import picture
from lethe_app.ui.core.palette import ICON, RADIUS_CARD, SPACE_1, SPACE_3
from lethe_app.ui.core.theme import Theme, mixed


class ChoiceCard(QAbstractButton):
    """Card that works like a radio button: exactly one of its siblings is checked, and arrow keys and Space change the
    choice.
    """

    def __init__(self, theme: Theme, title: str, words: str, face: QPixmap, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._words, self._face = theme, words, face
        self.setText(title)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(f"{title}. {words}")
        self.setToolTip(words)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_face(self, face: QPixmap) -> None:
        self._face = face
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, self.heightForWidth(220))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self._fonts()[1].height() * 2 + 2 * SPACE_3)

    def heightForWidth(self, width: int) -> int:
        title, small = self._fonts()
        words = small.boundingRect(self._words_place(width), self._wrap(), self._words).height() if self._words else 0
        lines = min(max(words, 2 * small.height()), 3 * small.height())  # never less than two, so that neighbours are alike
        face = round(self._face.height() / self._face.devicePixelRatio())
        return max(face, title.height() + SPACE_1 + lines) + 2 * SPACE_3

    def paintEvent(self, _event: QPaintEvent) -> None:
        palette = self._theme.palette
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        marked = self.isChecked()
        ground = mixed(palette.surface, palette.water, 0.10) if marked else palette.surface
        lit = mixed(ground, palette.text, 0.04) if self.underMouse() else ground
        edge = palette.water if marked or self.hasFocus() else palette.border
        thick = 2.0 if self.hasFocus() else 1.0
        painter.setBrush(QColor(lit))
        painter.setPen(QPen(QColor(edge), thick))
        inset = 1
        painter.drawRoundedRect(self.rect().adjusted(inset, inset, -inset, -inset), RADIUS_CARD, RADIUS_CARD)
        self._paint_face(painter)
        self._paint_words(painter)
        if marked:
            tick = picture("check", palette.water, ICON, self.devicePixelRatioF())
            painter.drawPixmap(self.width() - ICON - SPACE_3, SPACE_3, tick)
        painter.end()

    def _paint_face(self, painter: QPainter) -> None:
        height = round(self._face.height() / self._face.devicePixelRatio())
        painter.drawPixmap(SPACE_3, (self.height() - height) // 2, self._face)

    def _paint_words(self, painter: QPainter) -> None:
        palette = self._theme.palette
        title_metrics, small_metrics = self._fonts()
        place = self._words_place(self.width())
        words_height = min(small_metrics.boundingRect(place, self._wrap(), self._words).height(), 3 * small_metrics.height())
        used = title_metrics.height() + (SPACE_1 + words_height if self._words else 0)
        top = (self.height() - used) // 2
        painter.setPen(QColor(palette.text))
        painter.setFont(self._title_font())
        room = place.width() - (ICON if self.isChecked() else 0)
        title = title_metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(place.left(), top, room, title_metrics.height()), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setPen(QColor(palette.muted))
        painter.setFont(self._small_font())
        below = QRect(place.left(), top + title_metrics.height() + SPACE_1, place.width(), words_height)
        painter.drawText(below, self._wrap(), self._words)

    def _words_place(self, width: int) -> QRect:
        left = SPACE_3 + round(self._face.width() / self._face.devicePixelRatio()) + SPACE_3
        return QRect(left, 0, max(40, width - left - SPACE_3), 1000)

    def _wrap(self) -> int:
        return int(Qt.TextFlag.TextWordWrap) | int(Qt.AlignmentFlag.AlignTop)

    def _title_font(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def _small_font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(max(11, self.font().pixelSize() - 1))
        return font

    def _fonts(self) -> tuple[QFontMetrics, QFontMetrics]:
        return QFontMetrics(self._title_font()), QFontMetrics(self._small_font())
