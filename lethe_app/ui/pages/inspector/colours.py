"""A colour and a name for each section of a prompt; what is remembered is amber here too, in three shades."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor

from lethe_app.domain.prompt import Part
from lethe_app.ui.core.palette import Palette
from lethe_app.ui.core.theme import mixed

TURNED = {
    Part.PERSONA: 0,
    Part.USER: 42,
    Part.SCENARIO: 80,
    Part.STYLE: 112,
    Part.THOUGHTS: 145,
    Part.WORLD: -64,
    Part.HISTORY: -26,
}
"""Degrees by which the colour of water is turned; none of them comes near amber."""
TINT = 0.13


def colours(palette: Palette) -> dict[Part, str]:
    """One for every section, as `#rrggbb`."""
    found = {part: _turned(palette.water, degrees) for part, degrees in TURNED.items()}
    for part, share in ((Part.MEMORIES, 0.0), (Part.FACTS, 0.25), (Part.SUMMARIES, 0.45)):
        found[part] = mixed(palette.amber, palette.background, share)
    found[Part.SYSTEM] = palette.muted
    found[Part.MESSAGE] = palette.text
    found[Part.SPEAKER] = mixed(palette.text, palette.muted, 0.5)
    found[Part.TEMPLATE] = mixed(palette.border, palette.muted, 0.35)
    return found


def tints(palette: Palette) -> dict[Part, str]:
    """The same as grounds on which words can be read."""
    return {part: mixed(palette.background, colour, TINT) for part, colour in colours(palette).items()}


def _turned(colour: str, degrees: int) -> str:
    made = QColor(colour)
    return QColor.fromHsl((made.hslHue() + degrees) % 360, made.hslSaturation(), made.lightness()).name()


def title_of(part: Part) -> str:
    """A section as the reader calls it."""
    words = {
        Part.SYSTEM: QCoreApplication.translate("Part", "System prompt"),
        Part.PERSONA: QCoreApplication.translate("Part", "Persona"),
        Part.USER: QCoreApplication.translate("Part", "You"),
        Part.SCENARIO: QCoreApplication.translate("Part", "Scenario"),
        Part.STYLE: QCoreApplication.translate("Part", "Style and examples"),
        Part.THOUGHTS: QCoreApplication.translate("Part", "Her own thoughts"),
        Part.WORLD: QCoreApplication.translate("Part", "World"),
        Part.SUMMARIES: QCoreApplication.translate("Part", "Earlier conversations"),
        Part.FACTS: QCoreApplication.translate("Part", "What she knows"),
        Part.HISTORY: QCoreApplication.translate("Part", "This conversation"),
        Part.MEMORIES: QCoreApplication.translate("Part", "What came to mind"),
        Part.SPEAKER: QCoreApplication.translate("Part", "Who speaks next"),
        Part.MESSAGE: QCoreApplication.translate("Part", "Your message"),
        Part.TEMPLATE: QCoreApplication.translate("Part", "The model’s own signs"),
    }
    return words.get(part, part.value)
