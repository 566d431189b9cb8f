"""Dialog that shows a bundle's persona, origin and contents before anything is imported."""

from __future__ import annotations

from PySide6.QtCore import QDate, QLocale
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from lethe_app.domain.bundle import Bundle
from lethe_app.ui.core.avatars import render_portrait
from lethe_app.ui.core.formatting import join_with_and, shorten_text
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.bundle_parts import AVATAR_SIZE, BundleDialog, describe_contents
from lethe_app.ui.widgets.labels import create_text_label

MAX_BIO_LENGTH = 280
"""Maximum characters of the persona's description."""


class BundleImportDialog(BundleDialog):
    """Confirmation of an import. If the persona's name is taken, the user can enter another one."""

    def __init__(self, parent: QWidget, theme: Theme, bundle: Bundle, name: str) -> None:
        """Set up the dialog. `name` is the suggested name; it differs from the persona's own if that is taken."""
        persona = bundle.persona
        short_name = shorten_text(persona.name, 60)
        title = self.tr("Import {name}?").format(name=short_name)
        super().__init__(parent, title, self.tr("Import {name}").format(name=shorten_text(persona.name, 24)))
        avatar = render_portrait(bundle.picture, persona.name, AVATAR_SIZE, theme.palette, self.devicePixelRatioF())
        self.add_header(avatar, title, shorten_text(persona.tagline, 120))
        description = shorten_text(persona.mini_bio or persona.bio, MAX_BIO_LENGTH)
        description = description.replace("{{char}}", persona.name).replace("{{user}}", self.tr("you"))
        if description:
            self.column.addWidget(create_text_label(description))
        self.contents_label = create_text_label(self._describe_bundle(bundle), "quiet")
        self.column.addWidget(self.contents_label)
        self.name_field = QLineEdit(name)
        self.name_field.setMaxLength(60)
        if name != persona.name:
            name_question = self.tr("A persona called {name} already exists. &Name for the imported one:").format(
                name=short_name.replace("&", "&&")
            )
            label = QLabel(name_question)
            label.setWordWrap(True)
            label.setBuddy(self.name_field)
            self.column.addWidget(label)
            self.column.addWidget(self.name_field)
        else:
            self.name_field.hide()
        self.name_field.textChanged.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        self.primary.setFocus()

    def _describe_bundle(self, bundle: Bundle) -> str:
        """Return author, date and contents of the bundle as text."""
        author = shorten_text(bundle.manifest.giver, 60)
        exported_at = bundle.manifest.made.astimezone()
        day = QLocale().toString(QDate(exported_at.year, exported_at.month, exported_at.day), QLocale.FormatType.LongFormat)
        origin = self.tr("From {giver}, exported on {day}.").format(giver=author, day=day)
        origin = origin if author else self.tr("Exported on {day}.").format(day=day)
        contents = join_with_and(describe_contents(bundle.holds))
        contents_text = self.tr("Contains {contents}.").format(contents=contents) if contents else ""
        return f"{origin}\n{contents_text}".strip()
