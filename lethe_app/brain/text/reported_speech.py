"""Reported speech: quotes a sentence with its speaker, so that it is understood outside its conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from lethe_app.brain.text.sentences import Sentence
from lethe_app.retrieval.query_terms import SPACELESS, STOP_WORDS

STORY = "In the story, "
"""Prefix of every report of an utterance or action in character."""
LONGEST = 240
"""Maximum characters of one quoted sentence."""
_DOUBLE = str.maketrans(dict.fromkeys('"“”„«»', "'"))
"""Replaces double quotation marks within a quotation, which they would end."""
_CORNERS = str.maketrans({"「": "『", "」": "』"})
"""Replaces Japanese corner brackets within a quotation by nested ones."""
_CLAUSE_END = re.compile(r"[,;:，、；]\s*|\s+[-–—]+\s+")
_OPENED = frozenset('"“«')
_CLOSED = frozenset('"”»')
_ENDED = (".", "!", "?", "…", "。", "！", "？", "؟", "।")
_OPENER = re.compile(
    r"^(?:(?:hey|hi|hello|hiya|oh|wow|whoa|ah|aww?|thanks|thank you|yeah|yep|yup|well|so|haha+|lol|btw|hallo|hola|salut)"
    r"(?: (?!my)[A-Z]\w*)?[,!.]? ?[,!] )+",
    re.IGNORECASE,
)
"""Greeting or filler before the content of a message."""


_ASKED = re.compile(r'[^"]{1,60}? asked, "[^"]*"(?: and "[^"]*")*')


@dataclass(frozen=True, slots=True)
class Quote:
    """One sentence as reported speech: `speaker verb, "text"`."""

    line: int
    """Index of its message."""
    frame: str
    """Lead-in such as `Ana said, `; for a narrated action only the name."""
    text: str
    """The sentence with its quotation marks."""

    @property
    def alone(self) -> str:
        """The quote with its lead-in."""
        return self.frame + self.text

    @property
    def joins(self) -> bool:
        """True if another quote of the same message may follow under the same lead-in."""
        return self.frame.endswith(", ")


def quote(sentence: Sentence, longest: int = LONGEST) -> Quote:
    """Return the sentence as reported speech, cut to about `longest` characters at the end of a clause where there is one."""
    text = shorten(without_opener(sentence.text), longest)
    if SPACELESS.search(text) and len(SPACELESS.findall(text)) * 2 > len(text):
        return Quote(sentence.line, f"{sentence.name}：", f"「{text.translate(_CORNERS).rstrip('。')}」")
    text = text.translate(_DOUBLE)
    ended = text if text.rstrip("')").endswith(_ENDED) else f"{text.rstrip(',;: ')}."
    story = STORY if sentence.in_story else ""
    if sentence.narrates and _is_deed(text):
        return Quote(sentence.line, f"{story}{sentence.name} ", ended)
    verb = "wrote" if sentence.narrates else "asked" if sentence.asks else "said"
    return Quote(sentence.line, f"{story}{sentence.name} {verb}, ", f'"{ended}"')


def exchange(question: Sentence, answer: Sentence) -> Quote:
    """Return a question and its answer as one quote."""
    asked, answered = quote(question), quote(answer)
    if not asked.joins or not answered.joins:
        return Quote(answer.line, f"{asked.alone} ", answered.alone)
    return Quote(answer.line, f"{asked.alone} and {answer.name} answered, ", answered.text)


def is_question(line: str) -> bool:
    """Return whether a line of a summary only reports a question: “Tomas asked, "…"”."""
    return bool(_ASKED.fullmatch(line.strip()))


def written(quotes: Iterable[Quote]) -> str:
    """Format quotes one message to a line, those of the same message joined by “and”, so that every line names its speaker."""
    return "\n".join(_joined(list(group)) for _key, group in groupby(quotes, key=lambda quote: (quote.line, quote.frame)))


def shorten(text: str, longest: int) -> str:
    """Shorten the text to at most `longest` characters, with an ellipsis in place of what was cut."""
    if len(text) <= longest:
        return text
    cut = text[: max(longest - 1, 0)]
    ends = [end.start() for end in _CLAUSE_END.finditer(cut) if end.start() > longest // 2]
    if ends:
        cut = cut[: ends[-1]]
    elif " " in cut[longest // 2 :]:
        cut = cut.rsplit(" ", 1)[0]
    return f"{cut.rstrip()}…" if longest > 0 else ""


def without_opener(text: str) -> str:
    """Remove the greeting or filler at the beginning of the text."""
    text = _unpaired(text.strip())
    cut = _OPENER.sub("", text)
    # The opener stays where hardly anything would be left of the message.
    return cut[:1].upper() + cut[1:] if cut != text and len(cut) > 12 else text


def _unpaired(text: str) -> str:
    """Remove a quotation mark at one end that has no partner, and a pair around the whole text."""
    if text[:1] in _OPENED and (not _CLOSED & set(text[1:]) or (text[-1:] in _CLOSED and not _CLOSED & set(text[1:-1]))):
        text = text[1:]
    if text[-1:] in _CLOSED and not _OPENED & set(text[:-1]):
        text = text[:-1]
    return text.strip()


def _joined(quotes: Sequence[Quote]) -> str:
    if quotes[0].joins:
        return quotes[0].frame + " and ".join(quote.text for quote in quotes)
    return "\n".join(quote.alone for quote in quotes)


def _is_deed(text: str) -> bool:
    """Return whether the text begins with a verb in the third person, such as “opens the door”, and so can follow a name
    directly.
    """
    first = text.partition(" ")[0]
    return first.isascii() and first.isalpha() and first.islower() and first.endswith("s") and first not in STOP_WORDS
