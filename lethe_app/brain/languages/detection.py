"""Detection of the language of a text: by frequent words where they are clear, else by the language model of py3langid.

Most people write in a language whose frequent words are known (`function_words.toml`), so that the model (65 MB of memory, a
second to load) is only loaded for others.
"""

from __future__ import annotations

import re
from functools import cache

from lethe_app.brain.languages import identifier
from lethe_app.brain.text.sentences import split_sentences
from lethe_app.language_tables import languages_with, load_table
from lethe_app.searchable_text import fold

MIN_WORDS = 4
"""Words below which the language of a text is uncertain: greetings, names and exclamations are borrowed from everywhere."""
MIN_SCRIPT_LETTERS = 4
"""The same in letters, for scripts in which words are not separated or that few languages share."""
MIN_PROBABILITY = 0.85
"""Probability of a language, as py3langid estimates it, from which it is taken for certain."""
MIN_AGREED_PROBABILITY = 0.7
"""The same where frequent words speak for that language as well."""
MIN_FUNCTION_WORDS = 0.3
"""Share of function words from which a text is in a language without asking the model."""
MIN_GUESSED_WORDS = 0.2
"""The same for a guess."""
MIN_SHARED_WORDS = 3
"""Function words that have to be English, and half of the text, where none of them is distinctive."""
MAX_CHARACTERS = 4000
"""Characters that are examined."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\S+@\S+", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
_SPELLED = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DENSE_SCRIPT = re.compile("[\u0590-\u06ff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_KANA = re.compile("[\u3040-\u30ff]")


def detect_language(text: str) -> str:
    """Return the language of a text as an ISO 639-1 code; empty if it is uncertain, mixed or too short.

    The first call for a text that is not clear by its words loads the model, which takes about a second.
    """
    quick = detect_by_words(text)
    return quick if quick is not None else _detect_by_model(_clean(text))


def detect_by_words(text: str) -> str | None:
    """Return the language of a text as far as its words tell it; empty if the text is too short, None if the model has to be
    asked.
    """
    text = _clean(text)
    if not _is_long_enough(text):
        return ""
    words = _WORD.findall(text.lower())  # an apostrophe separates
    hits = {code: sum(word in words_of[0] for word in words) for code, words_of in _word_tables().items()}
    second, count = sorted(hits.values())[-2:]
    best = max(hits, key=lambda code: hits[code])
    known = _count_function_words(words)
    is_certain = count >= max(load_table("function_words", best)["min_distinctive"], 2 * second + 1)
    if is_certain and known[best] >= MIN_FUNCTION_WORDS * len(words):
        return best
    # English shares its short words with its neighbours, but none of them consists of so many.
    return "en" if not count and known["en"] >= max(MIN_SHARED_WORDS, len(words) / 2) else None


def guess_language(text: str) -> str:
    """Return the likeliest language of a text, however short, among those with a table of function words and Japanese; empty
    if several are as likely or none is. It serves where a wrong guess costs little.
    """
    if _KANA.search(text):
        return "ja"
    words, letters = _WORD.findall(text.lower()), set(text.lower())
    counts = {
        code: count + (not letters.isdisjoint(load_table("function_words", code).get("letters", "")))
        for code, count in _count_function_words(words).items()
    }
    best = max(counts, key=lambda code: counts[code])
    is_alone = list(counts.values()).count(counts[best]) == 1
    return best if is_alone and counts[best] >= MIN_GUESSED_WORDS * len(words) else ""


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the folded words of a language that carry no content; empty without a table."""
    return frozenset(fold(word) for words in _word_tables().get(language, ()) for word in words)


@cache
def _word_tables() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the distinctive function words and the others, by language."""
    tables = {code: load_table("function_words", code) for code in languages_with("function_words.toml")}
    return {code: (frozenset(table["distinctive"]), frozenset(table["common"])) for code, table in tables.items()}


def _count_function_words(words: list[str]) -> dict[str, int]:
    return {code: sum(word in one or word in other for word in words) for code, (one, other) in _word_tables().items()}


def _detect_by_model(text: str) -> str:
    """Return the language that py3langid finds in the text; sentences in different languages make it uncertain."""
    language, probability = identifier.identify(text)
    if probability < (MIN_AGREED_PROBABILITY if language == guess_language(text) else MIN_PROBABILITY):
        return ""
    sentences = [sentence for sentence in split_sentences(text) if _is_long_enough(sentence)]
    for sentence in sentences if len(sentences) > 1 else ():
        other, sure = identifier.identify(sentence)
        if other != language and sure >= MIN_PROBABILITY:
            return ""
    return language


def _clean(text: str) -> str:
    """Return the text without code and addresses."""
    return " ".join(_CODE.sub(" ", text[:MAX_CHARACTERS]).split())


def _is_long_enough(text: str) -> bool:
    return len(_DENSE_SCRIPT.findall(text)) >= MIN_SCRIPT_LETTERS or len(set(_SPELLED.findall(text.lower()))) >= MIN_WORDS
