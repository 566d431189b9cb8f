"""Reported speech: quotes a sentence with its speaker, so that it is understood outside its conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from lethe_app.brain.text.sentences import Sentence
from lethe_app.language_tables import table_pattern
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import SPACELESS

_pattern = partial(table_pattern, "utterances")

STORY_PREFIX = "In the story, "
"""Prefix of every report of an utterance or action in character."""
MAX_QUOTE_LENGTH = 240
"""Maximum characters of one quoted sentence."""
_NESTED_QUOTES = str.maketrans(dict.fromkeys('"“”„«»', "'"))
"""Replaces double quotation marks within a quotation, which they would end."""
_NESTED_BRACKETS = str.maketrans({"「": "『", "」": "』"})
"""Replaces Japanese corner brackets within a quotation by nested ones."""
_CLAUSE_END = re.compile(r"[,;:，、；]\s*|\s+[-–—]+\s+")
_END_MARKS = (".", "!", "?", "…", "。", "！", "？", "؟", "।")


_ASKED = re.compile(r'[^"]{1,60}? asked, "[^"]*"(?: and "[^"]*")*')


@dataclass(frozen=True, slots=True)
class Quote:
    """One sentence as reported speech: `speaker verb, "text"`."""

    line: int
    """Index of its message."""
    lead_in: str
    """Lead-in such as `Ana said, `; for a narrated action only the name."""
    text: str
    """The sentence with its quotation marks."""

    @property
    def full_text(self) -> str:
        """The quote with its lead-in."""
        return self.lead_in + self.text

    @property
    def can_join(self) -> bool:
        """True if another quote of the same message may follow under the same lead-in."""
        return self.lead_in.endswith(", ")


def quote_sentence(sentence: Sentence, max_length: int = MAX_QUOTE_LENGTH) -> Quote:
    """Return the sentence as reported speech, cut to about `max_length` characters at the end of a clause if possible."""
    text = shorten(remove_opener(sentence.text), max_length)
    if SPACELESS.search(text) and len(SPACELESS.findall(text)) * 2 > len(text):
        return Quote(sentence.line, f"{sentence.name}：", f"「{text.translate(_NESTED_BRACKETS).rstrip('。')}」")
    text = text.translate(_NESTED_QUOTES)
    quoted = text if text.rstrip("')").endswith(_END_MARKS) else f"{text.rstrip(',;: ')}."
    story = STORY_PREFIX if sentence.in_story else ""
    if sentence.narrates and _is_action(text):
        return Quote(sentence.line, f"{story}{sentence.name} ", quoted)
    verb = "wrote" if sentence.narrates else "asked" if sentence.asks else "said"
    return Quote(sentence.line, f"{story}{sentence.name} {verb}, ", f'"{quoted}"')


def quote_exchange(question: Sentence, answer: Sentence) -> Quote:
    """Return a question and its answer as one quote."""
    question_quote, answer_quote = quote_sentence(question), quote_sentence(answer)
    if not question_quote.can_join or not answer_quote.can_join:
        return Quote(answer.line, f"{question_quote.full_text} ", answer_quote.full_text)
    return Quote(answer.line, f"{question_quote.full_text} and {answer.name} answered, ", answer_quote.text)


def is_reported_question(line: str) -> bool:
    """Return whether a line of a summary only reports a question: “Tomas asked, "…"”."""
    return bool(_ASKED.fullmatch(line.strip()))


def format_quotes(quotes: Iterable[Quote]) -> str:
    """Format quotes one message to a line, those of the same message joined by “and”, so that every line names its speaker."""
    return "\n".join(
        _join_quotes(list(group)) for _key, group in groupby(quotes, key=lambda quote: (quote.line, quote.lead_in))
    )


QUOTATION_MARKS = {"“": "”", "‘": "’", "«": "»", "„": "“", '"': '"', "'": "'"}
"""Closing quotation mark by the opening one."""


def strip_enclosing_quotes(text: str) -> str:
    """Return the text without the quotation marks around all of it; those around a part of it are kept, but an opening one
    whose text was cut before the closing one is removed.
    """
    closing = QUOTATION_MARKS.get(text[:1])
    if closing is None:
        return text
    end = text.find(closing, 1)
    if end < 0 and text[0] not in "'‘":  # which may be an apostrophe
        return text[1:]
    return text[1:-1].strip() if end == len(text) - 1 > 1 else text


def shorten(text: str, max_length: int) -> str:
    """Shorten the text to at most `max_length` characters, with an ellipsis in place of what was cut."""
    if len(text) <= max_length:
        return text
    cut = text[: max(max_length - 1, 0)]
    ends = [end.start() for end in _CLAUSE_END.finditer(cut) if end.start() > max_length // 2]
    if ends:
        cut = cut[: ends[-1]]
    elif " " in cut[max_length // 2 :]:
        cut = cut.rsplit(" ", 1)[0]
    return f"{cut.rstrip()}…" if max_length > 0 else ""


def remove_opener(text: str) -> str:
    """Remove the greeting or filler at the beginning of the text."""
    text = strip_enclosing_quotes(text.strip()).strip()
    if text.endswith(('"', "”", "»")) and not set('"“„«') & set(text[:-1]):  # the opening one is in another sentence
        text = text[:-1].rstrip()
    remaining = _pattern("opener").sub("", text)
    # The opener stays where hardly anything would be left of the message.
    return remaining[:1].upper() + remaining[1:] if remaining != text and len(remaining) > 12 else text


def _join_quotes(quotes: Sequence[Quote]) -> str:
    if quotes[0].can_join:
        return quotes[0].lead_in + " and ".join(quote.text for quote in quotes)
    return "\n".join(quote.full_text for quote in quotes)


def _is_action(text: str) -> bool:
    """Return whether the text begins with a verb in the third person, such as “opens the door”, and so can follow a name
    directly.
    """
    first = text.partition(" ")[0]
    return first.isascii() and first.isalpha() and first.islower() and first.endswith("s") and first not in STOP_WORDS
