"""Introduces a persona that came in a file: who it is, from whom, and what comes along, before anything is stored."""

from __future__ import annotations

from PySide6.QtCore import QDate, QLocale
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from lethe_app.domain.bundle import Bundle
from lethe_app.ui.core.formatting import joined
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.bundle_parts import FACE, BundleDialog, contents_in_words, portrait, words

LONGEST_BIO = 280


class MeetingDialog(BundleDialog):
    """“Meet Mira?” Where there is a Mira already, the new one can be given a name of her own."""

    def __init__(self, parent: QWidget, theme: Theme, bundle: Bundle, name: str) -> None:
        """`name` is what she would be called here; another one than her own where somebody has that."""
        persona = bundle.persona
        own = _short(persona.name, 60)
        title = self.tr("Meet {name}?").format(name=own)
        super().__init__(parent, title)
        face = portrait(bundle.picture, persona.name, FACE, theme.palette, self.devicePixelRatioF())
        self.add_head(face, title, _short(persona.tagline, 120))
        about = _short(persona.mini_bio or persona.bio, LONGEST_BIO)
        about = about.replace("{{char}}", persona.name).replace("{{user}}", self.tr("you"))
        if about:
            self.column.addWidget(words(about))
        self.inside = words(self._inside(bundle), "quiet")
        self.column.addWidget(self.inside)
        self.name = QLineEdit(name)
        self.name.setMaxLength(60)
        if name != persona.name:
            taken = self.tr("Somebody here is called {name} already. &Call this one:").format(name=own.replace("&", "&&"))
            label = QLabel(taken)
            label.setWordWrap(True)
            label.setBuddy(self.name)
            self.column.addWidget(label)
            self.column.addWidget(self.name)
        else:
            self.name.hide()
        self.add_buttons(self.tr("Meet {name}").format(name=_short(persona.name, 24)), self.tr("Not now"))
        self.name.textChanged.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        self.primary.setFocus()

    def _inside(self, bundle: Bundle) -> str:
        """From whom, of which day, and with what."""
        giver = _short(bundle.manifest.giver, 60)
        made = bundle.manifest.made.astimezone()
        day = QLocale().toString(QDate(made.year, made.month, made.day), QLocale.FormatType.LongFormat)
        origin = self.tr("From {giver}, packed on {day}.").format(giver=giver, day=day)
        origin = origin if giver else self.tr("Packed on {day}.").format(day=day)
        contents = joined(contents_in_words(bundle.holds))
        along = self.tr("Comes with {contents}.").format(contents=contents) if contents else ""
        return f"{origin}\n{along}".strip()


def _short(text: str, most: int) -> str:
    """On one line, and no longer than fits; where it can be, it is cut between words."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return f"{(cut.rsplit(' ', 1)[0] if ' ' in cut[most // 2 :] else cut).rstrip(' ,;:')}…"
