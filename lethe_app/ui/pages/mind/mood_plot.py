"""Line chart of the mood dimensions over the past days, labelled at the ends of the lines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from lethe_app.domain.mood import MoodSample
from lethe_app.services.mood import MoodDimension
from lethe_app.ui.core.formatting import format_age
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme, mix_colours
from lethe_app.ui.pages.mind.labels import format_change, mood_colours

HEIGHT_LINES = 9
"""Height of the chart in lines of text."""
MAX_PERIOD = timedelta(days=60)
"""Period before the newest sample that is drawn."""
MIN_PERIOD = timedelta(hours=6)


class MoodPlot(QWidget):
    """Chart with time to the right and value upwards. A tooltip has the values of a day; screen readers get the overall
    change.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._dimensions: list[MoodDimension] = []
        self.samples: list[MoodSample] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName(self.tr("Mood over time"))
        theme.changed.connect(self.update)

    def show_history(self, dimensions: Sequence[MoodDimension], samples: Sequence[MoodSample]) -> None:
        """Show samples, which must be in chronological order."""
        self._dimensions = list(dimensions)
        first = samples[-1].at - MAX_PERIOD if samples else None
        self.samples = [sample for sample in samples if first is None or sample.at >= first]
        changes_by_dimension = [format_change(dimension.title, self.samples, dimension.id) for dimension in self._dimensions]
        since = format_age(self.samples[0].at, self.samples[-1].at) if self.has_history else ""
        changes = "; ".join(filter(None, changes_by_dimension))
        text = self.tr("Since {day}: {changes}.").format(day=since, changes=changes) if since else self._empty_text
        self.setAccessibleDescription(text)
        self.updateGeometry()
        self.update()

    @property
    def has_history(self) -> bool:
        """True if there are enough samples to draw a line."""
        return len(self.samples) > 1

    @property
    def _empty_text(self) -> str:
        return self.tr("No mood history yet. The chart starts tomorrow.")

    def sizeHint(self) -> QSize:
        return QSize(320, self.fontMetrics().height() * (HEIGHT_LINES if self.has_history else 2))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    # Geometry.

    @property
    def _plot_area(self) -> QRectF:
        """Area of the lines, without the labels at the right and the dates below."""
        metrics = QFontMetricsF(self.font())
        names = max((metrics.horizontalAdvance(dimension.title) for dimension in self._dimensions), default=0.0) + SPACE_3
        return QRectF(0, SPACE_2, max(1.0, self.width() - names), self.height() - metrics.height() - SPACE_2 - SPACE_3)

    @property
    def _period(self) -> tuple[datetime, timedelta]:
        first, last = self.samples[0].at, self.samples[-1].at
        return first, max(last - first, MIN_PERIOD)

    def _point(self, sample: MoodSample, value: float) -> QPointF:
        area, (first, period) = self._plot_area, self._period
        return QPointF(area.left() + (sample.at - first) / period * area.width(), area.bottom() - value * area.height())

    # Drawing

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.has_history:
            painter.setPen(QColor(self._theme.palette.muted))
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap), self._empty_text)
            return
        self._draw_grid(painter)
        ends = self._draw_lines(painter)
        self._draw_labels(painter, ends)

    def _draw_grid(self, painter: QPainter) -> None:
        palette, area = self._theme.palette, self._plot_area
        for share in (0.0, 0.5, 1.0):
            line = QPen(QColor(mix_colours(palette.surface, palette.border, 1.0 if share == 0.5 else 0.6)), 1)
            line.setStyle(Qt.PenStyle.DotLine if share == 0.5 else Qt.PenStyle.SolidLine)
            painter.setPen(line)
            height = area.bottom() - share * area.height()
            painter.drawLine(QPointF(area.left(), height), QPointF(area.right(), height))
        painter.setPen(QColor(palette.muted))
        date_area = QRectF(area.left(), area.bottom() + SPACE_1, area.width(), self.height() - area.bottom() - SPACE_1)
        first = format_age(self.samples[0].at, self.samples[-1].at)
        painter.drawText(date_area, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop), first)
        if first != (last := self.tr("today")):
            painter.drawText(date_area, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop), last)

    def _draw_lines(self, painter: QPainter) -> list[tuple[MoodDimension, QColor, QPointF]]:
        ends: list[tuple[MoodDimension, QColor, QPointF]] = []
        palette = self._theme.palette
        for index, dimension in enumerate(self._dimensions):
            points = [
                self._point(sample, sample.values[dimension.id]) for sample in self.samples if dimension.id in sample.values
            ]
            if not points:
                continue
            colour = QColor(mood_colours(palette)[index % len(mood_colours(palette))])
            pen = QPen(colour, 2.2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
            if index % 3 == 2:  # told apart without colour, too
                pen.setDashPattern([4.0, 2.6])
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPolyline(points)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(points[-1], 3.6, 3.6)
            ends.append((dimension, colour, points[-1]))
        return ends

    def _draw_labels(self, painter: QPainter, ends: list[tuple[MoodDimension, QColor, QPointF]]) -> None:
        """Draw each label beside the end of its line, moved down where labels would overlap."""
        height, top, area = QFontMetricsF(self.font()).height(), -1e9, self._plot_area
        by_height = sorted(ends, key=lambda end: end[2].y())
        tops = []
        for _dimension, _colour, point in by_height:
            top = max(top + height, point.y() - height / 2)
            tops.append(top)
        overflow = max(0.0, tops[-1] + height - self.height()) if tops else 0.0
        for (dimension, colour, _point), label_top in zip(by_height, tops, strict=True):
            painter.setPen(colour)
            label_rect = QRectF(area.right() + SPACE_3, label_top - overflow, self.width() - area.right() - SPACE_3, height)
            painter.drawText(label_rect, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), dimension.title)

    # Tooltip.

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.has_history:
            QToolTip.showText(event.globalPos(), self.tooltip_at(event.pos().x()), self)
            return True
        return super().event(event)

    def tooltip_at(self, x: float) -> str:
        """Return date and values of the sample nearest to a horizontal position in pixels."""
        nearest = min(self.samples, key=lambda one: abs(self._point(one, 0.0).x() - x))
        values = [
            f"{dimension.title} {round(nearest.values[dimension.id] * 100)}"
            for dimension in self._dimensions
            if dimension.id in nearest.values
        ]
        return "\n".join((format_age(nearest.at, self.samples[-1].at), *values))
