"""Chip: a small button that stays pressed, for filters above a list."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton


def build_chip(text: str, tooltip: str = "") -> QPushButton:
    """Create a checkable chip."""
    chip = QPushButton(text)
    chip.setProperty("chip", True)
    chip.setCheckable(True)
    chip.setToolTip(tooltip)
    return chip
