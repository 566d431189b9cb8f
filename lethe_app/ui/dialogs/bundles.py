"""Dialogs of bundles: the scope of an export, and what an import would bring before anything is imported."""

from __future__ import annotations

from PySide6.QtCore import QDate, QLocale
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from lethe_app.domain.bundle import Bundle, BundleCounts, BundleScope
from lethe_app.services.personas.bundles import ExportPreview
from lethe_app.ui.core.avatars import render_portrait
from lethe_app.ui.core.formatting import format_bytes, join_with_and, shorten_text
from lethe_app.ui.core.icons import render_icon
from lethe_app.ui.core.palette import ICON, SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.bundle_parts import AVATAR_SIZE, BundleDialog, describe_contents
from lethe_app.ui.widgets.choice_card import ChoiceCard
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_column

SCOPE_ICONS = {BundleScope.PERSONA: "user", BundleScope.MEMORIES: "thought", BundleScope.EVERYTHING: "folder"}
"""Icon of each scope."""


class BundleExportDialog(BundleDialog):
    """Dialog with one card per scope, each of which includes the one before. Conversations are only exported if the user
    selects them.
    """

    def __init__(self, parent: QWidget, theme: Theme, preview: ExportPreview, avatar: QPixmap, scope: BundleScope) -> None:
        name = preview.persona.name
        is_persona_only = scope is BundleScope.PERSONA
        title = (self.tr("Export {name}") if is_persona_only else self.tr("Export {name} with history")).format(name=name)
        super().__init__(parent, title, self.tr("Save as…"))
        self._preview = preview
        author_text = (
            self.tr("The file names “{giver}” as its author.").format(giver=preview.user_name) if preview.user_name else ""
        )
        self.add_header(
            avatar, title, self.tr("Creates one file that can be imported in any copy of Lethe.") + f" {author_text}".rstrip()
        )
        self._scope_box = QWidget()
        self._scope_box.setAccessibleName(self.tr("What to export"))
        column = build_column(spacing=SPACE_2, parent=self._scope_box)
        self.cards: dict[BundleScope, ChoiceCard] = {}
        for choice, (headline, description) in self._scope_texts().items():
            scope_icon = render_icon(SCOPE_ICONS[choice], theme.palette.muted, ICON, self.devicePixelRatioF())
            card = self.cards[choice] = ChoiceCard(theme, headline, description, scope_icon, self._scope_box)
            card.setChecked(choice is scope)
            card.toggled.connect(self._update_warning)
            column.addWidget(card)
        self.column.addWidget(self._scope_box)
        self.warning = create_text_label("", "quiet")
        self.column.addWidget(self.warning)
        self._update_warning()
        self.cards[scope].setFocus()

    @property
    def scope(self) -> BundleScope:
        return next(scope for scope, card in self.cards.items() if card.isChecked())

    def _scope_texts(self) -> dict[BundleScope, tuple[str, str]]:
        """Return title and text of the card of each scope."""
        contents, name = self._preview.counts, self._preview.persona.name
        persona_text = self.tr("Description, portrait")
        persona_text = join_with_and([persona_text, *describe_contents(BundleCounts(worlds=contents.worlds))])
        memory_contents = BundleCounts(memories=contents.memories, facts=contents.facts, notebooks=contents.notebooks)
        memories_text = join_with_and(describe_contents(memory_contents)) or self.tr("no memories yet")
        conversations_text = join_with_and(
            describe_contents(BundleCounts(conversations=contents.conversations, messages=contents.messages))
        )
        return {
            BundleScope.PERSONA: (
                self.tr("Only the persona {name}").format(name=name),
                self._append_size(
                    BundleScope.PERSONA, self.tr("{who}. No conversations or memories.").format(who=persona_text)
                ),
            ),
            BundleScope.MEMORIES: (
                self.tr("Also what {name} remembers").format(name=name),
                self._append_size(BundleScope.MEMORIES, self.tr("Also includes {contents}.").format(contents=memories_text)),
            ),
            BundleScope.EVERYTHING: (
                self.tr("Everything, including conversations"),
                self._append_size(
                    BundleScope.EVERYTHING,
                    self.tr("Also includes {contents}.").format(contents=conversations_text or self.tr("no conversations yet")),
                ),
            ),
        }

    def _append_size(self, scope: BundleScope, description: str) -> str:
        return self.tr("{contents}\nAbout {size}").format(contents=description, size=format_bytes(self._preview.sizes[scope]))

    def _update_warning(self) -> None:
        is_private = any(card.isChecked() for scope, card in self.cards.items() if scope is not BundleScope.PERSONA)
        self.warning.setText(
            self.tr("Anyone who has the file can read its contents. It is not encrypted.")
            if is_private
            else self.tr("Your conversations and the memories of them are not exported.")
        )
        if self.isVisible():
            self.fit_to_content()


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
