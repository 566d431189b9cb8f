"""The colours and sizes that the window wears."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QPalette

from lethe_app.paths import shipped_root
from lethe_app.ui.core.palette import DAY, NIGHT, Palette
from lethe_app.ui.core.theme import interface_font_size, mix_colours, stylesheet_variables, text_colour_on_accent

UI = shipped_root() / "lethe_app" / "ui"
SHEET = shipped_root() / "resources" / "theme" / "window.qss"
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b|\brgba?\(\s*\d")


def brightness(colour: str) -> float:
    """Relative luminance after WCAG 2."""
    parts = [value / 255 for value in QColor(colour).getRgb()[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((brightness(one), brightness(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [NIGHT, DAY], ids=lambda palette: palette.name)
def test_every_pair_of_text_and_background_has_enough_contrast(palette: Palette):
    grounds = [palette.background, palette.surface, palette.raised, stylesheet_variables(palette, 15, Path())["hover"]]
    for ink in (palette.text, palette.muted):
        assert all(contrast(ink, ground) >= 4.5 for ground in grounds), ink
    for accent in (palette.water, palette.danger):
        assert contrast(text_colour_on_accent(palette), accent) >= 4.5
    current_row = mix_colours(palette.surface, palette.text, 0.09)
    assert contrast(palette.text, current_row) >= 4.5
    assert contrast(palette.muted, current_row) >= 4.5


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
