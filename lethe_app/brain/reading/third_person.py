"""Conversion of first-person sentences into the third person: “I'm from Porto” becomes “Tomas is from Porto”."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.verbs import BASE_VERBS, agree_with_name, is_adverb, is_past, third_person_form
from lethe_app.language_tables import word_class

_NOT_NUMERAL = r"(?<!War )(?<!Part )(?<!Chapter )(?<!Act )(?<!Book )(?<!Volume )(?<!Elizabeth )(?<!Charles )(?<!James )"
"""Words after which “I” is a numeral, as in “World War I”."""
_I = re.compile(
    _NOT_NUMERAL + r"(?<![\w'])(?P<before>(?:and|am|was|do|have|did) )?I(?P<short>'m|'ve|'ll|'d)?(?![\w'.])"
    r"(?P<after>(?: (?!I\b)[A-Za-z']+){0,12})"
)
_SINGULAR_CONTRACTIONS = {"'m": " is", "'re": " is", "'ve": " has", "'ll": " will"}
_PLURAL_CONTRACTIONS = {"'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
_HAD_CONTEXT = re.compile(r"(?: \w+ly)? (?:been|had|better|never|always|just|already)\b| \w+ed\b")
_PAIR = re.compile(
    rf"^my (?!(?:{word_class('RELATIVE')}) [a-z]+s and)"
    rf"(?P<who>(?:[\w-]+ ){{0,2}}?(?:{word_class('RELATIVE')}|[a-z]+s)(?: [A-Z]\w+)?) and I(?P<short>'ve|'ll|'d)?(?![\w'])",
    re.IGNORECASE,
)
"""Plural subject, as in “My wife and I”."""
_SINGULAR_VERB = re.compile(r"^(?P<adverb>(?: \w+ly| still| also| just)? )(?P<verb>am|was|wasn't)\b")
_PLURAL_VERBS = {"am": "are", "was": "were", "wasn't": "weren't"}
_PLURAL_NOUN = re.compile(
    rf"\b{word_class('RELATION')}s?(?<=s)\b|\b(?:children|family|mice|geese|they|them|people|men|women|and their)\b",
    re.IGNORECASE,
)
"""Plural nouns to which “they” would refer instead of the speaker."""
_THIRD_PERSON_PLURAL = {"our": "their", "ours": "theirs", "us": "them", "we": "they", "ourselves": "themselves"}
_OTHER_PERSON = re.compile(r"\b(?!(?-i:US\b))(?:you|your|yours|yourself|we|us|our|ours|ourselves)\b", re.IGNORECASE)
_JOINED_SUBJECT = re.compile(rf"(?:\b[A-Z][\w'-]*|\b(?:{word_class('RELATIVE')}|him|her|them|friends?)) $")
"""Word before “and I” if both are a plural subject."""


def rewrite_in_third_person(sentence: str, speaker: str) -> str | None:
    """Return the sentence with the speaker by name, ending with a full stop.

    English only. None for a question, for a “you” or “we”, or if there are no words.
    """
    text = correct_spelling(sentence).strip()
    if not re.search(r"\w", text) or text.rstrip("\"') ").endswith("?") or not speaker:
        return None
    text = _replace_first_person(_replace_pair(text, speaker), speaker)
    if _OTHER_PERSON.search(text):
        return None
    text = " ".join(text.split()).rstrip(" .,!;:")
    return f"{text[:1].upper()}{text[1:]}."


def _replace_pair(text: str, name: str) -> str:
    """Return “My wife and I sold our boat” as “Tomas and their wife sold their boat”."""
    match = _PAIR.match(text)
    if not match:
        return text
    rest = re.sub(r"\b(?:our|ours|us|we|ourselves)\b", lambda pronoun: _THIRD_PERSON_PLURAL[pronoun[0]], text[match.end() :])
    return f"{name} and their {match['who']}{_PLURAL_CONTRACTIONS.get(match['short'] or '', '')}{rest}"


def _replace_first_person(text: str, name: str) -> str:
    """Replace “I”, “my” and “me” by the name; by “they”, “their” and “them” where the name is the subject before."""
    subject_match = _I.search(text)
    subject_index = 0 if text.startswith(f"{name} and their ") else subject_match.start() if subject_match else len(text)
    text = _replace_possessives(text, name, subject_index)
    subject_positions: list[int] = [0] if subject_index == 0 and text.startswith(f"{name} and") else []
    if name_match := re.search(
        rf"(?<=[a-z] ){re.escape(name)}(?=[ .,])", text[: subject_match.start()] if subject_match else ""
    ):
        subject_positions.append(name_match.start())  # “it made me feel like I belonged”

    def replace_i(match: re.Match[str]) -> str:
        is_subject = not match["before"] or match["before"] == "and "
        is_repeated = (
            bool(subject_positions) and is_subject and not _PLURAL_NOUN.search(text[subject_positions[0] : match.start()])
        )
        subject_positions.append(match.start())
        return (
            _replace_repeated_i(match)
            if is_repeated
            else _replace_single_i(match, name, is_joined=bool(_JOINED_SUBJECT.search(text[: match.start()])))
        )

    return _I.sub(replace_i, text)


def _replace_repeated_i(match: re.Match[str]) -> str:
    """Replace a further “I” after the named subject: “when I was six” becomes “when they were six”."""
    contraction = (match["short"] or "").replace("'m", "'re")
    following_text = _SINGULAR_VERB.sub(lambda verb: verb["adverb"] + _PLURAL_VERBS[verb["verb"]], match["after"])
    return f"{match['before'] or ''}they{contraction}{following_text}"


def _replace_single_i(match: re.Match[str], name: str, *, is_joined: bool) -> str:
    """Replace one “I” and inflect its verb. `is_joined`: “I” is joined to another person (“Ana and I live”), the verb is a
    plural already.
    """
    auxiliary, contraction, following_text = match["before"] or "", match["short"] or "", match["after"]
    if auxiliary == "and " and is_joined:
        return auxiliary + name + (_PLURAL_CONTRACTIONS.get(contraction, "") if contraction != "'m" else " is") + following_text
    inflected = {"am ": "is ", "do ": "does ", "have ": "has "}.get(auxiliary, auxiliary)
    if auxiliary and auxiliary != "and ":  # am I, did I: the verb stands before
        return inflected + name + following_text
    subject = inflected + name
    if contraction == "'d":
        return subject + (" had" if _HAD_CONTEXT.match(following_text) else " would") + following_text
    return subject + (_SINGULAR_CONTRACTIONS[contraction] + following_text if contraction else _inflect_verbs(following_text))


def _find_verb(words: Sequence[str]) -> int | None:
    """Return the index of the first word that is no adverb; None if all are. “No longer” and “no more” are adverbs, too."""
    number = 0
    while number < len(words):
        if words[number].lower() == "no" and words[number + 1 : number + 2] in (["longer"], ["more"]):
            number += 2
        elif is_adverb(words[number]):
            number += 1
        else:
            return number
    return None


def _inflect_verbs(following_text: str) -> str:
    """Inflect the first verb after the subject, and verbs joined to it by “and”, for the third person."""
    words = following_text.split(" ")[1:]
    index = _find_verb(words)
    if index is None or not words[index]:
        return following_text
    verb = words[index]
    words[index] = agree_with_name(verb)
    if words[index] != verb and verb.lower() in BASE_VERBS:
        for number in range(index + 1, len(words) - 1):
            is_joined_verb = (
                words[number] in {"and", "or"} and words[number + 1] in BASE_VERBS and "to" not in words[index:number]
            )
            if is_joined_verb and not is_past(words[number + 1]):
                words[number + 1] = third_person_form(words[number + 1])
    return " " + " ".join(words)


def _replace_possessives(text: str, name: str, subject_index: int) -> str:
    """Replace my, mine, me and myself; from `subject_index` (the position of the subject) on by pronouns."""

    gerund_match = re.match(r"[A-Z][a-z]+ing\b.*? me\b", text)  # “Painting helps me express my feelings”

    def replace_possessive(match: re.Match[str]) -> str:
        word = match[0].lower()
        if match.start() < subject_index and not (gerund_match and match.start() > gerund_match.end()):
            return name if word == "me" else f"{name}'s"
        return {"my": "their", "mine": "theirs"}.get(word, "them")

    text = re.sub(
        r"\b(?:[Mm]y|[Mm]ine|[Mm]e)\b(?!-)", replace_possessive, re.sub(r"\b(?P<mine>[Mm]ine)'s\b", r"\g<mine> is", text)
    )
    text = re.sub(r"\bby myself\b", "alone", text)
    return re.sub(r"\b[Mm]yself\b", "themselves", text)
