"""Who speaks next where several personas take part: those who are named, or else each in turn, and never too many in a row."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lethe_app.config.options import GroupTurns
from lethe_app.domain.persona import Persona

SHORTEST_NAME = 3
"""Characters of a first name that counts by itself."""


class TurnOrder:
    """The replies to one message: ask who is `next`, and tell what they said with `heard`."""

    def __init__(self, group: Sequence[Persona], way: GroupTurns, most: int) -> None:
        self._group = [one.unique_name for one in group]
        self._names = {one.unique_name: spoken_names(one, group) for one in group}
        self._way, self._left = way, most
        self._waiting: list[str] = []
        self._otherwise: list[str] = []
        """Whose turn it is where the model, asked to choose, cannot say."""

    def asked(self, text: str, last: str) -> None:
        """The user says this; `last` spoke before them."""
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
        """Is the model to choose who is next?"""
        return self._way is GroupTurns.MODEL and not self._waiting and self._left > 0

    @property
    def must_answer(self) -> bool:
        """Has nobody answered the user yet?"""
        return bool(self._otherwise)

    def choose(self, unique_name: str) -> None:
        """The model chose this one; empty is the user, or that it cannot say."""
        self._waiting = [unique_name] if unique_name in self._names else self._otherwise
        self._otherwise = []

    def note_reply(self, speaker: str, text: str) -> None:
        """One of them said this: whoever is spoken of by name may answer, if they are not waiting already."""
        self._otherwise = []
        if self._way in {GroupTurns.NAMED, GroupTurns.MODEL}:
            self._waiting += [one for one in self.named_in(text) if one != speaker and one not in self._waiting]

    def next(self) -> str | None:
        """The `unique_name` of who speaks now; None where it is the user's turn."""
        if not self._waiting or not self._left:
            return None
        self._left -= 1
        return self._waiting.pop(0)

    def named_in(self, text: str) -> list[str]:
        """In the order in which they are first named, by whole words."""
        first: dict[str, int] = {}
        for unique_name, names in self._names.items():
            places = [found.start() for name in names if (found := _as_word(name).search(text))]
            if places:
                first[unique_name] = min(places)
        return sorted(first, key=first.__getitem__)

    def _after(self, last: str) -> list[str]:
        """Everybody, beginning behind whoever spoke last; at the beginning with the first."""
        start = self._group.index(last) + 1 if last in self._group else 0
        return [*self._group[start:], *self._group[:start]]


def spoken_names(persona: Persona, group: Sequence[Persona]) -> list[str]:
    """What a persona is called: the whole name, and the first of its words that nobody else of the group has."""
    others = {word.casefold() for one in group if one.unique_name != persona.unique_name for word in one.name.split()}
    name, short = persona.name.strip(), persona.name.split()[:1]
    known = [name, *(word for word in short if len(word) >= SHORTEST_NAME and word.casefold() not in others)]
    return [each for each in known if each]  # a name of nothing but spaces would be found everywhere


def _as_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
