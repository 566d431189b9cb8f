"""Keeps a draft over a restart when the window is closed before it was saved."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError
from PySide6.QtCore import QSettings

from lethe_app.domain.persona import Persona
from lethe_app.ui.workshop.persona_pictures import PENDING

KEY = "persona_draft"


class Leftover:
    """One draft, in the window's own file; a picture that was not saved with it is given up."""

    def __init__(self, file: Path) -> None:
        self._file = QSettings(str(file), QSettings.Format.IniFormat)

    def keep(self, draft: Persona, *, is_new: bool) -> None:
        if draft.avatar.startswith(PENDING):
            draft = draft.model_copy(update={"avatar": ""})
        kept = {**draft.model_dump(mode="json"), "unique_name": "" if is_new else draft.unique_name}
        self._file.setValue(KEY, json.dumps(kept, ensure_ascii=False))
        self._file.sync()

    def take(self, unique_name: str, *, is_user: bool) -> Persona | None:
        """The draft of this persona (of a new one without a name), which is no longer kept then."""
        try:
            draft = Persona.model_validate(json.loads(str(self._file.value(KEY, ""))))
        except (ValueError, ValidationError):  # none, or another program wrote into the file
            return None
        if (draft.unique_name, draft.is_user) != (unique_name, is_user):
            return None
        self._file.remove(KEY)
        return draft
