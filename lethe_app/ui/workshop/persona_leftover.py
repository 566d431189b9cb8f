"""Keeps drafts that are not saved yet over a restart, whether the window was closed over them or the program ended at once."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError
from PySide6.QtCore import QSettings

from lethe_app.domain.persona import Persona
from lethe_app.ui.workshop.persona_pictures import PENDING

KEY = "persona_drafts"


class Leftover:
    """The draft of one page, beside those of others in the window's own file; a picture that was not saved is given up."""

    def __init__(self, file: Path) -> None:
        self._file = QSettings(str(file), QSettings.Format.IniFormat)
        self._kept_as = ""

    def keep(self, draft: Persona, *, is_new: bool) -> None:
        """Instead of what this page kept before."""
        if draft.avatar.startswith(PENDING):
            draft = draft.model_copy(update={"avatar": ""})
        kept = {**draft.model_dump(mode="json"), "unique_name": "" if is_new else draft.unique_name}
        name = _key(str(kept["unique_name"]), is_user=draft.is_user)
        self._write({**self._all(without=self._kept_as), name: kept})
        self._kept_as = name

    def drop(self) -> None:
        """There is nothing any more that is not saved."""
        if self._kept_as:
            self._write(self._all(without=self._kept_as))
            self._kept_as = ""

    def take(self, unique_name: str, *, is_user: bool) -> Persona | None:
        """The draft of this persona (of a new one without a name); it is kept until `drop`."""
        name = _key(unique_name, is_user=is_user)
        try:
            draft = Persona.model_validate(self._all()[name])
        except (KeyError, ValidationError):  # none, or another program wrote into the file
            return None
        self._kept_as = name
        return draft

    def _all(self, without: str = "") -> dict[str, object]:
        self._file.sync()
        try:
            drafts = json.loads(str(self._file.value(KEY, "{}")))
        except ValueError:
            return {}
        return {name: kept for name, kept in drafts.items() if name != without} if isinstance(drafts, dict) else {}

    def _write(self, drafts: dict[str, object]) -> None:
        if drafts:
            self._file.setValue(KEY, json.dumps(drafts, ensure_ascii=False))
        else:
            self._file.remove(KEY)
        self._file.sync()


def _key(unique_name: str, *, is_user: bool) -> str:
    return f"{'self' if is_user else 'persona'} {unique_name}"
