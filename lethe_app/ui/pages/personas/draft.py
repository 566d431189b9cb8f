"""Draft of a persona in the editor: its field values, undo steps for typing, and storage of unsaved drafts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import QSettings
from PySide6.QtGui import QUndoCommand

from lethe_app.domain.persona import Persona, Weekday
from lethe_app.ui.pages.personas.pictures import PENDING
from lethe_app.ui.pages.undo_commands import NO_MERGE, FieldChange

DAY = "schedule."
"""Prefix of the names of the seven schedule fields."""
ENDS = frozenset(".!?…\n")
"""Characters after which a new undo step begins."""


class Draft:
    """Field values of the editor by name; each day of the schedule is a field of its own."""

    def __init__(self, persona: Persona | None = None, *, is_user: bool = False) -> None:
        """Create the draft of a persona; None starts a new one with an empty name."""
        # A Persona without a name would not be valid.
        self.base = persona or Persona(name="?", is_user=is_user)
        self.values = flat(self.base)
        if persona is None:
            self.values["name"] = ""

    def persona(self, nameless: str = "") -> Persona:
        """Return the draft as a persona without empty lines; `nameless` is used if the name is empty. Raise ValueError if it
        is invalid.
        """
        values: dict[str, Any] = {name: value for name, value in self.values.items() if not name.startswith(DAY)}
        values["name"] = str(values["name"]).strip() or nameless
        for name in ("first_messages", "example_dialogs"):
            values[name] = [text for text in values[name] if text.strip()]
        days = {day: self.values[f"{DAY}{day}"] for day in Weekday}
        values["schedule"] = {day: text for day, text in days.items() if text.strip()}
        return Persona.model_validate(self.base.model_dump() | values)

    def differences(self, persona: Persona) -> Iterator[tuple[str, object, object]]:
        """Yield field name, value of the draft and value of `persona` for each field that differs."""
        for name, value in flat(persona).items():
            if value != self.values[name]:
                yield name, self.values[name], value

    def is_like(self, persona: Persona | None) -> bool:
        """Return whether saving would change nothing; None stands for a new, empty persona."""
        other = flat(persona) if persona is not None else Draft().values
        return all(_bare(self.values[name]) == _bare(value) for name, value in other.items())


@dataclass(frozen=True)
class Letter:
    """Effect of a single key press on a text, which decides whether two changes are one undo step."""

    place: int
    """Index of the text in a list of texts; -1 for a plain text."""
    typed: str
    """The character typed; empty if one was deleted."""


class Stroke(FieldChange):
    """Undo command for typing in a field: one step per sentence, with separate steps for typing and deleting."""

    def __init__(self, title: str, name: str, old: object, new: object, put: Callable[[str, object], None]) -> None:
        super().__init__(title, name, old, new, put)
        self.letter = letter_between(old, new)

    def id(self) -> int:
        # The id of a QUndoCommand is a C int; -1 means that it never merges.
        return hash(self.name) & 0x7FFFFFFF if self.letter is not None else NO_MERGE

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, Stroke) or not goes_on(self.letter, other.letter) or not super().mergeWith(other):
            return False
        self.letter = other.letter
        return True


def letter_between(old: object, new: object) -> Letter | None:
    """Return the single character typed or deleted in a text, or in one text of a list; None for any other change."""
    if isinstance(old, str) and isinstance(new, str):
        if abs(len(new) - len(old)) != 1:
            return None
        if len(new) < len(old):
            return Letter(-1, "")
        return Letter(-1, new[min(_shared(old, new), len(new) - 1)])
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        places = [place for place, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
        inner = letter_between(old[places[0]], new[places[0]]) if len(places) == 1 else None
        return Letter(places[0], inner.typed) if inner is not None else None
    return None


def _shared(one: str, other: str) -> int:
    """Return the length of the common prefix, by bisection: texts may be long, and this runs at every key press."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def goes_on(letter: Letter | None, following: Letter | None) -> bool:
    """Return whether the next key press belongs to the same undo step."""
    if letter is None or following is None or letter.place != following.place:
        return False
    if bool(letter.typed) != bool(following.typed):
        return False
    return letter.typed not in ENDS or following.typed in ENDS


def flat(persona: Persona) -> dict[str, Any]:
    """Return the value of each field of the editor."""
    values = persona.model_dump()
    del values["unique_name"]  # which is no matter of writing
    schedule = values.pop("schedule")
    return values | {f"{DAY}{day}": schedule.get(day, "") for day in Weekday}


def _bare(value: object) -> object:
    """Return the value without surrounding whitespace and without empty texts."""
    if isinstance(value, list):
        return [text for text in value if str(text).strip()]
    return value.strip() if isinstance(value, str) else value


KEY = "persona_drafts"


class Leftover:
    """Unsaved draft of one page, stored with those of other pages in the window's settings file; an unsaved avatar is
    dropped.
    """

    def __init__(self, file: Path) -> None:
        self._file = QSettings(str(file), QSettings.Format.IniFormat)
        self._kept_as = ""

    def keep_draft(self, draft: Persona, *, is_new: bool) -> None:
        """Store the draft in place of the one this page stored before."""
        if draft.avatar.startswith(PENDING):
            draft = draft.model_copy(update={"avatar": ""})
        kept = {**draft.model_dump(mode="json"), "unique_name": "" if is_new else draft.unique_name}
        name = _key(str(kept["unique_name"]), is_user=draft.is_user)
        self._write({**self._all(without=self._kept_as), name: kept})
        self._kept_as = name

    def drop(self) -> None:
        """Remove the stored draft because everything is saved."""
        if self._kept_as:
            self._write(self._all(without=self._kept_as))
            self._kept_as = ""

    def take(self, unique_name: str, *, is_user: bool) -> Persona | None:
        """Return the stored draft of a persona, or of a new one if the name is empty; it stays stored until `drop`."""
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
