"""Selectable card with image, title, text and a check mark."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from lethe_app.ui.core.icons import render_icon
from lethe_app.ui.core.palette import ICON, RADIUS_CARD, SPACE_1, SPACE_3
from lethe_app.ui.core.theme import Theme, mix_colours

MAX_LINES = 3
"""Lines of a description that are shown; the tooltip has all of it."""


class ChoiceCard(QAbstractButton):
    """Card that works like a radio button: exactly one of its siblings is checked, and arrow keys and Space change the
    choice.
    """

    def __init__(
        self,
        theme: Theme,
        title: str,
        description: str,
        image: QPixmap,
        parent: QWidget | None = None,
        *,
        max_lines: int = MAX_LINES,
    ) -> None:
        super().__init__(parent)
        self._max_lines = max_lines
        self._theme, self._description, self._image = theme, description, image
        self.setText(title)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(title)
        self.setAccessibleDescription(description)
        self.setToolTip(description)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_image(self, image: QPixmap) -> None:
        self._image = image
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, self.heightForWidth(220))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self._font_metrics()[1].height() * 2 + 2 * SPACE_3)

    def heightForWidth(self, width: int) -> int:
        title, small = self._font_metrics()
        text_height = (
            small.boundingRect(self._text_area(width), self._text_flags(), self._description).height()
            if self._description
            else 0
        )
        # At least two lines, so that cards side by side have the same height.
        lines = min(max(text_height, 2 * small.height()), self._max_lines * small.height())
        image_height = round(self._image.height() / self._image.devicePixelRatio())
        return max(image_height, title.height() + SPACE_1 + lines) + 2 * SPACE_3

    def paintEvent(self, _event: QPaintEvent) -> None:
        palette = self._theme.palette
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_checked = self.isChecked()
        background = mix_colours(palette.surface, palette.water, 0.10) if is_checked else palette.surface
        hover_background = mix_colours(background, palette.text, 0.04) if self.underMouse() else background
        border_colour = palette.water if is_checked or self.hasFocus() else palette.border
        painter.setBrush(QColor(hover_background))
        painter.setPen(QPen(QColor(border_colour), 2.0 if self.hasFocus() else 1.0))
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), RADIUS_CARD, RADIUS_CARD)
        height = round(self._image.height() / self._image.devicePixelRatio())
        painter.drawPixmap(SPACE_3, (self.height() - height) // 2, self._image)
        self._paint_texts(painter)
        if is_checked:
            tick = render_icon("check", palette.water, ICON, self.devicePixelRatioF())
            painter.drawPixmap(self.width() - ICON - SPACE_3, SPACE_3, tick)
        painter.end()

    def _paint_texts(self, painter: QPainter) -> None:
        palette = self._theme.palette
        title_metrics, small_metrics = self._font_metrics()
        text_rect = self._text_area(self.width())
        description_height = min(
            small_metrics.boundingRect(text_rect, self._text_flags(), self._description).height(),
            self._max_lines * small_metrics.height(),
        )
        used = title_metrics.height() + (SPACE_1 + description_height if self._description else 0)
        top = (self.height() - used) // 2
        painter.setPen(QColor(palette.text))
        painter.setFont(self._title_font())
        title_width = text_rect.width() - (ICON if self.isChecked() else 0)
        title = title_metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, title_width)
        painter.drawText(
            QRect(text_rect.left(), top, title_width, title_metrics.height()), Qt.AlignmentFlag.AlignVCenter, title
        )
        painter.setPen(QColor(palette.muted))
        painter.setFont(self._small_font())
        below = QRect(text_rect.left(), top + title_metrics.height() + SPACE_1, text_rect.width(), description_height)
        painter.drawText(below, self._text_flags(), self._description)

    def _text_area(self, width: int) -> QRect:
        left = SPACE_3 + round(self._image.width() / self._image.devicePixelRatio()) + SPACE_3
        return QRect(left, 0, max(40, width - left - SPACE_3), 1000)

    def _text_flags(self) -> int:
        return int(Qt.TextFlag.TextWordWrap) | int(Qt.AlignmentFlag.AlignTop)

    def _title_font(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def _small_font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(max(11, self.font().pixelSize() - 1))
        return font

    def _font_metrics(self) -> tuple[QFontMetrics, QFontMetrics]:
        return QFontMetrics(self._title_font()), QFontMetrics(self._small_font())
