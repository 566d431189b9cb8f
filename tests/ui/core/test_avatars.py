"""Round pictures are the same person everywhere."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor

from lethe_app.paths import shipped_root
from lethe_app.ui.core.avatars import disc_colours, render_avatar
from lethe_app.ui.core.palette import DAY, NIGHT

PICTURES = sorted((shipped_root() / "personas").glob("*.svg"))


def colours(pixmap) -> set[str]:
    image = pixmap.toImage()
    points = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return {QColor(image.pixel(x, y)).name() for x, y in points if QColor(image.pixelColor(x, y)).alpha() == 255}


@pytest.mark.parametrize("palette", [NIGHT, DAY])
def test_a_letter_avatar_has_the_colour_of_its_persona(palette, qapp):
    disc = disc_colours("tomas", palette)[0].name()
    in_sidebar = render_avatar(None, "tomas", "Tomas", 32, palette)

    assert disc in colours(in_sidebar)


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
@pytest.mark.parametrize("density", [1.0, 1.5, 2.0])
def test_every_shipped_avatar_is_rendered_for_the_pixel_ratio(path, density, qapp):
    drawn = render_avatar(path, path.stem, path.stem.title(), 36, NIGHT, density)

    assert drawn.width() == round(36 * density)
    assert len(colours(drawn)) > 20


def test_an_unreadable_image_gives_the_letter_avatar(tmp_path, qapp):
    spoilt = tmp_path / "spoilt.png"
    spoilt.write_bytes(b"no picture")

    assert disc_colours("mira", NIGHT)[0].name() in colours(render_avatar(spoilt, "mira", "Mira", 36, NIGHT))
