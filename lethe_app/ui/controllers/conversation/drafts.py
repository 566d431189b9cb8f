"""Keep unsent drafts across restarts."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, QTimer

from lethe_app.ui.chat.composer import Composer

KEY = "drafts"
MOST_DRAFTS, MOST_CHARACTERS = 50, 200_000
"""Limits of the stored drafts; the oldest are dropped first."""
PAUSE_MS = 1000
"""Pause after the last change before the drafts are written."""


class Drafts(QObject):
    """Writes the composer's drafts to the window's settings file shortly after each change, and restores them at the start."""

    def __init__(self, file: Path, composer: Composer) -> None:
        super().__init__(composer)
        self._file = QSettings(str(file), QSettings.Format.IniFormat)
        self._composer = composer
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.save_drafts)
        composer.take_drafts(self._kept())
        composer.text.textChanged.connect(self._pause.start)

    def _kept(self) -> dict[str, str]:
        try:
            kept = json.loads(str(self._file.value(KEY, "{}")))
        except ValueError:  # another program wrote into the file; a draft is not worth a message
            return {}
        return {str(session): str(text) for session, text in kept.items()} if isinstance(kept, dict) else {}

    def save_drafts(self) -> None:
        """Write the drafts now."""
        self._pause.stop()
        self._file.setValue(KEY, json.dumps(within_bounds(self._composer.drafts()), ensure_ascii=False))

    def close(self) -> None:
        """Write the drafts and flush the file."""
        self._composer.text.textChanged.disconnect(self._pause.start)
        self.save_drafts()
        self._file.sync()


def within_bounds(drafts: dict[str, str]) -> dict[str, str]:
    """Return the newest drafts, which are last, within the limits; a draft that exceeds what is left is skipped."""
    kept: dict[str, str] = {}
    room = MOST_CHARACTERS
    for session, text in reversed(drafts.items()):
        if text.strip() and len(text) <= room and len(kept) < MOST_DRAFTS:
            kept[session] = text
            room -= len(text)
    return dict(reversed(kept.items()))
