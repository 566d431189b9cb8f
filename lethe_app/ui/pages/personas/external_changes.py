"""Merge of changes that others write into the file of a persona while it is open in the editor, so that saving reverts none."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lethe_app.errors import FileError
from lethe_app.ui.pages.personas.draft import field_values
from lethe_app.ui.pages.personas.fields import field_title

if TYPE_CHECKING:
    from lethe_app.domain.persona import Persona
    from lethe_app.services.library import Library
    from lethe_app.ui.pages.personas.editor import PersonaEditor


class ExternalChanges(QObject):
    """Follows the file of one editor page: untouched fields are updated, fields that the user changed too keep the user's
    value.
    """

    def __init__(self, page: PersonaEditor, library: Library) -> None:
        super().__init__(page)
        self._page, self._library = page, library
        self.is_contested = self.is_broken = False
        """`is_contested`: a field was changed both elsewhere and here. `is_broken`: the file can no longer be read."""
        self._unsubscribe = self._library.changed.add(lambda _nothing: self._schedule_merge())

    def close(self) -> None:
        self._unsubscribe()

    def mark_saved(self) -> None:
        """Reset the conflict flags after the draft was saved."""
        self.is_contested = self.is_broken = False

    def _schedule_merge(self) -> None:
        if self._page.is_loaded and not self._page.save_lock.locked():
            self._page.context.tasks.start_task(self.merge_changes())

    async def merge_changes(self) -> None:
        """Merge changes written since the persona was last read or saved here; nothing happens if the file is missing."""
        page, before = self._page, self._page.saved
        if before is None:
            return
        on_disk = await self._load_from_disk(before.unique_name)
        # The page may have saved or been closed while the file was being read.
        if on_disk is None or before is not page.saved or on_disk == before or page.is_closed:
            return
        old, new = field_values(before), field_values(on_disk)
        changed_names = {name for name, value in new.items() if value != old[name]}
        contested = {name for name in changed_names if page.draft.values[name] not in (old[name], new[name])}
        for name in changed_names - contested:
            page.draft.values[name] = new[name]
            page.sheet.set_field(name, new[name])
        page.saved = page.draft.base = on_disk
        page.draft_changed.emit()
        if contested:
            self.is_contested = True
            self._show_conflict(contested)

    async def _load_from_disk(self, unique_name: str) -> Persona | None:
        try:
            return await self._library.persona_on_disk(unique_name)
        except FileError:
            self.is_broken = self._library.is_own(unique_name)
            return None

    def _show_conflict(self, names: Collection[str]) -> None:
        fields = ", ".join(f"“{title}”" for title in sorted({field_title(name) for name in names}))
        text = self.tr(
            "{fields}: also changed elsewhere in the meantime. Saving keeps your version; the other one goes to the Trash."
        )
        self._page.banner.show_message(text.format(fields=fields))
