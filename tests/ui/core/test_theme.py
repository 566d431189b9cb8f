"""The colours and sizes that the window wears."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtGui import QPalette

from lethe_app.paths import shipped_root
from lethe_app.ui.core.palette import DAY, NIGHT
from lethe_app.ui.core.theme import interface_font_size

UI = shipped_root() / "lethe_app" / "ui"
SHEET = shipped_root() / "resources" / "theme" / "window.qss"
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b|\brgba?\(\s*\d")


@pytest.mark.parametrize("path", [*sorted(UI.glob("*.py")), SHEET], ids=lambda path: path.name)
def test_only_the_palette_spells_colours(path: Path):
    if path.name == "palette.py":
        return
    assert not COLOUR.findall(path.read_text(encoding="utf-8"))


def test_both_palettes_are_applied_to_the_application(styled_app, theme):
    theme.apply_choice("light", 15)

    assert theme.palette is DAY
    assert styled_app.palette().color(QPalette.ColorRole.Window).name().upper() == DAY.background

    theme.apply_choice("dark", 15)

    assert styled_app.palette().color(QPalette.ColorRole.Window).name().upper() == NIGHT.background


def test_larger_prose_enlarges_the_interface_too(styled_app, theme):
    theme.apply_choice("dark", 24)

    assert styled_app.font().pixelSize() == interface_font_size(24) > interface_font_size(15)
