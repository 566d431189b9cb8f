"""Painting of the sidebar's rows, and the editor for renaming a session."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from lethe_app.ui.core.avatars import render_avatar
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_6
from lethe_app.ui.core.theme import Theme, mix_colours
from lethe_app.ui.shell.sidebar_model import AGE_ROLE, ROW_ROLE, PersonaRow, SessionRow
from lethe_app.ui.widgets.line_list import paint_row_background

AVATAR_SIZE = 32
"""Diameter of the avatar, in pixels."""
ENDED_ICON_SIZE = 12
"""Size of the symbol of an ended session, in pixels."""
MARK_ICON_SIZE = 16
"""Size of the symbols of an incognito session and of a reply in progress, in pixels."""
Index = QModelIndex | QPersistentModelIndex


class SidebarDelegate(QStyledItemDelegate):
    """Delegate for two kinds of rows: a persona with avatar, name and tagline, and a session with title and age."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line = option.fontMetrics.height()
        if isinstance(index.data(ROW_ROLE), PersonaRow):
            return QSize(0, max(AVATAR_SIZE, 2 * line) + 2 * SPACE_2 + 2)
        return QSize(0, line + 2 * SPACE_2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = option.rect.adjusted(SPACE_2, 1, -SPACE_2, -1)
        self._paint_background(painter, option, area, row)
        if isinstance(row, PersonaRow):
            self._paint_persona(painter, option, area, row)
        elif isinstance(row, SessionRow):
            self._paint_session(painter, option, area, row, str(index.data(AGE_ROLE)))
        painter.restore()

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem, area: QRect, row: object) -> None:
        palette = self._theme.palette
        is_open = isinstance(row, SessionRow) and row.is_open
        shade = 0.09 if is_open else 0.05 if option.state & QStyle.StateFlag.State_MouseOver else 0.0
        fill = mix_colours(palette.surface, palette.text, shade) if shade else ""
        paint_row_background(painter, area, fill, palette.water if option.state & QStyle.StateFlag.State_HasFocus else "")
        if is_open:  # a bar in addition to the background, so that colour is not the only sign
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(palette.water))
            painter.drawRoundedRect(QRect(area.left(), area.top() + 7, 3, area.height() - 14), 1.5, 1.5)

    def _paint_persona(self, painter: QPainter, option: QStyleOptionViewItem, area: QRect, row: PersonaRow) -> None:
        palette = self._theme.palette
        device_pixel_ratio = option.widget.devicePixelRatioF() if option.widget else 1.0
        top = area.top() + (area.height() - AVATAR_SIZE) // 2
        painter.drawPixmap(
            area.left() + SPACE_2,
            top,
            render_avatar(row.avatar_path, row.persona_id, row.name, AVATAR_SIZE, palette, device_pixel_ratio),
        )
        left = area.left() + SPACE_2 + AVATAR_SIZE + SPACE_3
        width = area.right() - left - SPACE_2
        if row.is_replying:
            width -= MARK_ICON_SIZE + SPACE_1
            mark = QRect(left + width + SPACE_1, 0, MARK_ICON_SIZE, MARK_ICON_SIZE)
            mark.moveTop(area.center().y() - MARK_ICON_SIZE // 2)
            load_icon("dots", palette.water).paint(painter, mark)
        name_font = QFont(option.font)
        name_font.setWeight(QFont.Weight.DemiBold if row.is_open else QFont.Weight.Medium)
        metrics, small = QFontMetrics(name_font), self._small_font(option.font)
        small_metrics = QFontMetrics(small)
        height = metrics.height() + (small_metrics.height() if row.tagline else 0)
        line = QRect(left, area.top() + (area.height() - height) // 2, width, metrics.height())
        painter.setFont(name_font)
        painter.setPen(QColor(palette.text))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, metrics.elidedText(row.name, Qt.TextElideMode.ElideRight, width))
        if row.tagline:
            line = QRect(left, line.bottom() + 1, width, small_metrics.height())
            painter.setFont(small)
            painter.setPen(QColor(palette.muted))
            tagline = small_metrics.elidedText(row.tagline, Qt.TextElideMode.ElideRight, width)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, tagline)

    def _paint_session(self, painter: QPainter, option: QStyleOptionViewItem, area: QRect, row: SessionRow, age: str) -> None:
        palette = self._theme.palette
        small = self._small_font(option.font)
        age_width = QFontMetrics(small).horizontalAdvance(age)
        mark_name = "dots" if row.is_replying else "incognito" if row.is_incognito else "moon" if row.is_ended else ""
        mark_size = ENDED_ICON_SIZE if mark_name == "moon" else MARK_ICON_SIZE
        mark_width = mark_size + SPACE_1 if mark_name else 0
        title_font = QFont(option.font)
        title_font.setWeight(QFont.Weight.Medium if row.is_open else QFont.Weight.Normal)
        left = area.left() + SPACE_6
        title_width = area.right() - left - age_width - mark_width - SPACE_2 - SPACE_3
        painter.setFont(title_font)
        painter.setPen(QColor(palette.text if row.is_open else mix_colours(palette.text, palette.muted, 0.4)))
        title = QFontMetrics(title_font).elidedText(row.title, Qt.TextElideMode.ElideRight, title_width)
        painter.drawText(QRect(left, area.top(), title_width, area.height()), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setFont(small)
        painter.setPen(QColor(palette.muted))
        age_rect = QRect(area.right() - SPACE_2 - age_width, area.top(), age_width + SPACE_1, area.height())
        painter.drawText(age_rect, Qt.AlignmentFlag.AlignVCenter, age)
        if mark_name:
            left, top = age_rect.left() - mark_size - SPACE_1, area.center().y() - mark_size // 2
            colour = palette.muted if mark_name == "moon" else palette.water
            load_icon(mark_name, colour).paint(painter, QRect(left, top, mark_size, mark_size))

    def _small_font(self, font: QFont) -> QFont:
        small = QFont(font)
        small.setPixelSize(max(11, font.pixelSize() - 1))
        return small

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, _index: Index) -> QWidget:
        field = QLineEdit(parent)
        field.setMaxLength(200)
        field.setAccessibleName(self.tr("New conversation title"))
        return field

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, _index: Index) -> None:
        editor.setGeometry(option.rect.adjusted(SPACE_2, 1, -SPACE_2, -1))
