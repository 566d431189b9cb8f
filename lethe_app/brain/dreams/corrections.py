"""Detect, by rules for English, where the user corrects the persona's way of talking: what they want instead, and how
strongly.

Quoted text and text between asterisks is not addressed to the persona and is ignored. A bare “don't …” counts only with a
verb of talking, because “don't worry” and “don't go” are no requests about the conversation.
"""

from __future__ import annotations

import re
from enum import IntEnum

from pydantic import BaseModel, ConfigDict

from lethe_app.brain.text.fingerprint import content_words
from lethe_app.language_tables import compose, load_table, table_pattern, table_words, word_class
from lethe_app.searchable_text import WORD


class CorrectionStrength(IntEnum):
    """Irritation with which a correction was made; the value is how often it must occur before it counts as a lasting
    preference.
    """

    STRONG = 1
    MILD = 2
    CASUAL = 3


class Correction(BaseModel):
    """Request about the persona's way of talking."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    words: str
    """Sentence as the user wrote it."""
    strength: CorrectionStrength
    unwanted: str = ""
    """What the persona shall not do, as it follows “don't”; empty for a request that forbids nothing."""
    instead: str = ""
    """What the persona shall do instead; empty if it was not stated."""

    @property
    def topic_stems(self) -> frozenset[str]:
        """Return the stems of the content words, without words that only express the request."""
        plain_forms = load_table(_TABLE)["plain_forms"]
        words = " ".join(plain_forms.get(word.lower(), word) for word in WORD.findall(self.unwanted or self.words))
        return content_words(words) - content_words(" ".join(load_table(_TABLE)["request_words"]))

    @property
    def is_prohibition(self) -> bool:
        """Return whether the correction forbids something."""
        return bool(self.unwanted)


_TABLE = "reply_corrections"
_QUOTED_OR_ACTION = re.compile(r"“[^”]*”|\"[^\"]*\"|\*[^*]*\*|`[^`]*`", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
UNNAMED_BEHAVIOUR = "do that"
"""Placeholder for `unwanted` if only the criticised reply shows what was meant."""
MAX_SENTENCE_LENGTH = 240
"""Maximum length of a sentence in characters; a longer one is a narration."""


def find_corrections(text: str) -> list[Correction]:
    """Return every request about the way of talking in the user's text, in order."""
    plain = _QUOTED_OR_ACTION.sub(" ", text).replace("’", "'")
    found = (_parse_sentence(" ".join(sentence.split())) for sentence in _SENTENCE.findall(plain))
    return [one for one in found if one is not None]


def is_alike(first: Correction, second: Correction) -> bool:
    """Return whether two corrections request the same: they share half of the content words of the shorter one."""
    if first.is_prohibition != second.is_prohibition and (first.instead or second.instead):
        return False
    shared, fewer = first.topic_stems & second.topic_stems, min(len(first.topic_stems), len(second.topic_stems))
    return fewer > 0 and 2 * len(shared) >= fewer and (fewer > 1 or first.topic_stems == second.topic_stems or len(shared) == 1)


def _parse_sentence(sentence: str) -> Correction | None:
    if not sentence or len(sentence) > MAX_SENTENCE_LENGTH or table_pattern(_TABLE, "no_request").match(sentence):
        return None
    for entry in load_table(_TABLE)["prohibitions"]:  # the first that matches decides
        if match := re.match(compose(entry), sentence, re.IGNORECASE):
            return _parse_prohibition(sentence, match)
    is_request = table_pattern(_TABLE, "requests").match(sentence)
    return Correction(words=sentence, strength=strength_of(sentence)) if is_request else None


def _parse_prohibition(sentence: str, match: re.Match[str]) -> Correction:
    groups = {name: text.strip() for name, text in match.groupdict().items() if text and text.strip(" .!?…")}
    name, phrase = next(iter(groups.items()), ("what", ""))
    clean_phrase = phrase.rstrip(" .!?…")
    instead_match = table_pattern(_TABLE, "instead").search(clean_phrase)
    unwanted, instead = clean_phrase, ""
    if instead_match:
        unwanted = clean_phrase[: instead_match.start()]
        instead = table_pattern(_TABLE, "instead_opening").sub("", instead_match[0]).strip().removesuffix(" instead")
    unwanted = unwanted.strip(" ,;:–—-")
    if not unwanted or unwanted.lower() in {"it", "that", "this", "doing that", "doing this", "doing it"}:
        unwanted = UNNAMED_BEHAVIOUR
    elif re.match(rf"{word_class('SPEECH_GERUND')}\b", unwanted, re.IGNORECASE):
        unwanted = f"go on {unwanted}"
    elif name == "doing":
        unwanted = f"go on with {unwanted}"
    return Correction(words=sentence, strength=strength_of(sentence), unwanted=unwanted, instead=instead)


def strength_of(sentence: str) -> CorrectionStrength:
    """Return the strength of a request by its wording; a plain demand is mild."""
    letters = [letter for letter in sentence if letter.isalpha()]
    is_shouted = len(letters) > 8 and all(letter.isupper() for letter in letters)
    if is_shouted or "!!" in sentence or table_words(_TABLE, "strong").search(sentence):
        return CorrectionStrength.STRONG
    if table_words(_TABLE, "casual").search(sentence):
        return CorrectionStrength.CASUAL
    return CorrectionStrength.MILD
