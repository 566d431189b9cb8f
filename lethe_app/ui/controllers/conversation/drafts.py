"""Keep unsent drafts across restarts, until their session is erased."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings, QTimer

from lethe_app.ui.chat.composer import Composer
from lethe_app.ui.controllers.controller import Controller

if TYPE_CHECKING:
    from lethe_app.services.maintenance.trash import Trash
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.shell.main_window import MainWindow

SETTINGS_KEY = "drafts"
MAX_DRAFTS, MAX_CHARACTERS = 50, 200_000
"""Limits of the stored drafts; the oldest are dropped first."""
SAVE_DELAY_MS = 1000
"""Pause after the last change before the drafts are written."""


class DraftStore(QObject):
    """Writes the composer's drafts to the window's settings file shortly after each change, and restores them at the start."""

    def __init__(self, file: Path, composer: Composer) -> None:
        super().__init__(composer)
        self._settings = QSettings(str(file), QSettings.Format.IniFormat)
        self._composer = composer
        self._save_timer = QTimer(self, singleShot=True, interval=SAVE_DELAY_MS)
        self._save_timer.timeout.connect(self.save_drafts)
        composer.add_drafts(self._load_drafts())
        composer.draft_field.textChanged.connect(self._save_timer.start)

    def _load_drafts(self) -> dict[str, str]:
        try:
            drafts = json.loads(str(self._settings.value(SETTINGS_KEY, "{}")))
        except ValueError:  # the file was damaged; drafts are not important enough for an error message
            return {}
        return {str(session): str(text) for session, text in drafts.items()} if isinstance(drafts, dict) else {}

    def save_drafts(self) -> None:
        """Write the drafts now."""
        self._save_timer.stop()
        self._settings.setValue(SETTINGS_KEY, json.dumps(limit_drafts(self._composer.list_drafts()), ensure_ascii=False))

    async def drop_erased(self, find_erased: Callable[[Collection[str]], Awaitable[set[str]]]) -> None:
        """Delete the drafts of sessions that were erased; `find_erased` returns these of some ids."""
        if (drafts := self._composer.list_drafts()) and (erased := await find_erased(drafts.keys())):
            self._composer.drop_drafts(erased)
            self.save_drafts()

    def close(self) -> None:
        """Write the drafts and flush the file."""
        self._composer.draft_field.textChanged.disconnect(self._save_timer.start)
        self.save_drafts()
        self._settings.sync()


class DraftErasure(Controller):
    """Deletes the drafts of sessions that were erased."""

    def __init__(self, window: MainWindow, drafts: DraftStore, sessions: SessionService, trash: Trash) -> None:
        super().__init__(window)
        drop = self._tasks.create_slot(lambda _changed: drafts.drop_erased(sessions.find_erased))
        self._unsubscribers += [trash.changed.add(drop), sessions.changed.add(drop)]


def limit_drafts(drafts: dict[str, str]) -> dict[str, str]:
    """Return the newest drafts, which are last, within the limits; a draft that exceeds what is left is skipped."""
    kept: dict[str, str] = {}
    remaining_characters = MAX_CHARACTERS
    for session, text in reversed(drafts.items()):
        if text.strip() and len(text) <= remaining_characters and len(kept) < MAX_DRAFTS:
            kept[session] = text
            remaining_characters -= len(text)
    return dict(reversed(kept.items()))
