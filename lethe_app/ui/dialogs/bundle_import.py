"""Dialog that shows a bundle's persona, origin and contents before anything is imported."""

from __future__ import annotations

from PySide6.QtCore import QDate, QLocale
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from lethe_app.domain.bundle import Bundle
from lethe_app.ui.core.formatting import joined
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.bundle_parts import FACE, BundleDialog, contents_in_words, portrait, words

LONGEST_BIO = 280
"""Maximum characters of the persona's description."""


class MeetingDialog(BundleDialog):
    """Confirmation of an import. If the persona's name is taken, the user can enter another one."""

    def __init__(self, parent: QWidget, theme: Theme, bundle: Bundle, name: str) -> None:
        """Set up the dialog. `name` is the suggested name; it differs from the persona's own if that is taken."""
        persona = bundle.persona
        own = _short(persona.name, 60)
        title = self.tr("Import {name}?").format(name=own)
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
            taken = self.tr("A persona called {name} already exists. &Name for the imported one:").format(
                name=own.replace("&", "&&")
            )
            label = QLabel(taken)
            label.setWordWrap(True)
            label.setBuddy(self.name)
            self.column.addWidget(label)
            self.column.addWidget(self.name)
        else:
            self.name.hide()
        self.add_buttons(self.tr("Import {name}").format(name=_short(persona.name, 24)), self.tr("Cancel"))
        self.name.textChanged.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        self.primary.setFocus()

    def _inside(self, bundle: Bundle) -> str:
        """Return author, date and contents of the bundle as text."""
        giver = _short(bundle.manifest.giver, 60)
        made = bundle.manifest.made.astimezone()
        day = QLocale().toString(QDate(made.year, made.month, made.day), QLocale.FormatType.LongFormat)
        origin = self.tr("From {giver}, exported on {day}.").format(giver=giver, day=day)
        origin = origin if giver else self.tr("Exported on {day}.").format(day=day)
        contents = joined(contents_in_words(bundle.holds))
        along = self.tr("Contains {contents}.").format(contents=contents) if contents else ""
        return f"{origin}\n{along}".strip()


def _short(text: str, most: int) -> str:
    """Return the text on one line, cut to `most` characters, between words where possible."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return f"{(cut.rsplit(' ', 1)[0] if ' ' in cut[most // 2 :] else cut).rstrip(' ,;:')}…"
