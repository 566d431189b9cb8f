"""Detection of the language of a message: by frequent words where they are clear, else by the language model of py3langid.

Most people write in one of four languages. Their messages are told by their function words, so that the model (65 MB of memory,
a second to load) is only loaded for others.
"""

from __future__ import annotations

import re
from collections import Counter

from lethe_app.brain.languages import identifier
from lethe_app.brain.text.sentences import split_sentences

MIN_WORDS = 4
"""Words below which the language of a text is uncertain: greetings, names and exclamations are borrowed from everywhere."""
MIN_SCRIPT_LETTERS = 4
"""The same in letters, for scripts in which words are not separated or that few languages share."""
MIN_PROBABILITY = 0.85
"""Probability of a language, as py3langid estimates it, from which it is taken for certain."""
MIN_FUNCTION_WORDS = 0.3
"""Share of function words from which a text is in a language without asking the model."""
MIN_SHARED_WORDS = 3
"""Function words that have to be English, and half of the text, where none of them is distinctive."""
MAX_CHARACTERS = 4000
"""Characters that are examined."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\S+@\S+", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DENSE_SCRIPT = re.compile("[\u0590-\u06ff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DISTINCTIVE = {
    "en": _words("the and you your this what with are but they she he's it's don i'm that's would could because about"),
    "de": _words("ich und nicht auch wir mit dich mich das ist ein eine oder wenn dass kein habe auf"),
    "fr": _words("je est pas vous nous avec une les mais c'est pour dans elle suis qui tu"),
    "es": _words("el los pero muy las y estoy hay está eres yo qué porque cómo tengo una"),
}
"""Function words that hardly occur in another language."""
_FUNCTION_WORDS = {
    "en": _words(
        "a an i me my we our is was am have has had or of to in on at for that it he his her their not do did be will just so "
        "as from when who how there can if by no all some them then up out more one very over after know like go see get"
    ),
    "de": _words(
        "der die den dem des im in zu am an für es du er sie ihr wie was so nur noch schon bin bist sind war hat hast wird von "
        "bei mir dir mein meine dein deine sich zum zur als nach um aber man"
    ),
    "fr": _words(
        "le la un des de du d l j m me moi mon ma mes notre nos et ou que ce il ils ne n plus en au aux sur par y ton ta se s "
        "a ai as été très aussi quand qu comme on si"
    ),
    "es": _words(
        "la lo un unos de del al me mi mis es soy era fue he ha o para por con que en se no le su sus tu te también cuando "
        "como más si ya donde a"
    ),
}
_MIN_DISTINCTIVE = {"en": 1, "de": 2, "fr": 2, "es": 2}


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
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    hits = Counter({code: sum(word in distinctive for word in words) for code, distinctive in _DISTINCTIVE.items()})
    (best, count), (_other, second) = hits.most_common(2)
    known = count + sum(word in _FUNCTION_WORDS[best] for word in words)
    if count >= max(_MIN_DISTINCTIVE[best], 2 * second + 1) and known >= MIN_FUNCTION_WORDS * len(words):
        return best
    # English shares its short words with its neighbours, but none of them consists of so many.
    shared = sum(word in _FUNCTION_WORDS["en"] for word in words)
    return "en" if not count and shared >= max(MIN_SHARED_WORDS, len(words) / 2) else None


def _detect_by_model(text: str) -> str:
    """Return the language that py3langid finds in the text; sentences in different languages make it uncertain."""
    language, probability = identifier.identify(text)
    if probability < MIN_PROBABILITY:
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
    if len(_DENSE_SCRIPT.findall(text)) >= MIN_SCRIPT_LETTERS:
        return True
    return len({word.lower() for word in _WORD.findall(text)}) >= MIN_WORDS
