"""Right pane of the page: a single entry, several entries, or the settings of the world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property

from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import QLineEdit, QStackedWidget, QWidget

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.preferences import Preferences
from lethe_app.services.token_counts import TokenCountService
from lethe_app.services.worlds.key_checks import WorldKeyIndex, check_entry
from lethe_app.services.worlds.service import WorldService
from lethe_app.ui.core.theme import interface_font_size
from lethe_app.ui.pages.advanced_chip import remember_advanced
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.bulk_edit import BulkEditPanel
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.entry_form import EntryForm
from lethe_app.ui.pages.worlds.entry_order import find_entry
from lethe_app.ui.pages.worlds.settings import WorldSettingsForm

MIN_WIDTH, WIDTH = 330, 372
"""Minimum and initial width in pixels, at the default text size."""


class WorldEntryDetail(QStackedWidget):
    """Pane for the selection; the token count and key checks of an entry run in the background."""

    def __init__(
        self,
        context: PageContext,
        worlds: WorldService,
        token_counts: TokenCountService,
        preferences: Preferences,
        book: WorldEditorState,
        copy_to_memories: Callable[[WorldEntry | None], None],
    ) -> None:
        super().__init__()
        self._context, self._book, self._worlds, self._token_counts = context, book, worlds, token_counts
        self._preferences, self._copy_to_memories = preferences, copy_to_memories
        self._user_messages: list[str] = []
        self._key_index: tuple[World | None, WorldKeyIndex] = (None, WorldKeyIndex())
        self.world_form = WorldSettingsForm(context.theme, book)
        scale = interface_font_size(context.theme.prose_size) / 13
        self.setMinimumWidth(round(MIN_WIDTH * scale))
        self._width = round(WIDTH * scale)
        self.addWidget(QWidget())  # in place of the placeholder of other pages: there is always something to show
        self.addWidget(self.world_form)
        remember_advanced(self.world_form.advanced_chip, "world settings", preferences, context.tasks)
        self._check_timer = QTimer(self, singleShot=True, interval=120)
        self._check_timer.timeout.connect(lambda: context.tasks.start_task(self._check_keys(), key="world-checks"))

    def sizeHint(self) -> QSize:
        return QSize(self._width, 600)

    @cached_property
    def entry(self) -> EntryForm:
        """Form of an entry, created when one is first shown: it is the largest part of the page."""
        form = EntryForm(self._context.theme, self._book, self._copy_to_memories)
        remember_advanced(form.more_button, "worlds", self._preferences, self._context.tasks)
        form.count_requested.connect(lambda text: self._context.tasks.start_task(self._count_tokens(text), key="world-tokens"))
        self.addWidget(form)
        return form

    @property
    def _shown_entry(self) -> WorldEntry | None:
        # A cached_property is in the instance's dictionary once it was created; reading it here would create the form.
        return self.entry.entry if "entry" in vars(self) else None

    @cached_property
    def bulk(self) -> BulkEditPanel:
        """Panel for several entries, created when several are first selected."""
        panel = BulkEditPanel(self._context.theme, self._book)
        self.addWidget(panel)
        return panel

    def show_world(self, world: World | None) -> None:
        """Show another world or a new version of it."""
        self.setEnabled(world is not None)
        if world is None:
            return
        self.world_form.show_world(world)
        old_entry = self._shown_entry
        new_entry = find_entry(world, old_entry.guid) if old_entry is not None else None
        if new_entry is not None and new_entry is not old_entry:
            self.entry.show_entry(new_entry)

    def show_selection(self, entries: Sequence[WorldEntry]) -> None:
        """Show the selected entries, or the settings of the world if there are none."""
        if len(entries) == 1:
            if self.entry.entry is not entries[0]:
                self.entry.show_entry(entries[0])
            self._check_timer.start()
            self.setCurrentWidget(self.entry)
        elif entries:
            self.bulk.show_entries(entries)
            self.setCurrentWidget(self.bulk)
        else:
            self.setCurrentWidget(self.world_form)

    def set_user_messages(self, messages: list[str]) -> None:
        """Set the user's messages on which the frequency of keys is measured."""
        self._user_messages = messages
        self._check_timer.start()

    def focus_name(self) -> None:
        """Focus the name of the entry or world on display and select its text."""
        shown = self.currentWidget()
        name = shown.form.field_widget("name") if isinstance(shown, EntryForm | WorldSettingsForm) else None
        if isinstance(name, QLineEdit):
            name.setFocus()
            name.selectAll()

    async def show_owners(self) -> None:
        """Load and show the owners to which the world can be assigned, and who else uses it."""
        session = self._context.current_session()
        self.world_form.show_owners(await self._worlds.list_owners(session), await self._worlds.list_other_users(session))

    async def _count_tokens(self, text: str) -> None:
        (tokens,) = await self._token_counts.count([text])
        self.entry.show_tokens(text, tokens)

    async def _check_keys(self) -> None:
        """Check the keys of the entry on display in a thread, because a world may be large."""
        world, entry, messages = self._book.world, self._shown_entry, self._user_messages
        if world is None or entry is None:
            return
        if self._key_index[0] is not world:
            self._key_index = (world, await asyncio.to_thread(WorldKeyIndex.build, world))
        findings = await asyncio.to_thread(check_entry, entry, self._key_index[1], messages)
        # Another entry may have been selected while the keys were being checked.
        if self._shown_entry is entry:
            self.entry.show_findings(findings)
