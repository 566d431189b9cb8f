"""Chip “Advanced” of a page, which shows the fields that few people need; the choice is remembered for each page."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QAbstractButton, QPushButton

from lethe_app.services.preferences import Preferences
from lethe_app.ui.core.tasks import TaskRunner
from lethe_app.ui.widgets.buttons import build_chip


def build_advanced_chip(page_name: str, preferences: Preferences, tasks: TaskRunner) -> QPushButton:
    """Create the chip of a page, checked if it was the last time; `page_name` is what the choice is stored under."""
    tr = QCoreApplication.translate
    chip = build_chip(tr("AdvancedChip", "Advanced"), tr("AdvancedChip", "Show options that few people need to change"))
    remember_advanced(chip, page_name, preferences, tasks)
    return chip


def remember_advanced(button: QAbstractButton, page_name: str, preferences: Preferences, tasks: TaskRunner) -> None:
    """Check a button that shows advanced fields if it was checked the last time, and store every change."""
    button.setChecked(page_name in preferences.current.advanced_pages)

    def save_choice(is_on: bool) -> None:
        others = [name for name in preferences.current.advanced_pages if name != page_name]
        tasks.start_task(preferences.set(advanced_pages=[*others, page_name] if is_on else others))

    button.toggled.connect(save_choice)
