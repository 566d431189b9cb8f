"""People of one speaker from message to message, and the statements about them: “aoife, thats the daughter. shes a physio”."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lethe_app.brain.people.acquaintances import Acquaintances, Person, PersonStatement
from lethe_app.brain.people.kin_messages import OWN_RELATION, MessageReading
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.kin_words import standardize_role
from lethe_app.retrieval.query_terms import fold, split_words

_HEADING = re.compile(
    r"(?:.*\b(?:have|got|and|yes|yeah),? |.*, )?(?:(?:my|our|two|three|four|five|2|3|4|5) )?(?:\w+ )?(?:kids|children|"
    r"boys|girls|sons|daughters|brothers|"
    r"sisters|siblings|dogs|cats|grandkids|grandchildren|pets|best friends)[.!]?",
    re.IGNORECASE,
)
_MAX_MESSAGE_LENGTH = 2000
"""Characters of a message that are read."""
_PRONOUN_RANGE = 4
"""Messages for which a pronoun may refer to somebody of the speaker's last message."""


@dataclass
class KnownPeople(Acquaintances):
    """People one speaker has named, kept from message to message."""

    recent_people: list[Person] = field(default_factory=list)
    """People of the speaker's last message, the one mentioned last at the end."""
    last_index: int = -9
    """Index of the speaker's last message."""

    def read_message(self, line: Utterance, index: int, other_texts: Sequence[str]) -> Iterator[PersonStatement]:
        """Yield the statements of a message about the speaker's people. `other_texts` are the other speaker's texts since their
        last message.
        """
        parts = _join_headings(extract_sentences(line.text[:_MAX_MESSAGE_LENGTH]))
        if index - self.last_index > _PRONOUN_RANGE:
            self.recent_people = []
        mentioned_people = [person for text in other_texts for person in self.find_people(text)]
        reading = MessageReading(
            self, line, [*self.recent_people, *mentioned_people], any(map(OWN_RELATION.search, other_texts))
        )
        introductions = reading.register_introductions(parts, other_texts[-1] if other_texts else "")
        yield from reading.build_name_statements(introductions)
        yield from reading.find_answered_name(parts, other_texts[-1] if other_texts else "")
        for sentence_index, sentence in enumerate(parts):
            yield from reading.find_attributes(
                sentence, introductions.get(sentence_index, []), parts[sentence_index + 1 : sentence_index + 3]
            )
        self.last_index = index
        self.recent_people = list(reading.mentioned_people)


def _join_headings(parts: Sequence[str]) -> list[str]:
    """Join the parts “brothers” and “tom, jack” of “brothers: tom, jack”."""
    joined: list[str] = []
    for part in parts:
        if joined and _HEADING.fullmatch(joined[-1]):
            joined[-1] = f"{joined[-1].rstrip('.! ')}, {part}"
        else:
            joined.append(part)
    return joined


def makes_redundant(text: str, other_text: str, names: Sequence[str]) -> bool:
    """Return whether the statement `text` makes `other_text` redundant: it contains all of its content words except the names
    or, if `other_text` only tells a name, that name and the relation.
    """
    text_words = set(map(fold, split_words(text)))
    if " called " in other_text and all(set(map(fold, split_words(name))) <= text_words for name in names):
        relation = other_text.split(" called ", maxsplit=1)[0].removesuffix(" are").removesuffix(" is").split()[-1]
        relation_forms = (relation.removesuffix("s"), standardize_role(relation).removesuffix("s"))
        is_relation_mentioned = (
            "child" in relation_forms
            or "kid" in relation_forms
            or any(word.startswith(who[:4]) for word in text_words for who in relation_forms)
        )
        return is_relation_mentioned and not re.search(r"[a-z] \d", text)
    return set(map(fold, split_words(other_text))) - set(map(fold, " ".join(names).split())) - _IGNORED_WORDS <= text_words


def is_same_without_name(text: str, named_text: str, names: Sequence[str]) -> bool:
    """Return whether a statement equals another one without its name."""
    return not any(name in text for name in names) and makes_redundant(named_text, text, names)


def is_run_on(text: str, names: Sequence[str]) -> bool:
    """Return whether a statement about somebody of these names continues without a stop: “my wife Ann and a dog she says …”."""
    return any(re.search(rf"\b{name}\b(?: \w+){{0,6}} (?:he|she) \w", text) for name in names)


_IGNORED_WORDS = frozenset(("just", "now", "also", "is", "a", "an", "the", "s"))
