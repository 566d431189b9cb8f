"""Keeps what was written but not sent over a restart."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, QTimer

from lethe_app.ui.chat.composer import Composer

KEY = "drafts"
MOST_DRAFTS, MOST_CHARACTERS = 50, 200_000
"""The oldest are given up first."""
PAUSE_MS = 1000


class Drafts(QObject):
    """Puts the composer's drafts into the window's own file a moment after each change, and takes them out at the start."""

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
        """Write the drafts down now."""
        self._pause.stop()
        self._file.setValue(KEY, json.dumps(within_bounds(self._composer.drafts()), ensure_ascii=False))

    def close(self) -> None:
        self._composer.text.textChanged.disconnect(self._pause.start)
        self.save_drafts()
        self._file.sync()


def within_bounds(drafts: dict[str, str]) -> dict[str, str]:
    """As many of the newest drafts, which stand last, as there is room for; one that is too long alone is left out."""
    kept: dict[str, str] = {}
    room = MOST_CHARACTERS
    for session, text in reversed(drafts.items()):
        if text.strip() and len(text) <= room and len(kept) < MOST_DRAFTS:
            kept[session] = text
            room -= len(text)
    return dict(reversed(kept.items()))
