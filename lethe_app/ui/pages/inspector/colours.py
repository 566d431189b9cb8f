"""Colours and titles of prompt sections. Sections from memory are amber as everywhere in the window, in four shades."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication
from PySide6.QtGui import QColor

from lethe_app.domain.prompt import PartTokens, PromptPart
from lethe_app.ui.core.formatting import format_session_title
from lethe_app.ui.core.palette import Palette
from lethe_app.ui.core.theme import mix_colours

HUE_SHIFTS = {
    PromptPart.PERSONA: 0,
    PromptPart.USER: 42,
    PromptPart.SCENARIO: 80,
    PromptPart.STYLE: 112,
    PromptPart.THOUGHTS: 145,
    PromptPart.WORLD: -64,
    PromptPart.HISTORY: -26,
}
"""Hue of a section in degrees relative to the palette's colour `water`; no section comes near amber."""
MEMORY_SHADES = {
    PromptPart.MEMORIES: 0.0,
    PromptPart.FACTS: 0.2,
    PromptPart.SUMMARIES: 0.4,
    PromptPart.EARLIER: 0.55,
}
"""Share of the background in the amber of a section that comes from memory."""
TITLES = {
    PromptPart.SYSTEM: str(QT_TRANSLATE_NOOP("Part", "System prompt")),
    PromptPart.PERSONA: str(QT_TRANSLATE_NOOP("Part", "Persona")),
    PromptPart.USER: str(QT_TRANSLATE_NOOP("Part", "User persona")),
    PromptPart.SCENARIO: str(QT_TRANSLATE_NOOP("Part", "Scenario")),
    PromptPart.STYLE: str(QT_TRANSLATE_NOOP("Part", "Style and examples")),
    PromptPart.THOUGHTS: str(QT_TRANSLATE_NOOP("Part", "Personal thoughts")),
    PromptPart.WORLD: str(QT_TRANSLATE_NOOP("Part", "World entries")),
    PromptPart.SUMMARIES: str(QT_TRANSLATE_NOOP("Part", "Conversation summaries")),
    PromptPart.FACTS: str(QT_TRANSLATE_NOOP("Part", "Facts")),
    PromptPart.EARLIER: str(QT_TRANSLATE_NOOP("Part", "Earlier conversation")),
    PromptPart.HISTORY: str(QT_TRANSLATE_NOOP("Part", "Chat history")),
    PromptPart.MEMORIES: str(QT_TRANSLATE_NOOP("Part", "Recalled memories")),
    PromptPart.SPEAKER: str(QT_TRANSLATE_NOOP("Part", "Next speaker")),
    PromptPart.MESSAGE: str(QT_TRANSLATE_NOOP("Part", "Your message")),
    PromptPart.TEMPLATE: str(QT_TRANSLATE_NOOP("Part", "Template tokens")),
}
TINT_STRENGTH = 0.13


def section_colours(palette: Palette) -> dict[PromptPart, str]:
    """Return the colour of each section as `#rrggbb`."""
    by_part = {part: _shift_hue(palette.water, degrees) for part, degrees in HUE_SHIFTS.items()}
    for part, share in MEMORY_SHADES.items():
        by_part[part] = mix_colours(palette.amber, palette.background, share)
    by_part[PromptPart.SYSTEM] = palette.muted
    by_part[PromptPart.MESSAGE] = palette.text
    by_part[PromptPart.SPEAKER] = mix_colours(palette.text, palette.muted, 0.5)
    by_part[PromptPart.TEMPLATE] = mix_colours(palette.border, palette.muted, 0.35)
    return by_part


def section_tints(palette: Palette) -> dict[PromptPart, str]:
    """Return the background colour of each section, pale enough for text on it to be legible."""
    return {part: mix_colours(palette.background, colour, TINT_STRENGTH) for part, colour in section_colours(palette).items()}


def _shift_hue(colour: str, degrees: int) -> str:
    original = QColor(colour)
    return QColor.fromHsl((original.hslHue() + degrees) % 360, original.hslSaturation(), original.lightness()).name()


def section_title(part: PromptPart) -> str:
    """Return the display name of a section."""
    return QCoreApplication.translate("Part", TITLES[part])


def share_title(share: PartTokens, session_titles: Mapping[str, str]) -> str:
    """Return the display name of a share; that of an earlier session contains its title, found by the session's id."""
    title = session_titles.get(share.session, "")
    if share.part is not PromptPart.EARLIER or not title:
        return section_title(share.part)
    text = QCoreApplication.translate("Part", "Earlier: “{title}”")
    return text.format(title=format_session_title(title))
