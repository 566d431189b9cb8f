"""What the tests of the window share: a theme that is taken off again, so that no test dresses another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from lethe_app.paths import Paths
from lethe_app.ui.core.theme import Theme


@pytest.fixture
def styled_app(qapp: QApplication) -> Iterator[QApplication]:
    """The application, undressed after the test."""
    style, font, palette = qapp.style().objectName(), qapp.font(), qapp.palette()
    yield qapp
    qapp.setStyleSheet("")
    qapp.setStyle(style)
    qapp.setFont(font)
    qapp.setPalette(palette)


@pytest.fixture
def theme(styled_app: QApplication) -> Theme:
    """Night, in the usual size."""
    return Theme(styled_app, Paths.standard(Path("unused")).resources / "theme", "dark")
