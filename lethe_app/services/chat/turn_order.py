"""Order of speakers in a group: personas that are named, else each in turn, up to a maximum number of replies in a row."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lethe_app.config.options import GroupTurns
from lethe_app.domain.persona import Persona

MIN_NAME_CHARACTERS = 3
"""Minimum length in characters of a first name that counts without the rest of the name."""


class SingleTurn:
    """Order with one reply, of the only persona that answers."""

    def __init__(self, unique_name: str) -> None:
        self._waiting: str | None = unique_name

    def next(self) -> str | None:
        """Return the `unique_name` of the speaker; None after the first call."""
        name, self._waiting = self._waiting, None
        return name

    def note_reply(self, _speaker: str, _text: str) -> None:
        """Do nothing, because no other persona answers."""


class TurnOrder:
    """Order of the replies to one message: take the speaker from `next`, and report each reply with `note_reply`."""

    def __init__(self, group: Sequence[Persona], way: GroupTurns, most: int) -> None:
        self._group = [one.unique_name for one in group]
        self._names = {one.unique_name: spoken_names(one, group) for one in group}
        self._way, self._left = way, most
        self._waiting: list[str] = []
        self._otherwise: list[str] = []
        """Fallback speaker if the model is to choose and gives no usable answer."""

    def asked(self, text: str, last: str) -> None:
        """Plan the replies to the user's message; `last` is the persona that spoke before it."""
        named = self.named_in(text) if self._way is not GroupTurns.ONE else []
        self._otherwise = [] if named else self._after(last)[:1]
        if self._way is GroupTurns.EVERYONE:
            self._waiting = [*named, *(one for one in self._after(last) if one not in named)]
        elif self._way is GroupTurns.MODEL:
            self._waiting = named
        else:
            self._waiting = named or self._otherwise

    @property
    def is_open(self) -> bool:
        """True if the model has to choose the next speaker."""
        return self._way is GroupTurns.MODEL and not self._waiting and self._left > 0

    @property
    def must_answer(self) -> bool:
        """True if the user's message has no reply yet."""
        return bool(self._otherwise)

    def choose(self, unique_name: str) -> None:
        """Set the speaker that the model chose; an empty name means the user or no usable answer."""
        self._waiting = [unique_name] if unique_name in self._names else self._otherwise
        self._otherwise = []

    def note_reply(self, speaker: str, text: str) -> None:
        """Record a reply: personas it names may answer, if they are not waiting already."""
        self._otherwise = []
        if self._way in {GroupTurns.NAMED, GroupTurns.MODEL}:
            self._waiting += [one for one in self.named_in(text) if one != speaker and one not in self._waiting]

    def next(self) -> str | None:
        """Return the `unique_name` of the next speaker; None if it is the user's turn."""
        if not self._waiting or not self._left:
            return None
        self._left -= 1
        return self._waiting.pop(0)

    def named_in(self, text: str) -> list[str]:
        """Return the personas that a text names by whole words, in the order of their first mention."""
        first: dict[str, int] = {}
        for unique_name, names in self._names.items():
            places = [found.start() for name in names if (found := _as_word(name).search(text))]
            if places:
                first[unique_name] = min(places)
        return sorted(first, key=first.__getitem__)

    def _after(self, last: str) -> list[str]:
        """Return all personas in rotation, beginning after `last`; without one, with the first."""
        start = self._group.index(last) + 1 if last in self._group else 0
        return [*self._group[start:], *self._group[:start]]


def spoken_names(persona: Persona, group: Sequence[Persona]) -> list[str]:
    """Return the names a persona can be addressed by: the whole name, and its first word if no other persona of the group
    has that.
    """
    others = {word.casefold() for one in group if one.unique_name != persona.unique_name for word in one.name.split()}
    name, short = persona.name.strip(), persona.name.split()[:1]
    known = [name, *(word for word in short if len(word) >= MIN_NAME_CHARACTERS and word.casefold() not in others)]
    return [each for each in known if each]  # a name of nothing but spaces would be found everywhere


def _as_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
