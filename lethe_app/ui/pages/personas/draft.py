"""Draft of a persona in the editor: its field values, and storage of unsaved drafts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import QSettings

from lethe_app.domain.persona import Persona, Weekday
from lethe_app.ui.pages.personas.pictures import PENDING_PREFIX

DAY_PREFIX = "schedule."
"""Prefix of the names of the seven schedule fields."""


class Draft:
    """Field values of the editor by name; each day of the schedule is a field of its own."""

    def __init__(self, persona: Persona | None = None, *, is_user: bool = False) -> None:
        """Create the draft of a persona; None starts a new one with an empty name."""
        # A Persona without a name would not be valid.
        self.base = persona or Persona(name="?", is_user=is_user)
        self.values = field_values(self.base)
        if persona is None:
            self.values["name"] = ""

    def build_persona(self, fallback_name: str = "") -> Persona:
        """Return the draft as a persona without empty lines; `fallback_name` is used if the name is empty. Raise ValueError if
        it is invalid.
        """
        values: dict[str, Any] = {name: value for name, value in self.values.items() if not name.startswith(DAY_PREFIX)}
        values["name"] = str(values["name"]).strip() or fallback_name
        for name in ("first_messages", "example_dialogs"):
            values[name] = [text for text in values[name] if text.strip()]
        days = {day: self.values[f"{DAY_PREFIX}{day}"] for day in Weekday}
        values["schedule"] = {day: text for day, text in days.items() if text.strip()}
        return Persona.model_validate(self.base.model_dump() | values)

    def differing_fields(self, persona: Persona) -> Iterator[tuple[str, object, object]]:
        """Yield field name, value of the draft and value of `persona` for each field that differs."""
        for name, value in field_values(persona).items():
            if value != self.values[name]:
                yield name, self.values[name], value

    def is_filled(self, name: str) -> bool:
        """Return whether a field has another value than in a new persona."""
        return _normalised(self.values[name]) != _normalised(field_values(Persona(name="?"))[name])

    def is_equivalent_to(self, persona: Persona | None) -> bool:
        """Return whether saving would change nothing; None stands for a new, empty persona."""
        other_values = field_values(persona) if persona is not None else Draft().values
        return all(_normalised(self.values[name]) == _normalised(value) for name, value in other_values.items())


def field_values(persona: Persona) -> dict[str, Any]:
    """Return the value of each field of the editor."""
    values = persona.model_dump()
    del values["unique_name"]  # which is no matter of writing
    schedule = values.pop("schedule")
    return values | {f"{DAY_PREFIX}{day}": schedule.get(day, "") for day in Weekday}


def _normalised(value: object) -> object:
    """Return the value without surrounding whitespace and without empty texts."""
    if isinstance(value, list):
        return [text for text in value if str(text).strip()]
    return value.strip() if isinstance(value, str) else value


SETTINGS_KEY = "persona_drafts"


class StoredDraft:
    """Unsaved draft of one page, stored with those of other pages in the window's settings file; an unsaved avatar is
    dropped.
    """

    def __init__(self, file: Path) -> None:
        self._file = QSettings(str(file), QSettings.Format.IniFormat)
        self._key = ""
        """Key of the draft that this page stored; empty if there is none."""

    def save_draft(self, draft: Persona, *, is_new: bool) -> None:
        """Store the draft in place of the one this page stored before."""
        if draft.avatar.startswith(PENDING_PREFIX):
            draft = draft.model_copy(update={"avatar": ""})
        stored = {**draft.model_dump(mode="json"), "unique_name": "" if is_new else draft.unique_name}
        self._replace_draft({_draft_key(str(stored["unique_name"]), is_user=draft.is_user): stored})

    def delete_draft(self) -> None:
        """Remove the stored draft because everything is saved."""
        if self._key:
            self._replace_draft({})

    def load_draft(self, unique_name: str, *, is_user: bool) -> Persona | None:
        """Return the stored draft of a persona, or of a new one if the name is empty; it stays stored until `delete_draft`."""
        key = _draft_key(unique_name, is_user=is_user)
        try:
            draft = Persona.model_validate(self._load_drafts()[key])
        except (KeyError, ValidationError):  # none, or another program wrote into the file
            return None
        self._key = key
        return draft

    def _load_drafts(self) -> dict[str, object]:
        self._file.sync()
        try:
            drafts = json.loads(str(self._file.value(SETTINGS_KEY, "{}")))
        except ValueError:
            return {}
        return drafts if isinstance(drafts, dict) else {}

    def _replace_draft(self, draft: dict[str, object]) -> None:
        """Store a draft by its key, or none, in place of the one this page stored before."""
        others = {key: stored for key, stored in self._load_drafts().items() if key != self._key}
        self._key = next(iter(draft), "")
        self._file.setValue(SETTINGS_KEY, json.dumps(others | draft, ensure_ascii=False))
        self._file.sync()


def _draft_key(unique_name: str, *, is_user: bool) -> str:
    return f"{'self' if is_user else 'persona'} {unique_name}"
