"""Colours and measures of the window. All colour literals are here; QPalette, stylesheet and painters read them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """Colours of one theme, each as `#rrggbb`. Every pair of text and background colour has a contrast of at least 4.5 : 1."""

    name: str
    background: str
    surface: str
    raised: str
    border: str
    text: str
    muted: str
    water: str
    """Accent: selection, links, focus and primary actions."""
    amber: str
    """Accent of everything about memory, used for nothing else."""
    danger: str
    good: str

    @property
    def is_dark(self) -> bool:
        return self.name == "night"


NIGHT = Palette(
    name="night",
    background="#14161A",
    surface="#1B1E24",
    raised="#22262E",
    border="#2E333D",
    text="#E6E8EC",
    muted="#9AA3B2",
    water="#6FB3C8",
    amber="#E0B36A",
    danger="#E5736E",
    good="#7CC08A",
)
DAY = Palette(
    name="day",
    background="#F7F6F3",
    surface="#FFFFFF",
    raised="#FBFAF8",
    border="#E3E0DA",
    text="#23262B",
    muted="#5F6875",
    water="#23708A",
    amber="#8A5D10",
    danger="#B3362F",
    good="#2F7A45",
)


def choose_palette(choice: str, *, system_is_light: bool) -> Palette:
    """Return the palette for the choice “system”, “light” or “dark”; dark if the system's colour scheme is unknown."""
    is_light = choice == "light" or (choice not in {"light", "dark"} and system_is_light)
    return DAY if is_light else NIGHT


SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6, SPACE_8 = 4, 8, 12, 16, 24, 32
RADIUS_CONTROL, RADIUS_CARD = 6, 10
PROSE_WIDTH = 720
"""Maximum width of message text, in pixels."""
LINE_HEIGHT = 1.55
AVATAR = 36
ICON = 20
MOTION_MS = 150
"""Duration of animations, in milliseconds."""
