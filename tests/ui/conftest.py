"""What the tests of the window share: a theme that is taken off again, so that no test dresses another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from lethe_app.paths import Paths
from lethe_app.ui.core.theme import Theme


@pytest.fixture(autouse=True)
def _no_starter_model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless a test asks for `starter_model`, no window loads it beside the test: nobody could foresee when that ends."""
    if "starter_model" not in request.fixturenames:
        monkeypatch.setattr("lethe_app.llm.models.bundled.chat_model", lambda: None)


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
