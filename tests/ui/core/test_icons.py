"""The icons: one family, in any colour, sharp at any density."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor

from lethe_app.paths import shipped_root
from lethe_app.ui.core.icons import application_icon, load_icon, render_icon

DRAWINGS = sorted((shipped_root() / "resources" / "icons").glob("*.svg"))


@pytest.mark.parametrize("drawing", [path for path in DRAWINGS if path.stem != "lethe"], ids=lambda path: path.stem)
def test_an_icon_is_rendered_in_the_requested_colour(qapp, drawing):
    image = render_icon(drawing.stem, QColor("red").name(), 20, 2.0).toImage()

    inked = [image.pixelColor(x, y) for x in range(40) for y in range(40) if image.pixelColor(x, y).alpha() > 200]
    assert inked
    assert all(colour.red() > 200 and colour.green() < 60 for colour in inked)


@pytest.mark.parametrize("drawing", [path for path in DRAWINGS if path.stem != "lethe"], ids=lambda path: path.stem)
def test_all_icons_share_their_svg_attributes(drawing):
    text = drawing.read_text(encoding="utf-8")

    assert 'viewBox="0 0 20 20"' in text
    assert 'stroke-width="1.5"' in text
    assert 'stroke-linecap="round"' in text


def test_a_high_pixel_ratio_gives_more_pixels(qapp):
    assert load_icon("send", QColor("red").name()).pixmap(20, 20).width() == 20
    assert render_icon("send", QColor("red").name(), 20, 3.0).width() == 60


def test_the_application_has_an_icon(qapp):
    assert not application_icon().pixmap(64, 64).isNull()
