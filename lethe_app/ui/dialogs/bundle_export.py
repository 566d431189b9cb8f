"""Dialog for the scope of a bundle export, with the contents and estimated size of each scope."""

from __future__ import annotations

from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lethe_app.domain.bundle import BundleScope, Holds
from lethe_app.services.personas.bundles import BundleOffer
from lethe_app.ui.core.formatting import joined
from lethe_app.ui.core.icons import picture
from lethe_app.ui.core.palette import ICON, SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.bundle_parts import BundleDialog, bytes_in_words, contents_in_words, words
from lethe_app.ui.shell.welcome_card import ChoiceCard

DRAWINGS = {BundleScope.PERSONA: "user", BundleScope.MEMORIES: "thought", BundleScope.EVERYTHING: "folder"}
"""Icon of each scope."""


class GivingDialog(BundleDialog):
    """Dialog with one card per scope, each of which includes the one before. Conversations are only exported if the user
    selects them.
    """

    def __init__(self, parent: QWidget, theme: Theme, offer: BundleOffer, face: QPixmap, scope: BundleScope) -> None:
        name = offer.persona.name
        is_gift = scope is BundleScope.PERSONA
        title = (self.tr("Export {name}") if is_gift else self.tr("Export {name} with history")).format(name=name)
        super().__init__(parent, title)
        self._offer = offer
        from_whom = self.tr("The file names “{giver}” as its author.").format(giver=offer.giver) if offer.giver else ""
        self.add_head(
            face, title, self.tr("Creates one file that can be imported in any copy of Lethe.") + f" {from_whom}".rstrip()
        )
        self._box = QWidget()
        self._box.setAccessibleName(self.tr("What to export"))
        column = QVBoxLayout(self._box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_2)
        self.cards: dict[BundleScope, ChoiceCard] = {}
        for each, (headline, told) in self._choices().items():
            sign = picture(DRAWINGS[each], theme.palette.muted, ICON, self.devicePixelRatioF())
            card = self.cards[each] = ChoiceCard(theme, headline, told, sign, self._box)
            card.setChecked(each is scope)
            card.toggled.connect(self._follow)
            column.addWidget(card)
        self.column.addWidget(self._box)
        self.warning = words("", "quiet")
        self.column.addWidget(self.warning)
        self.add_buttons(self.tr("Save as…"), self.tr("Cancel"))
        self._follow()
        self.cards[scope].setFocus()

    @property
    def scope(self) -> BundleScope:
        return next(scope for scope, card in self.cards.items() if card.isChecked())

    def _choices(self) -> dict[BundleScope, tuple[str, str]]:
        """Return title and text of the card of each scope."""
        holds, name = self._offer.holds, self._offer.persona.name
        who = self.tr("Description, portrait")
        who = joined([who, *contents_in_words(Holds(worlds=holds.worlds))])
        kept = Holds(memories=holds.memories, facts=holds.facts, notebooks=holds.notebooks)
        known = joined(contents_in_words(kept)) or self.tr("no memories yet")
        said = joined(contents_in_words(Holds(conversations=holds.conversations, messages=holds.messages)))
        return {
            BundleScope.PERSONA: (
                self.tr("Only the persona {name}").format(name=name),
                self._sized(BundleScope.PERSONA, self.tr("{who}. No conversations or memories.").format(who=who)),
            ),
            BundleScope.MEMORIES: (
                self.tr("Also what {name} remembers").format(name=name),
                self._sized(BundleScope.MEMORIES, self.tr("Also includes {known}.").format(known=known)),
            ),
            BundleScope.EVERYTHING: (
                self.tr("Everything, including conversations"),
                self._sized(
                    BundleScope.EVERYTHING,
                    self.tr("Also includes {said}.").format(said=said or self.tr("no conversations yet")),
                ),
            ),
        }

    def _sized(self, scope: BundleScope, told: str) -> str:
        return self.tr("{told}\nAbout {size}").format(told=told, size=bytes_in_words(self._offer.sizes[scope]))

    def _follow(self) -> None:
        is_private = any(card.isChecked() for scope, card in self.cards.items() if scope is not BundleScope.PERSONA)
        self.warning.setText(
            self.tr("Anyone who has the file can read its contents. It is not encrypted.")
            if is_private
            else self.tr("Your conversations and the memories of them are not exported.")
        )
        if self.isVisible():
            self.fit()
