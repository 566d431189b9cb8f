"""Parsing of answers to questions about relatives and pets: which ones somebody has, how many, or none."""

from __future__ import annotations

import re

from lethe_app.brain.people.noun_phrases import COUNT, FAMILY, PET, build_possession
from lethe_app.brain.vocabulary.entities import ANIMALS, RELATIVES
from lethe_app.brain.vocabulary.verbs import third_person_form

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
_NONE_ANSWER = re.compile(r"(?:no|nope|nah|none|neither|not (?:any ?more|yet|now)|no,? (?:none|never))\b", re.IGNORECASE)
_NEVER_HAD = re.compile(r"\bnever (?:had|owned|kept)(?: (?:one|any|a pet))?\b", re.IGNORECASE)
_ALLERGIC = re.compile(r"(?:^|, | and |cos |because )(?:I'm |am |very |badly )*allergic\.?$", re.IGNORECASE)
_COUNTED_ANSWER = re.compile(
    r"(?:yes|yep|yeah|yup|aye|yh|ye|i have|i do|got|just|only|,|\s)*(?P<count>\d{1,2}|one|two|three|four|five|six|"
    r"seven|eight|nine|ten)(?: of (?:them|em|'em))?[\s.!]*\Z",
    re.IGNORECASE,
)
_ASKED_NOUN = re.compile(rf"\b(?P<noun>{RELATIVES}|{ANIMALS})\b", re.IGNORECASE)
_OWNED_PHRASE = re.compile(
    rf"(?:my |just my |just |only |and |we have |got |have |a |an )*(?P<what>(?:(?P<count>{COUNT}) "
    rf")?(?P<kind>(?:(?!of\b|in\b|on\b|with\b|and\b|called\b|the\b)[\w-]+ ){{0,2}}?)(?P<noun>{FAMILY}|{PET}))"
    r"(?P<grown> (?:all )?(?:grown(?:[ -]up)?|adult))?(?:(?:,? (?:called|named)|,) (?P<names>[A-Z]?[a-z'-]+(?:(?:, "
    r"(?:and )?| and | & )[A-Z]?[a-z'-]+){0,5}))?\Z",
    re.IGNORECASE,
)


def parse_ownership(pieces: list[str], first_sentence: str, question: str) -> Answers:
    """Return which relatives or pets somebody has, or that they have none."""
    nouns = list(dict.fromkeys(found["noun"].lower() for found in _ASKED_NOUN.finditer(question)))
    if nouns and (none_answers := _parse_none(first_sentence, nouns)):
        return none_answers
    if nouns and (count_match := _COUNTED_ANSWER.match(first_sentence)):
        return [f"{count_match['count']} {nouns[0]}"] if nouns[0].endswith("s") or nouns[0] in {"children", "fish"} else []
    answers: Answers = []
    for piece in pieces:
        if len(piece.split()) > 9 or re.match(r"(?:I|we|my)\b", piece):
            continue
        whole_match = _OWNED_PHRASE.match(piece)
        parts = [piece] if whole_match else re.split(r", (?:and )?| and (?=an?\b|my\b|\d|one\b|two\b|three\b)", piece)
        for part in parts:
            if (found := _OWNED_PHRASE.match(part)) and not EVASIVE.search(found["kind"]):
                answers += [
                    (clause.replace("I have ", f"I have {_missing_article(found)}", 1), key)
                    for clause, key in build_possession(found)
                ]
    return answers


def _missing_article(match: re.Match[str]) -> str:
    """Return the article that is missing before “snake” but not before “two boys”."""
    if match["count"] or match["noun"].lower().endswith(("s", "children", "fish", "sheep", "mice", "family")):
        return ""
    return "an " if match["what"][:1].lower() in "aeiou" else "a "


def _parse_none(first_sentence: str, nouns: list[str]) -> Answers:
    """Return that the speaker has none of those, never had one or is allergic to them."""
    if nouns[0] in {"dad", "father", "mother", "mum", "mom", "parents", "family"}:
        return []
    animals = [noun for noun in nouns if re.fullmatch(ANIMALS, noun)]
    allergy_statements = (
        [(f"I am allergic to {animals[0] if animals[0].endswith('s') else third_person_form(animals[0])}", "")]
        if animals and _ALLERGIC.search(first_sentence.strip(" .!")) and "pet" not in animals[0]
        else []
    )
    joined_nouns = " or ".join(nouns)
    if _NEVER_HAD.search(first_sentence):
        article = "" if nouns[0].endswith("s") else "a "
        return [(f"I have never had {article}{joined_nouns}", ""), *allergy_statements]
    if _NONE_ANSWER.match(first_sentence) and (allergy_statements or len(re.sub(r"\W+", " ", first_sentence).split()) <= 3):
        return [(f"I have no {joined_nouns}", ""), *allergy_statements]
    return [*allergy_statements]
