"""Noun phrases for relatives and pets with their names and counts."""

from __future__ import annotations

import re

from lethe_app.brain.vocabulary.entities import ANIMALS, RELATIVES
from lethe_app.brain.vocabulary.verbs import is_past

Clauses = list[tuple[str, str]]
"""First-person clauses with their keys."""
COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2}|a couple of|several)"
DURATION = (
    r"(?:(?:about|nearly|almost|over|around|just over|roughly|going on|coming up on) )?(?:[a-z]+(?:-[a-z]+)?|\d{1,2}) "
    r"(?:odd )?(?:years?|months?|decades)"
)
FAMILY = rf"(?:{RELATIVES}|boys?|girls?|lads?|mam|little ones?|grandbab(?:y|ies)|bestie)"
PET = (
    rf"(?:{ANIMALS}|pythons?|staff(?:y|ie)|husk(?:y|ies)|pugs?|beagles?|dachshunds?|whippets?|springers?|rottweilers?|"
    rf"dobermans?|alsatians?|schnauzers?|chihuahuas?|mutts?|tabb(?:y|ies))"
)
_NOT_NAMES = frozenset(
    """
    a an and the but so now both all who what here there one two my his her their in on at for with from of to grown up too
    old young adult adults little lovely great good bad annoying again away already also is are was were live lives away
    mostly only just together nearby today tomorrow later yet still lol haha thank god thankfully sadly please
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
_YEARS_SHORT = re.compile(r"\byr(?P<several>s?)\b\.?", re.IGNORECASE)
_WITH_ABBREVIATION = re.compile(r"\bw/?(?= (?:my|his|her|the|an?|[A-Z]|\w+))")
_LOWERCASE_WORDS = frozenset(
    ("and", "of", "the", "in", "on", "near", "de", "da", "la", "upon", "by", "a", "an", "with", "at", "for", "as", "to")
)


def build_possession(match: re.Match[str]) -> Clauses:
    """Return the statement of a match such as “two kids, jaylen and nia”, with their names if those are names."""
    noun_phrase = match["what"].lower()
    if match["grown"]:
        noun_phrase = f"{noun_phrase.removesuffix(match['noun'].lower())}grown-up {match['noun'].lower()}"
    names = re.split(r", (?:and )?| and | & ", match["names"]) if match["names"] else []
    if any(name.lower() in _NOT_NAMES or is_past(name) for name in names):
        return []
    capitalized_names = [name[:1].upper() + name[1:] for name in names]
    if not capitalized_names:
        return [(f"I have {noun_phrase}", "")]
    joined_names = " and ".join(filter(None, (", ".join(capitalized_names[:-1]), capitalized_names[-1])))
    return [(f"I have {noun_phrase} called {joined_names}", "")]


def expand_abbreviations(text: str) -> str:
    """Write out chat abbreviations: “12 yrs”, “w my ex”."""
    return _YEARS_SHORT.sub(r"year\g<several>", _WITH_ABBREVIATION.sub("with", text))


def add_article(noun: str) -> str:
    """Return a noun with “a” or “an” if it has none."""
    return (
        noun if re.match(r"(?:an?|the|my|\d+|two|three|four|five) ", noun) else f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
    )


def capitalize_name(name: str) -> str:
    """Capitalise a name that is all lowercase; return any other unchanged."""
    if not name.islower():
        return name
    words = name.split()
    return " ".join(word if word in _LOWERCASE_WORDS else word[:1].upper() + word[1:] for word in words)
