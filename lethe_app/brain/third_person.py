"""Turns what somebody says of themselves into what is known of them: “I'm from Porto” becomes “Tomas is from Porto”."""

from __future__ import annotations

import re

from lethe_app.brain.sentences import tidy
from lethe_app.brain.verbs import BASE, agree, is_adverb, is_past, third

_ROMAN = r"(?<!War )(?<!Part )(?<!Chapter )(?<!Act )(?<!Book )(?<!Volume )(?<!Elizabeth )(?<!Charles )(?<!James )"
_I = re.compile(
    _ROMAN + r"(?<![\w'])(?P<before>(?:and|am|was|do|have|did) )?I(?P<short>'m|'ve|'ll|'d)?(?![\w'.])"
    r"(?P<after>(?: (?!I\b)[A-Za-z']+){0,12})"
)
_YOU = re.compile(r"(?<![\w'])[Yy]ou(?P<short>'re|'ve|'ll|'d)?(?![\w'])(?P<after>(?: [A-Za-z']+){0,4})")
_WE = re.compile(r"(?<![\w'])[Ww]e(?P<short>'re|'ve|'ll|'d)?(?![\w'])")
_SHORT = {"'m": " is", "'re": " is", "'ve": " has", "'ll": " will"}
_PLURAL = {"'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
_HAD = re.compile(r"(?: \w+ly)? (?:been|had|better|never|always|just|already)\b| \w+ed\b")
_PLURAL_YOU = re.compile(r"\byou (?:two|all|both|guys|lot)\b", re.IGNORECASE)


def rewrite(sentence: str, speaker: str, other: str) -> str | None:
    """The sentence with its speaker and the one spoken to by name, ending in a full stop.

    English only. “We” becomes both names. None for a question, for a “you” without a name for it, or if there are no words.
    """
    text = tidy(sentence).strip()
    if not re.search(r"\w", text) or text.rstrip("\"') ").endswith("?") or not speaker or _PLURAL_YOU.search(text):
        return None
    text = _I.sub(lambda found: _first(found, speaker), text)
    text = _possessed(text, speaker)
    if re.search(r"\b(?:you|your|yours|yourself|we|us|our|ours|ourselves)\b", text, re.IGNORECASE):
        if not other:
            return None
        text = _together(_addressed(text, other), speaker, other)
    return finish(text)


def finish(text: str) -> str:
    """A capital at the beginning, one full stop at the end, single spaces."""
    bare = re.sub(r"\s+", " ", text).strip().rstrip(" .,!;:")
    return bare[:1].upper() + bare[1:] + "."


def possessive(name: str) -> str:
    """Tomas's; Mira's."""
    return f"{name}'s"


def _first(found: re.Match[str], name: str) -> str:
    """One “I” with the verb that follows it."""
    before, short, after = found["before"] or "", found["short"] or "", found["after"]
    if before == "and ":  # Ana and I live: the verb is a plural already
        return before + name + (_PLURAL.get(short, "") if short != "'m" else " is") + after
    turned = {"am ": "is ", "do ": "does ", "have ": "has "}.get(before, before)
    if before:  # am I, did I: the verb stands before
        return turned + name + after
    if short == "'d":
        return name + (" had" if _HAD.match(after) else " would") + after
    return name + (_SHORT[short] + after if short else _agreed(after))


def _agreed(after: str) -> str:
    """The words after the subject, their first verb and those joined to it by “and” made to agree."""
    words = after.split(" ")[1:]
    place = next((number for number, word in enumerate(words) if not is_adverb(word)), None)
    if place is None or not words[place]:
        return after
    verb = words[place]
    words[place] = agree(verb)
    if words[place] != verb and verb.lower() in BASE:
        for number in range(place + 1, len(words) - 1):
            joined = words[number] in {"and", "or"} and words[number + 1] in BASE and "to" not in words[place:number]
            if joined and not is_past(words[number + 1]):
                words[number + 1] = third(words[number + 1])
    return " " + " ".join(words)


def _possessed(text: str, name: str) -> str:
    """My, mine, me, myself."""
    text = re.sub(r"\bby myself\b", "alone", text)
    text = re.sub(r"\b[Mm]yself\b", "themselves", text)
    text = re.sub(r"\b(?:[Mm]y|[Mm]ine)\b(?!-)", lambda _found: possessive(name), text)
    return re.sub(r"\b(?:me|Me)\b(?!-)", lambda _found: name, text)


def _addressed(text: str, name: str) -> str:
    """You, your, yours, yourself."""

    def one(found: re.Match[str]) -> str:
        short, after = found["short"] or "", found["after"]
        if short:
            return name + _SHORT.get(short, " would") + after
        words = after.split(" ")[1:]
        place = next((number for number, word in enumerate(words) if not is_adverb(word)), None)
        if place is None or words[place].lower() not in BASE | {"are", "were", "have", "do", "don't", "haven't", "aren't"}:
            return name + after
        words[place] = "is" if words[place].lower() == "are" else agree(words[place])
        return name + " " + " ".join(words)

    text = _YOU.sub(one, text)
    text = re.sub(r"\byourself\b", "themselves", text, flags=re.IGNORECASE)
    return re.sub(r"\b[Yy]ours?\b", lambda _found: possessive(name), text)


def _together(text: str, speaker: str, other: str) -> str:
    """We, us, our, ours; “US” stays a country."""
    both = f"{speaker} and {other}"
    text = _WE.sub(lambda found: both + _PLURAL.get(found["short"] or "", ""), text)
    text = re.sub(r"\b[Oo]urs?\b", lambda _found: possessive(both), text)
    text = re.sub(r"\bourselves\b", "themselves", text)
    return re.sub(r"\bus\b|(?<![.\w])Us\b", lambda _found: both, text)
