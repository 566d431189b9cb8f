"""Rows and columns of widgets, each built in one expression, and what they are scrolled in."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLayout, QScrollArea, QVBoxLayout, QWidget

Item = QWidget | QLayout | int | tuple[Any, ...]
"""A widget or a layout, alone or in a tuple with its share of the free space and its alignment. A number is free space
with that share.
"""
Margins = int | tuple[int, int, int, int]
"""The same margin on all sides, or left, top, right and bottom, in pixels."""


class ContentArea(QScrollArea):
    """Scroll area without frame and background, in which `content` has the width of the area, or is centred if its own is
    limited. Only what is in it takes the focus.
    """

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        content.setObjectName("sheet")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        self.setWidget(content)


def build_row(*items: Item, spacing: int = 0, margins: Margins = 0, parent: QWidget | None = None) -> QHBoxLayout:
    """Return the items from left to right, as the layout of `parent` if there is one; `spacing` and `margins` are in pixels."""
    row = QHBoxLayout() if parent is None else QHBoxLayout(parent)
    _fill(row, items, spacing, margins)
    return row


def build_column(*items: Item, spacing: int = 0, margins: Margins = 0, parent: QWidget | None = None) -> QVBoxLayout:
    """Return the items from top to bottom, as the layout of `parent` if there is one; `spacing` and `margins` are in pixels."""
    column = QVBoxLayout() if parent is None else QVBoxLayout(parent)
    _fill(column, items, spacing, margins)
    return column


def _fill(box: QBoxLayout, items: tuple[Item, ...], spacing: int, margins: Margins) -> None:
    box.setSpacing(spacing)
    box.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    for item in items:
        content, *options = item if isinstance(item, tuple) else (item,)
        if isinstance(content, int):
            box.addStretch(content)
        elif isinstance(content, QLayout):
            box.addLayout(content, *options)
        else:
            box.addWidget(content, *options)
