"""Right pane of the page: a single entry, several entries, or the settings of the world."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QStackedWidget

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.worlds.key_checks import Index, check
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.bulk_edit import BulkPanel
from lethe_app.ui.pages.worlds.commands import entry_of
from lethe_app.ui.pages.worlds.editor_state import WorldBook
from lethe_app.ui.pages.worlds.entry_form import EntryForm
from lethe_app.ui.pages.worlds.settings import WorldForm


class WorldEntryDetail(QStackedWidget):
    """Pane for the selection; the token count and key checks of an entry run in the background."""

    back_wanted = Signal()
    remember_wanted = Signal(object)
    delete_wanted = Signal()

    def __init__(self, place: PageContext, book: WorldBook) -> None:
        super().__init__()
        self._place, self._book, self._worlds = place, book, place.services.worlds
        self._said: list[str] = []
        self._index: tuple[World | None, Index] = (None, Index())
        self.about = WorldForm(place.theme, book)
        self._is_wide = True
        self.addWidget(self.about)
        self.about.back_wanted.connect(self.back_wanted)
        self._checks = QTimer(self, singleShot=True, interval=120)
        self._checks.timeout.connect(lambda: place.bridge.spawn(self._check(), lane="world-checks"))

    @cached_property
    def entry(self) -> EntryForm:
        """Form of an entry, created when one is first shown: it is the largest part of the page."""
        form = EntryForm(self._place.theme, self._book)
        form.back.setVisible(not self._is_wide)
        form.back_wanted.connect(self.back_wanted)
        form.count_wanted.connect(lambda text: self._place.bridge.spawn(self._count(text), lane="world-tokens"))
        form.remember_wanted.connect(self.remember_wanted)
        self.addWidget(form)
        return form

    @property
    def _shown_entry(self) -> WorldEntry | None:
        # A cached_property is in the instance's dictionary once it was created; reading it here would create the form.
        return self.entry.entry if "entry" in vars(self) else None

    @cached_property
    def bulk(self) -> BulkPanel:
        """Panel for several entries, created when several are first selected."""
        panel = BulkPanel(self._place.theme, self._book)
        panel.back.setVisible(not self._is_wide)
        panel.back_wanted.connect(self.back_wanted)
        panel.delete_wanted.connect(self.delete_wanted)
        self.addWidget(panel)
        return panel

    def show_world(self, world: World | None) -> None:
        """Show another world or a new version of it."""
        self.setEnabled(world is not None)
        if world is None:
            return
        self.about.show_world(world)
        self.about.show_bound(self._book.bound, self._book.stem)
        before = self._shown_entry
        shown = entry_of(world, before.guid) if before is not None else None
        if shown is not None and shown is not before:
            self.entry.show_entry(shown)

    def show_chosen(self, chosen: Sequence[WorldEntry]) -> None:
        """Show the selected entries, or the settings of the world if there are none."""
        if len(chosen) == 1:
            if self.entry.entry is not chosen[0]:
                self.entry.show_entry(chosen[0])
            self._checks.start()
            self.setCurrentWidget(self.entry)
        elif chosen:
            self.bulk.show_entries(chosen)
            self.setCurrentWidget(self.bulk)
        else:
            self.setCurrentWidget(self.about)

    def measure_by(self, said: list[str]) -> None:
        """Set the user's messages on which the frequency of keys is measured."""
        self._said = said
        self._checks.start()

    def fit(self, *, is_wide: bool) -> None:
        """Show or hide the back buttons; they are not needed while the table is beside the pane."""
        self._is_wide = is_wide
        made = [self.about, *(vars(self)[name] for name in ("entry", "bulk") if name in vars(self))]
        for form in made:
            form.back.setVisible(not is_wide)

    def focus_first_field(self) -> None:
        """Focus the first field of the form on display."""
        form = self.currentWidget()
        if isinstance(form, EntryForm | WorldForm):
            form.focus_first_field()

    async def show_owners(self) -> None:
        """Load and show the owners to which the world can be assigned."""
        self.about.show_owners(await self._worlds.owners(self._place.session()))

    async def _count(self, text: str) -> None:
        (tokens,) = await self._worlds.tokens([text])
        self.entry.show_tokens(text, tokens)

    async def _check(self) -> None:
        """Check the keys of the entry on display in a thread, because a world may be large."""
        world, entry, said = self._book.world, self._shown_entry, self._said
        if world is None or entry is None:
            return
        if self._index[0] is not world:
            self._index = (world, await asyncio.to_thread(Index.build, world))
        findings = await asyncio.to_thread(check, entry, self._index[1], said)
        # Another entry may have been selected while the keys were being checked.
        if self._shown_entry is entry:
            self.entry.show_findings(findings)
