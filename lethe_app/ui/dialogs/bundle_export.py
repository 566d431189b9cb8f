"""Asks how much of a persona goes into a file, and says what would be inside and how large that is."""

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


class GivingDialog(BundleDialog):
    """Three cards, each holding what the one before holds; nothing of what was said unless the user says so."""

    def __init__(self, parent: QWidget, theme: Theme, offer: BundleOffer, face: QPixmap, scope: BundleScope) -> None:
        name = offer.persona.name
        is_gift = scope is BundleScope.PERSONA
        title = (self.tr("Give {name} away") if is_gift else self.tr("Take {name} along")).format(name=name)
        super().__init__(parent, title)
        self._offer = offer
        from_whom = self.tr("It says that it comes from “{giver}”.").format(giver=offer.giver) if offer.giver else ""
        self.add_head(face, title, self.tr("In one file, which any Lethe opens.") + f" {from_whom}".rstrip())
        self._box = QWidget()
        self._box.setAccessibleName(self.tr("How much goes into the file"))
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
        """Titles and what is inside of each."""
        holds, name = self._offer.holds, self._offer.persona.name
        who = self.tr("Description, portrait")
        who = joined([who, *contents_in_words(Holds(worlds=holds.worlds))])
        kept = Holds(memories=holds.memories, facts=holds.facts, notebooks=holds.notebooks)
        known = joined(contents_in_words(kept)) or self.tr("nothing yet")
        said = joined(contents_in_words(Holds(conversations=holds.conversations, messages=holds.messages)))
        return {
            BundleScope.PERSONA: (
                self.tr("Only who {name} is").format(name=name),
                self._sized(BundleScope.PERSONA, self.tr("{who}. Not a word of what you said.").format(who=who)),
            ),
            BundleScope.MEMORIES: (
                self.tr("And what {name} remembers").format(name=name),
                self._sized(BundleScope.MEMORIES, self.tr("Besides: {known}.").format(known=known)),
            ),
            BundleScope.EVERYTHING: (
                self.tr("Everything, to go on with elsewhere"),
                self._sized(
                    BundleScope.EVERYTHING,
                    self.tr("Besides: {said}.").format(said=said or self.tr("no conversations yet")),
                ),
            ),
        }

    def _sized(self, scope: BundleScope, told: str) -> str:
        return self.tr("{told}\nAbout {size}").format(told=told, size=bytes_in_words(self._offer.sizes[scope]))

    def _follow(self) -> None:
        is_private = any(card.isChecked() for scope, card in self.cards.items() if scope is not BundleScope.PERSONA)
        self.warning.setText(
            self.tr("Whoever has the file can read all of this. It is not locked.")
            if is_private
            else self.tr("Your conversations, and what was remembered of them, stay here.")
        )
        if self.isVisible():
            self.fit()
