"""Check generated text against its web pages: no names or numbers of its own, no instructions, mostly words of the pages.

If no model is qualified for that, verbatim sentences of the pages are used instead.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.dates.words import COUNTS, MONTHS, WEEKDAYS
from lethe_app.domain.web import PageText, sanitized
from lethe_app.language_tables import lazy_words, table_pattern
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import WORD, fold

MAX_SENTENCES, MAX_SENTENCES_PER_PAGE = 5, 2
"""Maximum number of verbatim sentences from all pages together, and from one page."""
MIN_SENTENCE_LENGTH, MAX_SENTENCE_LENGTH = 30, 320
"""Minimum and maximum length of a verbatim sentence in characters."""
MIN_KNOWN_SHARE = 0.5
"""Minimum share of a sentence's content words that occur in the pages in some form; paraphrases use some other words."""
_SENTENCE = re.compile(r".+?(?:[.!?…][\"”’)]*(?=\s|$)|$)", re.DOTALL)
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+|\S+@\S+\.\w+", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_CITATION = re.compile(r"\[\d{1,3}(?:, ?\d{1,3})*\]")
"""Source number after a statement."""
_ESCAPED_CHARACTERS = str.maketrans('“”"{}', "‘’’()")
_NAME_LIKE_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_VERBS_AFTER_NAME = lazy_words("verbs_after_name")
"""Words that make the capitalised first word before them most likely a name."""
_COUNTS = {word: str(number) for number, word in enumerate(COUNTS, 1) if number > 2}
"""Spelled-out numbers as digits; “one” and “two” are left out because they often are no counts."""
_COMMON_CAPITALISED = frozenset(stem(word) for names in (MONTHS, WEEKDAYS) for word in names) | {"i", "english", "internet"}


def has_instructions(text: str) -> bool:
    """Return whether the text contains instructions to a program, a possible prompt injection."""
    return table_pattern("model_answers", "instructions", re.IGNORECASE | re.MULTILINE).search(text) is not None


def keep_supported_sentences(text: str, pages: Iterable[PageText], known: Sequence[str] = ()) -> str:
    """Return `text` without sentences that name or count something absent from the pages; names in `known` are allowed as
    well.

    Instructions and addresses are removed too. The result is empty if no sentence passes.
    """
    source_text = " ".join([*(f"{page.title} {page.text}" for page in pages), *known])
    sources = _CitedText(
        frozenset(stem(fold(word)) for word in WORD.findall(source_text)),
        frozenset(_numbers(source_text)),
        content_words(source_text),
    )
    kept: list[str] = []
    for paragraph in text.split("\n\n"):
        sentences = (sentence.strip() for sentence in _SENTENCE.findall(sanitized(paragraph)))
        supported = [one for one in sentences if one and _is_supported(one, sources)]
        kept += [" ".join(supported)] if supported else []
    return "\n\n".join(kept)


def extract_relevant_sentences(topic: str, pages: Iterable[PageText]) -> list[PageText]:
    """Return for each page the sentences most relevant to the topic, in page order; pages without any are omitted."""
    topic_words, remaining = content_words(topic), MAX_SENTENCES
    found: list[PageText] = []
    for page in pages:
        chosen = _select_sentences(page, topic_words)[:remaining]
        remaining -= len(chosen)
        if chosen:
            found.append(PageText(page.address, page.title, " ".join(chosen), is_description=page.is_description))
    return found


def escape_quotation(text: str) -> str:
    """Return the text in one line without characters that would end a quotation or open a macro."""
    return " ".join(sanitized(text).split()).translate(_ESCAPED_CHARACTERS)


def is_same_topic(first: str, second: str) -> bool:
    """Return whether two topics share most of their content words."""
    first_words, second_words = content_words(first), content_words(second)
    shared = len(first_words & second_words)
    return (
        bool(shared)
        and shared / min(len(first_words), len(second_words)) >= 0.75
        and shared / len(first_words | second_words) >= 0.5
    )


def _select_sentences(page: PageText, topic_words: Collection[str]) -> list[str]:
    sentences = [one.strip() for line in sanitized(page.text).split("\n") for one in _SENTENCE.findall(line)]
    eligible = [
        one for one in sentences if MIN_SENTENCE_LENGTH <= len(one) <= MAX_SENTENCE_LENGTH and not is_unsafe_sentence(one)
    ]
    eligible = list(dict.fromkeys(eligible))
    hits = {one: len(content_words(one) & frozenset(topic_words)) for one in eligible}
    chosen = sorted((one for one in eligible if hits[one]), key=lambda one: -hits[one])[:MAX_SENTENCES_PER_PAGE]
    return [one for one in eligible if one in chosen]


def is_unsafe_sentence(sentence: str) -> bool:
    """Return whether a sentence contains instructions or addresses."""
    return has_instructions(sentence) or _ADDRESS.search(sentence) is not None


@dataclass(frozen=True)
class _CitedText:
    """Words, numbers and content words of the pages."""

    words: frozenset[str]
    numbers: frozenset[str]
    content: frozenset[str]


def _is_supported(sentence: str, sources: _CitedText) -> bool:
    if is_unsafe_sentence(sentence) or not _numbers(sentence) <= sources.numbers:
        return False
    sentence_words = content_words(_CITATION.sub("", sentence))
    is_known = len(sentence_words & sources.content) >= len(sentence_words) * MIN_KNOWN_SHARE
    return is_known and all(stem(name) in sources.words for name in _likely_names(sentence))


def _numbers(text: str) -> set[str]:
    """Return the numbers as digits; a range or fraction counts as its parts."""
    plain = _CITATION.sub("", re.sub(r"(?<=\d),(?=\d{3}\b)", "", text))
    digits = {part for found in _NUMBER.findall(plain) for part in re.split(r"[,:/-]", found)}
    return digits | {_COUNTS[word] for word in map(fold, WORD.findall(plain)) if word in _COUNTS}


def _likely_names(sentence: str) -> Iterable[str]:
    """Yield the capitalised words that look like names; the first word only if it is very likely one."""
    found = list(_NAME_LIKE_WORD.finditer(sentence))
    for index, match in enumerate(found):
        word = re.sub(r"[’']s?$", "", match[0])
        if not word[:1].isupper() or fold(word) in STOP_WORDS or stem(fold(word)) in _COMMON_CAPITALISED:
            continue
        if index == 0 and not _is_name_at_start(match[0], found[1][0] if len(found) > 1 else ""):
            continue
        yield from WORD.findall(word)


def _is_name_at_start(first: str, second: str) -> bool:
    return first.endswith(("’s", "'s")) or second[:1].isupper() or fold(second) in _VERBS_AFTER_NAME
