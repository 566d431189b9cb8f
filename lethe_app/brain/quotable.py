"""Takes what was said apart into sentences that can be quoted: without markup, code and control tokens, each with its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from lethe_app.brain.said import Said
from lethe_app.domain.chat import Role
from lethe_app.retrieval.render import SENTENCE_END
from lethe_app.retrieval.words import SPACELESS, WORD, fold

MOST_READ = 6000
"""Characters of one message; what lies beyond is left to the message itself."""
LONGEST_NAME = 40

_MARKUP = re.compile(
    r"```.*?(?:```|\Z)"
    r"|<\|[^<>|\n]{0,40}\|>|</?[a-zA-Z][^<>\n]{0,80}>|\[/?(?:INST|SYS)\]"
    r"|https?://\S+"
    r"|(?m:^[ \t]{0,8}(?:[#>]{1,6}|[-*+•]|\d{1,3}[.)])[ \t]+)"
    r"|(?m:^[ \t]{0,8}[-*_=]{3,}[ \t]*$)"
    r"|\*\*|__|~~|`",
    re.DOTALL,
)
_MARKED = re.compile(r"[`<\[*_~#>]|https?:|^\s*(?:[-+]|\d{1,3}[.)])\s")
"""Without any of these there is nothing to take away from printable text."""
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,400}\)")
_BREAKS = str.maketrans(dict.fromkeys("\r\u2028\u2029\x0b\x0c\x85", "\n"))
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffc-\uffff]"
)
_ACTION = re.compile(r"\*([^*\n]{1,1000})\*")
_SPEECH = re.compile(r"[\"“«][^\"“”«»\n]{1,1000}[,.!?…–—-][\"”»]")
"""With its punctuation inside, which a title or an ironic word has not."""
_ABBREVIATED = re.compile(
    r"(?:^|\s)(?:[Mm]rs?|[Mm]s|[Dd]r|St|[Pp]rof|Jr|Sr|vs|No|etc|approx|e\.g|i\.e|[A-Z]|"
    r"(?!U\.[SK]|D\.C|L\.A|N\.Y|T\.V|[AP]\.M)[A-Z]\.[A-Z])\.$"
)
_SMALL_BEGINNING = re.compile(
    r"(?<=[a-z][!?])\s+(?=[a-z])|(?<=[a-z]{2}\.)\s+(?=[a-z])|(?<=\d\.)\s+(?=(?:i|i'\w+|im|my|we|he|she|it|they)\b)"
)
"""Many people type without capitals."""
_THIRD = re.compile(r"\b(?:he|she|they|his|her|hers|their)\b", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:I|my)\b")
_VERB = re.compile(r"(?!yes\b|always\b|this\b)[a-z]{3,}s")
_HIRAGANA = re.compile("[\u3040-\u309f]{2}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of one message."""

    line: int
    """The place of its message among those given."""
    name: str
    role: Role
    text: str
    """As it was written, without markup; on one line."""
    words: tuple[str, ...]
    """Folded; in scripts without spaces pairs of neighbouring characters."""
    narrates: bool
    """It tells what happens instead of speaking."""
    asks: bool = False
    """It ends in a question mark."""
    in_story: bool = False
    """It is said or done in character."""
    standing: float = 1.0
    """How far it counts as told, from 0 for mere context to 1 for the user's own words; see brain/taken_up."""
    day: date | None = None
    """When it was said."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a message that is all told or all spoken."""

    text: str
    narrates: bool


def plain(text: str) -> str:
    """The text without code, markup, links and characters nobody sees; asterisks of actions stay."""
    text = text[:MOST_READ]
    if text.isascii() and text.isprintable() and not _MARKED.search(text):
        return text
    text = _INVISIBLE.sub("", text.translate(_BREAKS))
    return _MARKUP.sub(lambda found: "\n" if found[0].startswith("```") else "", _LINK.sub(r"\1", text))


def name_of(line: Said) -> str:
    """Whose line it is, in at most `LONGEST_NAME` characters."""
    visible = " ".join(_INVISIBLE.sub("", line.name[: 4 * LONGEST_NAME].translate(_BREAKS)).split())
    name = visible.replace('"', "")[:LONGEST_NAME].strip()
    return name or ("User" if line.role is Role.USER else "Persona")


def words(text: str) -> tuple[str, ...]:
    """Folded words, and pairs of characters where a script has no spaces."""
    found: list[str] = []
    for word in WORD.findall(text):
        if word.isascii() or not SPACELESS.search(word):
            found.append(_folded(word))
        else:
            found += _pairs(word)
    return tuple(found)


def parts(text: str) -> list[Part]:
    """A plain text cut into actions between asterisks, and speech; one emphasised word is no action."""
    if "*" not in text:
        return [Part(text, is_prose(text))] if WORD.search(text) else []
    found: list[Part] = []
    cursor, spoken = 0, ""
    for action in _ACTION.finditer(text):
        spoken += text[cursor : action.start()]
        cursor = action.end()
        if len(action[1].split()) < 2 and not _stands_alone(text, action):
            spoken += action[1]
            continue
        found += [Part(spoken, narrates=False), Part(action[1], narrates=True)]
        spoken = ""
    found.append(Part(spoken + text[cursor:], narrates=False))
    visible = [Part(part.text.replace("*", ""), part.narrates) for part in found if WORD.search(part.text)]
    return [Part(part.text, part.narrates or is_prose(part.text)) for part in visible]


def is_prose(text: str) -> bool:
    """Is it written as in a novel: quoted speech, and around it what somebody does?"""
    if not any(mark in text for mark in '"“«'):
        return False
    around, speeches = _SPEECH.subn(" ", text)
    if not speeches or len(WORD.findall(around)) < 3:
        return False
    return bool(_THIRD.search(around)) or (text.lstrip()[0] in '"“«' and bool(_FIRST.search(around)))


def _stands_alone(text: str, action: re.Match[str]) -> bool:
    """A single word such as *smiles* is an action at the edge of a sentence, emphasis within one."""
    before, after = text[: action.start()].rstrip(" \t")[-1:], text[action.end() : action.end() + 20].lstrip(" \t")[:1]
    if not text[: action.start()].strip() and _VERB.fullmatch(action[1]):
        return True
    return (not before or before in '\n.!?…"”') and (not after or after.isupper() or after in '\n"“*')


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text on one line each; an abbreviation does not end one."""
    held = ""
    for piece in (part for end in SENTENCE_END.split(text) for part in _SMALL_BEGINNING.split(end)):
        held = " ".join(f"{held} {piece}".split())
        if len(held) > LONGEST_NAME * 10 or not _ABBREVIATED.search(held[-8:]):
            if held:
                yield held
            held = ""
    if held:
        yield held


def _pairs(word: str) -> Iterator[str]:
    if len(word) == 1:
        yield word
    for left, right in pairwise(word):
        if not _HIRAGANA.match(left + right):
            yield left + right


_folded = lru_cache(20_000)(fold)
