"""Application theme: applies one palette as QPalette, stylesheet and font, according to the system or the user's choice."""

from __future__ import annotations

from pathlib import Path
from string import Template

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from lethe_app.ui.core.palette import NIGHT, RADIUS_CARD, RADIUS_CONTROL, Palette, choose_palette

PROSE_SIZE = 15
"""Default size of message text, in pixels."""
COLOURS = ("background", "surface", "raised", "border", "text", "muted", "water", "amber", "danger", "good")
"""Colours of the palette that the stylesheet can use by name."""


def mix_colours(base_colour: str, added_colour: str, share: float) -> str:
    """Return the colour with `share` (0 to 1) of `added_colour` and the rest of `base_colour`, as `#rrggbb`."""
    first, second = QColor(base_colour), QColor(added_colour)
    parts = ((first.red(), second.red()), (first.green(), second.green()), (first.blue(), second.blue()))
    return QColor(*(round(a + (b - a) * share) for a, b in parts)).name()


def text_colour_on_accent(palette: Palette) -> str:
    """Return the text colour on a filled accent: dark text on the pale accents of the dark palette, white on the deep ones
    of the light.
    """
    return palette.background if palette.is_dark else palette.surface


def set_style_properties(widget: QWidget, **properties: bool) -> None:
    """Set dynamic properties on which selectors of a style sheet depend."""
    if any(widget.property(name) != value for name, value in properties.items()):
        for name, value in properties.items():
            widget.setProperty(name, value)
        # Qt evaluates such selectors only when a widget is polished, and polishes it only once by itself.
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def interface_font_size(prose_size: int) -> int:
    """Return the font size of the interface in pixels for message text of `prose_size`."""
    return max(11, round(prose_size * 13 / PROSE_SIZE))


def stylesheet_variables(palette: Palette, prose_size: int, icons: Path) -> dict[str, str]:
    """Return all `$name` variables of the stylesheet; `icons` is the folder with the small SVGs in the colours of each
    palette.
    """
    chrome = interface_font_size(prose_size)
    scrim = QColor(palette.background if palette.is_dark else palette.text)
    return {
        **{name: getattr(palette, name) for name in COLOURS},
        "on_water": text_colour_on_accent(palette),
        "on_danger": text_colour_on_accent(palette),
        "hover": mix_colours(palette.raised, palette.text, 0.06),
        "pressed": mix_colours(palette.raised, palette.text, 0.14),
        "selected": mix_colours(palette.background, palette.water, 0.20),
        "hairline": mix_colours(palette.background, palette.border, 0.6),
        "section": str(chrome + 1),
        "chevron": (icons / f"chevron-{palette.name}.svg").as_posix(),
        "tick": (icons / f"tick-{palette.name}.svg").as_posix(),
        "water_hover": mix_colours(palette.water, palette.text, 0.12),
        "scrim": f"rgba({scrim.red()}, {scrim.green()}, {scrim.blue()}, 45%)",
        "radius": str(RADIUS_CONTROL),
        "card": str(RADIUS_CARD),
        "prose": str(prose_size),
        "small": str(max(11, chrome - 1)),
        "title": str(chrome + 3),
        "hero": str(chrome + 17),
    }


def build_qt_palette(palette: Palette) -> QPalette:
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
    result = QPalette()
    for colour, colour_roles in roles.items():
        for role in colour_roles:
            result.setColor(role, QColor(colour))
    result.setColor(group.HighlightedText, QColor(text_colour_on_accent(palette)))
    for role in (group.WindowText, group.Text, group.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, role, QColor(palette.muted))
    return result


class Theme(QObject):
    """The current palette and text size. `changed` is emitted after the theme was applied."""

    changed = Signal()

    def __init__(self, application: QApplication, folder: Path, choice: str = "system", prose_size: int = PROSE_SIZE) -> None:
        super().__init__()
        self._application = application
        self._folder = folder
        self._template = Template((folder / "window.qss").read_text(encoding="utf-8"))
        self._choice = choice
        self._default_font = application.font()
        self._applied: tuple[str, int] | None = None
        self.prose_size = prose_size
        self.reduced_motion = False
        self.palette = NIGHT
        # Native styles take colours from the system and ignore parts of palette and style sheet.
        application.setStyle("Fusion")
        self.apply_choice(choice, prose_size)
        application.styleHints().colorSchemeChanged.connect(lambda: self._apply_theme() if self._choice == "system" else None)

    def apply_choice(self, choice: str, prose_size: int) -> None:
        """Apply the palette of `choice` and message text of `prose_size` pixels."""
        hints = self._application.styleHints()
        scheme = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}.get(choice, Qt.ColorScheme.Unknown)
        self._choice = choice
        self.prose_size = prose_size
        if hints.colorScheme() != scheme:  # native menus, file dialogs and the title bar follow this
            hints.setColorScheme(scheme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        light = self._application.styleHints().colorScheme() == Qt.ColorScheme.Light
        self.palette = choose_palette(self._choice, system_is_light=light)
        if self._applied == (self.palette.name, self.prose_size):
            return
        self._applied = (self.palette.name, self.prose_size)
        font = QFont(self._default_font)
        font.setPixelSize(interface_font_size(self.prose_size))
        self._application.setPalette(build_qt_palette(self.palette))
        self._application.setFont(font)
        variables = stylesheet_variables(self.palette, self.prose_size, self._folder)
        self._application.setStyleSheet(self._template.substitute(variables))
        self.changed.emit()
