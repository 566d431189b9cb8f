"""Parsing of answers to questions about relatives and pets: which ones somebody has, how many, or none."""

from __future__ import annotations

import re

from lethe_app.brain.people.noun_phrases import COUNT, FAMILY, KEPT, owned
from lethe_app.brain.vocabulary.entities import ANIMALS, RELATIVES
from lethe_app.brain.vocabulary.verbs import third

Answers = list[str | tuple[str, str]]
"""Strings that fill the answer of a question's full sentence, or whole clauses with their keys."""
EVASIVE = re.compile(
    r"\b(?:no|not|none|nope|nah|never|nothing|nobody|nowhere|anything|everything|something|someone|you|your|yours|this|that|it|"
    r"here|there|them|him|her|he|she|they|me|idk|dunno|depends|maybe|perhaps|secret|guess|sure|same|both|agreed|true|right|"
    r"exactly|absolutely|definitely|course|obviously|why|what|who|how|if|would|could|will|can|think|know|forget|forgot|kidding|"
    r"joking|lots?|many|all|much|thanks|please|sorry|stop|later|good|great|fine|bad|ok|okay|tired|bored|yes|yeah|yep|hmm+|um+|"
    r"is|are|was|were|am|don't|didn't|enough|hard|long|stuff|things?|question|far|away|hello|hi|hey)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"(?:no|nope|nah|none|neither|not (?:any ?more|yet|now)|no,? (?:none|never))\b", re.IGNORECASE)
_NEVER_HAD = re.compile(r"\bnever (?:had|owned|kept)(?: (?:one|any|a pet))?\b", re.IGNORECASE)
_ALLERGIC = re.compile(r"(?:^|, | and |cos |because )(?:I'm |am |very |badly )*allergic\.?$", re.IGNORECASE)
_OF_THEM = re.compile(
    r"(?:yes|yep|yeah|yup|aye|yh|ye|i have|i do|got|just|only|,|\s)*(?P<count>\d{1,2}|one|two|three|four|five|six|"
    r"seven|eight|nine|ten)(?: of (?:them|em|'em))?[\s.!]*\Z",
    re.IGNORECASE,
)
_THOSE = re.compile(rf"\b(?P<noun>{RELATIVES}|{ANIMALS})\b", re.IGNORECASE)
_ONE_OWNED = re.compile(
    rf"(?:my |just my |just |only |and |we have |got |have |a |an )*(?P<what>(?:(?P<count>{COUNT}) "
    rf")?(?P<kind>(?:(?!of\b|in\b|on\b|with\b|and\b|called\b|the\b)[\w-]+ ){{0,2}}?)(?P<noun>{FAMILY}|{KEPT}))"
    r"(?P<grown> (?:all )?(?:grown(?:[ -]up)?|adult))?(?:(?:,? (?:called|named)|,) (?P<names>[A-Z]?[a-z'-]+(?:(?:, "
    r"(?:and )?| and | & )[A-Z]?[a-z'-]+){0,5}))?\Z",
    re.IGNORECASE,
)


def of_owned(pieces: list[str], whole: str, asked: str) -> Answers:
    """Return which relatives or pets somebody has, or that they have none."""
    those = list(dict.fromkeys(found["noun"].lower() for found in _THOSE.finditer(asked)))
    if those and (none := _of_none(whole, those)):
        return none
    if those and (counted := _OF_THEM.match(whole)):
        return [f"{counted['count']} {those[0]}"] if those[0].endswith("s") or those[0] in {"children", "fish"} else []
    made: Answers = []
    for piece in pieces:
        if len(piece.split()) > 9 or re.match(r"(?:I|we|my)\b", piece):
            continue
        together = _ONE_OWNED.match(piece)
        parts = [piece] if together else re.split(r", (?:and )?| and (?=an?\b|my\b|\d|one\b|two\b|three\b)", piece)
        for part in parts:
            if (found := _ONE_OWNED.match(part)) and not EVASIVE.search(found["kind"]):
                made += [(clause.replace("I have ", f"I have {_article(found)}", 1), key) for clause, key in owned(found)]
    return made


def _article(found: re.Match[str]) -> str:
    """Return the article that is missing before “snake” but not before “two boys”."""
    if found["count"] or found["noun"].lower().endswith(("s", "children", "fish", "sheep", "mice", "family")):
        return ""
    return "an " if found["what"][:1].lower() in "aeiou" else "a "


def _of_none(whole: str, those: list[str]) -> Answers:
    """Return that the speaker has none of those, never had one or is allergic to them."""
    if those[0] in {"dad", "father", "mother", "mum", "mom", "parents", "family"}:
        return []
    animals = [noun for noun in those if re.fullmatch(ANIMALS, noun)]
    allergic = (
        [(f"I am allergic to {animals[0] if animals[0].endswith('s') else third(animals[0])}", "")]
        if animals and _ALLERGIC.search(whole.strip(" .!")) and "pet" not in animals[0]
        else []
    )
    listed = " or ".join(those)
    if _NEVER_HAD.search(whole):
        article = "" if those[0].endswith("s") else "a "
        return [(f"I have never had {article}{listed}", ""), *allergic]
    if _NO.match(whole) and (allergic or len(re.sub(r"\W+", " ", whole).split()) <= 3):
        return [(f"I have no {listed}", ""), *allergic]
    return [*allergic]
