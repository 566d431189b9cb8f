"""Conversion of first-person sentences into the third person: “I'm from Porto” becomes “Tomas is from Porto”."""

from __future__ import annotations

import re

from lethe_app.brain.text.spelling import tidy
from lethe_app.brain.vocabulary.entities import ANIMALS, EVENTS, RELATIVES
from lethe_app.brain.vocabulary.verbs import BASE, agree, is_adverb, is_past, third

_ROMAN = r"(?<!War )(?<!Part )(?<!Chapter )(?<!Act )(?<!Book )(?<!Volume )(?<!Elizabeth )(?<!Charles )(?<!James )"
"""Words after which “I” is a numeral, as in “World War I”."""
_I = re.compile(
    _ROMAN + r"(?<![\w'])(?P<before>(?:and|am|was|do|have|did) )?I(?P<short>'m|'ve|'ll|'d)?(?![\w'.])"
    r"(?P<after>(?: (?!I\b)[A-Za-z']+){0,12})"
)
_YOU = re.compile(r"(?<![\w'])[Yy]ou(?P<short>'re|'ve|'ll|'d)?(?![\w'])(?P<after>(?: [A-Za-z']+){0,4})")
_WE = re.compile(r"(?<![\w'])[Ww]e(?P<short>'re|'ve|'ll|'d)?(?![\w'])")
_SHORT = {"'m": " is", "'re": " is", "'ve": " has", "'ll": " will"}
_PLURAL = {"'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
_HAD = re.compile(r"(?: \w+ly)? (?:been|had|better|never|always|just|already)\b| \w+ed\b")
_PAIR = re.compile(
    rf"^my (?!(?:{RELATIVES}) [a-z]+s and)"
    rf"(?P<who>(?:[\w-]+ ){{0,2}}?(?:{RELATIVES}|[a-z]+s)(?: [A-Z]\w+)?) and I(?P<short>'ve|'ll|'d)?(?![\w'])",
    re.IGNORECASE,
)
"""Plural subject, as in “My wife and I”."""
_MY_EVENT = re.compile(
    rf"\b(?P<has>has|have) their (?!(?:first|second|third|fourth|last|next|new|own|only|final|big|\w+est)\b)"
    rf"(?P<event>(?:[\w-]+ ){{0,2}}?{EVENTS})\b(?<!finals)"
)
"""Event with a possessive, as in “I have my hearing”; the owner is evident and the possessive is dropped."""
_SINGULAR = re.compile(r"^(?P<adverb>(?: \w+ly| still| also| just)? )(?P<verb>am|was|wasn't)\b")
_PLURAL_OF = {"am": "are", "was": "were", "wasn't": "weren't"}
_SEVERAL = re.compile(
    rf"\b(?:{RELATIVES}|{ANIMALS})s?(?<=s)\b|\b(?:children|family|mice|geese|they|them|people|men|women|and their)\b",
    re.IGNORECASE,
)
"""Plural nouns to which “they” would refer instead of the speaker."""
_BOTH = {"our": "their", "ours": "theirs", "us": "them", "we": "they", "ourselves": "themselves"}
_PLURAL_YOU = re.compile(r"\byou (?:two|all|both|guys|lot)\b", re.IGNORECASE)


_JOINED = re.compile(rf"(?:\b[A-Z][\w'-]*|\b(?:{RELATIVES}|him|her|them|friends?)) $")
"""Word before “and I” if both are a plural subject."""


def rewrite(sentence: str, speaker: str, other: str) -> str | None:
    """Return the sentence with the speaker and the listener (`other`) by name, ending with a full stop.

    English only. “We” becomes both names. None for a question, for a “you” without a name for it, or if there are no words.
    """
    text = tidy(sentence).strip()
    if not re.search(r"\w", text) or text.rstrip("\"') ").endswith("?") or not speaker or _PLURAL_YOU.search(text):
        return None
    text = _told(_paired(text, speaker), speaker)
    if re.search(r"\b(?:you|your|yours|yourself|we|us|our|ours|ourselves)\b", text, re.IGNORECASE):
        if not other:
            return None
        text = _together(_addressed(text, other), speaker, other)
    return finish(text)


def finish(text: str) -> str:
    """Return the text with a capital at the beginning, one full stop at the end and single spaces."""
    bare = re.sub(r"\s+", " ", text).strip().rstrip(" .,!;:")
    return bare[:1].upper() + bare[1:] + "."


def possessive(name: str) -> str:
    """Return the genitive of a name: Tomas's; Mira's."""
    return f"{name}'s"


def _paired(text: str, name: str) -> str:
    """Return “My wife and I sold our boat” as “Tomas and their wife sold their boat”."""
    found = _PAIR.match(text)
    if not found:
        return text
    rest = re.sub(r"\b(?:our|ours|us|we|ourselves)\b", lambda both: _BOTH[both[0]], text[found.end() :])
    return f"{name} and their {found['who']}{_PLURAL.get(found['short'] or '', '')}{rest}"


def _told(text: str, name: str) -> str:
    """Replace “I”, “my” and “me” by the name; by “they”, “their” and “them” where the name is the subject before."""
    doer = _I.search(text)
    place = 0 if text.startswith(f"{name} and their ") else doer.start() if doer else len(text)
    text = _possessed(text, name, place)
    seen: list[int] = [0] if place == 0 and text.startswith(f"{name} and") else []
    if named := re.search(rf"(?<=[a-z] ){re.escape(name)}(?=[ .,])", text[: doer.start()] if doer else ""):
        seen.append(named.start())  # “it made me feel like I belonged”

    def one(found: re.Match[str]) -> str:
        goes_on = not found["before"] or found["before"] == "and "
        again = bool(seen) and goes_on and not _SEVERAL.search(text[seen[0] : found.start()])
        seen.append(found.start())
        return _again(found) if again else _first(found, name, joined=bool(_JOINED.search(text[: found.start()])))

    return _MY_EVENT.sub(_any_event, _I.sub(one, text))


def _any_event(found: re.Match[str]) -> str:
    return f"{found['has']} {'an' if found['event'][0].lower() in 'aeiou' else 'a'} {found['event']}"


def _again(found: re.Match[str]) -> str:
    """Replace a further “I” after the named subject: “when I was six” becomes “when they were six”."""
    short = (found["short"] or "").replace("'m", "'re")
    after = _SINGULAR.sub(lambda verb: verb["adverb"] + _PLURAL_OF[verb["verb"]], found["after"])
    return f"{found['before'] or ''}they{short}{after}"


def _first(found: re.Match[str], name: str, *, joined: bool) -> str:
    """Replace one “I” and inflect its verb. If “I” is `joined` to another person (“Ana and I live”), the verb is a plural
    already.
    """
    before, short, after = found["before"] or "", found["short"] or "", found["after"]
    if before == "and " and joined:
        return before + name + (_PLURAL.get(short, "") if short != "'m" else " is") + after
    turned = {"am ": "is ", "do ": "does ", "have ": "has "}.get(before, before)
    if before and before != "and ":  # am I, did I: the verb stands before
        return turned + name + after
    who = turned + name
    if short == "'d":
        return who + (" had" if _HAD.match(after) else " would") + after
    return who + (_SHORT[short] + after if short else _agreed(after))


def _agreed(after: str) -> str:
    """Inflect the first verb after the subject, and verbs joined to it by “and”, for the third person."""
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


def _possessed(text: str, name: str, doer: int) -> str:
    """Replace my, mine, me and myself; from the position of the subject (`doer`) on by pronouns."""

    helped = re.match(r"[A-Z][a-z]+ing\b.*? me\b", text)  # “Painting helps me express my feelings”

    def one(found: re.Match[str]) -> str:
        word = found[0].lower()
        if found.start() < doer and not (helped and found.start() > helped.end()):
            return name if word == "me" else possessive(name)
        return {"my": "their", "mine": "theirs"}.get(word, "them")

    text = re.sub(r"\b(?:[Mm]y|[Mm]ine|[Mm]e)\b(?!-)", one, re.sub(r"\b(?P<mine>[Mm]ine)'s\b", r"\g<mine> is", text))
    text = re.sub(r"\bby myself\b", "alone", text)
    return re.sub(r"\b[Mm]yself\b", "themselves", text)


def _addressed(text: str, name: str) -> str:
    """Replace you, your, yours and yourself by the name."""

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
    """Replace we, us, our and ours by both names; “US” stays a country."""
    both = f"{speaker} and {other}"
    text = _WE.sub(lambda found: both + _PLURAL.get(found["short"] or "", ""), text)
    text = re.sub(r"\b[Oo]urs?\b", lambda _found: possessive(both), text)
    text = re.sub(r"\bourselves\b", "themselves", text)
    return re.sub(r"\bus\b|(?<![.\w])Us\b", lambda _found: both, text)
