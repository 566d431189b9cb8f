"""Application theme: applies one palette as QPalette, stylesheet and font, according to the system or the user's choice."""

from __future__ import annotations

from pathlib import Path
from string import Template

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication

from lethe_app.ui.core.palette import NIGHT, RADIUS_CARD, RADIUS_CONTROL, Palette, chosen_palette

PROSE_SIZE = 15
"""Default size of message text, in pixels."""
COLOURS = ("background", "surface", "raised", "border", "text", "muted", "water", "amber", "danger", "good")
"""Colours of the palette that the stylesheet can use by name."""


def mixed(one: str, other: str, share: float) -> str:
    """Return the colour with `share` (0 to 1) of `other` and the rest of `one`, as `#rrggbb`."""
    first, second = QColor(one), QColor(other)
    parts = ((first.red(), second.red()), (first.green(), second.green()), (first.blue(), second.blue()))
    return QColor(*(round(a + (b - a) * share) for a, b in parts)).name()


def on_accent(palette: Palette) -> str:
    """Return the text colour on a filled accent: dark text on the pale accents of the dark palette, white on the deep ones
    of the light.
    """
    return palette.background if palette.is_dark else palette.surface


def chrome_size(prose_size: int) -> int:
    """Return the font size of the interface in pixels for message text of `prose_size`."""
    return max(11, round(prose_size * 13 / PROSE_SIZE))


def tokens(palette: Palette, prose_size: int, icons: Path) -> dict[str, str]:
    """Return all `$name` variables of the stylesheet; `icons` is the folder with the small SVGs in the colours of each
    palette.
    """
    chrome = chrome_size(prose_size)
    scrim = QColor(palette.background if palette.is_dark else palette.text)
    return {
        **{name: getattr(palette, name) for name in COLOURS},
        "on_water": on_accent(palette),
        "on_danger": on_accent(palette),
        "hover": mixed(palette.raised, palette.text, 0.06),
        "pressed": mixed(palette.raised, palette.text, 0.14),
        "selected": mixed(palette.background, palette.water, 0.20),
        "hairline": mixed(palette.background, palette.border, 0.6),
        "section": str(chrome + 1),
        "chevron": (icons / f"chevron-{palette.name}.svg").as_posix(),
        "tick": (icons / f"tick-{palette.name}.svg").as_posix(),
        "water_hover": mixed(palette.water, palette.text, 0.12),
        "scrim": f"rgba({scrim.red()}, {scrim.green()}, {scrim.blue()}, 45%)",
        "radius": str(RADIUS_CONTROL),
        "card": str(RADIUS_CARD),
        "prose": str(prose_size),
        "small": str(max(11, chrome - 1)),
        "title": str(chrome + 3),
        "hero": str(chrome + 17),
    }


def qt_palette(palette: Palette) -> QPalette:
    """Return the QPalette for what Qt paints by itself, such as menus, dialogs and selections."""
    group = QPalette.ColorRole
    roles = {
        palette.background: (group.Window,),
        palette.surface: (group.Base,),
        palette.raised: (group.AlternateBase, group.Button, group.ToolTipBase, group.Light),
        palette.text: (group.WindowText, group.Text, group.ButtonText, group.ToolTipText),
        palette.muted: (group.PlaceholderText,),
        palette.danger: (group.BrightText,),
        palette.water: (group.Highlight, group.Link, group.Accent),
        palette.border: (group.Mid, group.Dark, group.Midlight),
    }
    dressed = QPalette()
    for colour, wearers in roles.items():
        for role in wearers:
            dressed.setColor(role, QColor(colour))
    dressed.setColor(group.HighlightedText, QColor(on_accent(palette)))
    for role in (group.WindowText, group.Text, group.ButtonText):
        dressed.setColor(QPalette.ColorGroup.Disabled, role, QColor(palette.muted))
    return dressed


class Theme(QObject):
    """The current palette and text size. `changed` is emitted after the theme was applied."""

    changed = Signal()

    def __init__(self, application: QApplication, folder: Path, choice: str = "system", prose_size: int = PROSE_SIZE) -> None:
        super().__init__()
        self._application = application
        self._folder = folder
        self._template = Template((folder / "window.qss").read_text(encoding="utf-8"))
        self._choice = choice
        self._own_font = application.font()
        self._worn: tuple[str, int] | None = None
        self.prose_size = prose_size
        self.reduced_motion = False
        self.palette = NIGHT
        application.setStyle("Fusion")
        self.wear(choice, prose_size)
        application.styleHints().colorSchemeChanged.connect(self._follow_system)

    @property
    def choice(self) -> str:
        """Return the user's choice: `system`, `light` or `dark`."""
        return self._choice

    def wear(self, choice: str, prose_size: int) -> None:
        """Apply the palette of `choice` and message text of `prose_size` pixels."""
        hints = self._application.styleHints()
        scheme = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}.get(choice, Qt.ColorScheme.Unknown)
        self._choice = choice
        self.prose_size = prose_size
        if hints.colorScheme() != scheme:  # native menus, file dialogs and the title bar follow this
            hints.setColorScheme(scheme)
        self._dress()

    def _follow_system(self) -> None:
        if self._choice == "system":
            self._dress()

    def _dress(self) -> None:
        self.palette = self._chosen_palette()
        if self._worn == (self.palette.name, self.prose_size):
            return
        self._worn = (self.palette.name, self.prose_size)
        font = QFont(self._own_font)
        font.setPixelSize(chrome_size(self.prose_size))
        self._application.setPalette(qt_palette(self.palette))
        self._application.setFont(font)
        self._application.setStyleSheet(self._template.substitute(tokens(self.palette, self.prose_size, self._folder)))
        self.changed.emit()

    def _chosen_palette(self) -> Palette:
        light = self._application.styleHints().colorScheme() == Qt.ColorScheme.Light
        return chosen_palette(self._choice, system_is_light=light)
