"""People of one speaker from message to message, and the statements about them: “aoife, thats the daughter. shes a physio”."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lethe_app.brain.people.acquaintances import Acquaintances, Person, PersonStatement
from lethe_app.brain.people.kin_messages import UNNAMED, MessageReading
from lethe_app.brain.text.sentences import sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.kin_words import plain_role
from lethe_app.retrieval.query_terms import cut, fold

_HEADING = re.compile(
    r"(?:.*\b(?:have|got|and|yes|yeah),? |.*, )?(?:(?:my|our|two|three|four|five|2|3|4|5) )?(?:\w+ )?(?:kids|children|"
    r"boys|girls|sons|daughters|brothers|"
    r"sisters|siblings|dogs|cats|grandkids|grandchildren|pets|best friends)[.!]?",
    re.IGNORECASE,
)
_LONGEST = 2000
"""Characters of a message that are read."""
_NEARBY = 4
"""Messages for which a pronoun may refer to somebody of the speaker's last message."""


@dataclass
class People(Acquaintances):
    """People one speaker has named, kept from message to message."""

    recent: list[Person] = field(default_factory=list)
    """People of the speaker's last message, the one mentioned last at the end."""
    place: int = -9
    """Index of the speaker's last message."""

    def read_message(self, line: Utterance, place: int, between: Sequence[str]) -> Iterator[PersonStatement]:
        """Yield the statements of a message about the speaker's people. `between` are the other speaker's texts since their
        last message.
        """
        parts = _headings(sentences(line.text[:_LONGEST]))
        if place - self.place > _NEARBY:
            self.recent = []
        named = [one for text in between for one in self.known_in(text)]
        reading = MessageReading(self, line, [*self.recent, *named], any(map(UNNAMED.search, between)))
        found = reading.introduced(parts, between[-1] if between else "")
        yield from reading.names(found)
        yield from reading.answered(parts, between[-1] if between else "")
        for number, sentence in enumerate(parts):
            yield from reading.attributes(sentence, found.get(number, []), parts[number + 1 : number + 3])
        self.place = place
        self.recent = list(reading.spoken)


def _headings(parts: Sequence[str]) -> list[str]:
    """Join the parts “brothers” and “tom, jack” of “brothers: tom, jack”."""
    joined: list[str] = []
    for part in parts:
        if joined and _HEADING.fullmatch(joined[-1]):
            joined[-1] = f"{joined[-1].rstrip('.! ')}, {part}"
        else:
            joined.append(part)
    return joined


def covers(text: str, other: str, names: Sequence[str]) -> bool:
    """Return whether the statement `text` makes `other` redundant: it contains all of its content words except the names or,
    if `other` only tells a name, that name and the relation.
    """
    said = set(map(fold, cut(text)))
    if " called " in other and all(set(map(fold, cut(name))) <= said for name in names):
        last = other.split(" called ", maxsplit=1)[0].removesuffix(" are").removesuffix(" is").split()[-1]
        whom = (last.removesuffix("s"), plain_role(last).removesuffix("s"))
        known = "child" in whom or "kid" in whom or any(word.startswith(who[:4]) for word in said for who in whom)
        return known and not re.search(r"[a-z] \d", text)
    return set(map(fold, cut(other))) - set(map(fold, " ".join(names).split())) - _SILENT <= said


def is_nameless(text: str, named: str, names: Sequence[str]) -> bool:
    """Return whether a statement equals another one without its name."""
    return not any(name in text for name in names) and covers(named, text, names)


def is_run_on(text: str, names: Sequence[str]) -> bool:
    """Return whether a statement about somebody of these names continues without a stop: “my wife Ann and a dog she says …”."""
    return any(re.search(rf"\b{name}\b(?: \w+){{0,6}} (?:he|she) \w", text) for name in names)


_SILENT = frozenset(("just", "now", "also", "is", "a", "an", "the", "s"))
