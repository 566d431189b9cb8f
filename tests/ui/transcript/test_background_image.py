"""A picture behind the words is drawn faintly, in the right shape, and never makes them hard to read."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from lethe_app.ui.core.palette import DAY, NIGHT, Palette
from lethe_app.ui.core.theme import mix_colours
from lethe_app.ui.transcript.background_image import IMAGE_OPACITY, BackgroundImage, load_image, scale_to_cover
from tests.ui.test_accessibility import contrast

pytestmark = pytest.mark.usefixtures("styled_app")


def painted(folder: Path, colour: str, width: int = 40, height: int = 20) -> Path:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    image.save(str(folder / "picture.png"))
    return folder / "picture.png"


def test_the_image_is_drawn_with_its_opacity(tmp_path: Path):
    place = QWidget()
    place.resize(100, 60)
    backdrop = BackgroundImage(place)
    backdrop.set_image(str(painted(tmp_path, "#ffffff")))
    ground = QPixmap(100, 60)
    ground.fill(QColor("#000000"))

    painter = QPainter(ground)
    backdrop.draw(painter)
    painter.end()

    assert abs(ground.toImage().pixelColor(50, 5).red() - round(255 * IMAGE_OPACITY)) <= 2


def test_the_image_covers_child_widgets_and_fades_out_at_the_lower_edge(tmp_path: Path):
    place = QWidget()
    place.resize(100, 160)
    strip = QWidget(place)
    strip.setGeometry(90, 0, 10, 160)
    backdrop = BackgroundImage(place)
    backdrop.set_image(str(painted(tmp_path, "#ffffff")))
    ground = QPixmap(10, 160)
    ground.fill(QColor("#000000"))

    painter = QPainter(ground)
    backdrop.draw(painter, strip)
    painter.end()

    shades = [ground.toImage().pixelColor(5, height).red() for height in (20, 136, 159)]
    assert abs(shades[0] - round(255 * IMAGE_OPACITY)) <= 2
    assert shades[0] > shades[1] > shades[2]


def test_a_file_that_is_no_image_is_ignored(tmp_path: Path):
    (tmp_path / "words.png").write_text("not a picture", encoding="utf-8")

    assert load_image(tmp_path / "words.png") is None
    assert load_image(tmp_path / "gone.png") is None


def test_the_image_covers_the_widget_in_its_aspect_ratio(tmp_path: Path):
    picture = load_image(painted(tmp_path, "#336699", 400, 100))

    assert scale_to_cover(picture, QSize(90, 120)).size() == QSize(90, 120)


@pytest.mark.parametrize("palette", [NIGHT, DAY], ids=lambda palette: palette.name)
@pytest.mark.parametrize("extreme", ["#000000", "#ffffff"])
def test_text_keeps_its_contrast_over_any_image(palette: Palette, extreme: str):
    ground = mix_colours(palette.background, extreme, IMAGE_OPACITY)

    for ink in (palette.text, palette.muted, palette.water, palette.amber):
        assert contrast(ink, ground) >= 4.5, (palette.name, ink, ground, contrast(ink, ground))
