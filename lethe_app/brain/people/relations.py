"""Words for relatives, friends and pets, and the subject of an English clause."""

from __future__ import annotations

import re
from enum import StrEnum

from lethe_app.brain.vocabulary.phrases import RELATIVE_OR_ANIMAL
from lethe_app.retrieval.query_terms import WORD

_GROUPS = tuple(
    frozenset(line.split())
    for line in """
    mother mothers mum mom mums moms mama mummy mommy ma parent parents
    father fathers dad dads papa daddy pa parent parents
    son sons boy boys child children kid kids twin twins baby babies toddler teen teenager
    daughter daughters girl girls child children kid kids twin twins baby babies toddler teen teenager
    wife wives spouse partner fiancee fiancée bride
    husband husbands hubby spouse partner fiance fiancé groom
    girlfriend gf partner
    boyfriend bf partner
    sister sisters sis sibling siblings twin
    brother brothers bro sibling siblings twin
    grandmother grandma gran granny nan nana grandparent grandparents
    grandfather grandpa granddad grandad grandparent grandparents
    grandson grandsons grandchild grandchildren grandkid grandkids
    granddaughter granddaughters grandchild grandchildren grandkid grandkids
    aunt auntie
    uncle uncles
    cousin cousins
    nephew nephews
    niece nieces
    friend friends buddy buddies pal pals mate mates bestie bff
    neighbour neighbours neighbor neighbors
    colleague colleagues coworker coworkers teammate teammates
    boss manager supervisor
    flatmate flatmates roommate roommates housemate housemates
    teacher professor tutor mentor coach
    dog dogs puppy puppies pup pups pet pets terrier labrador lab poodle collie spaniel corgi retriever greyhound beagle husky
    cat cats kitten kittens kitty pet pets tabby
    horse horses pony ponies mare foal pet pets
    """.strip().splitlines()
)
"""Words that can stand for each other."""
_RELATION_WORD = re.compile(RELATIVE_OR_ANIMAL, re.IGNORECASE)
_ALL_RELATIONS = frozenset().union(*_GROUPS)
_LEADING_WORDS = re.compile(
    r"\W*(?:(?:and|but|so|well|oh|also|because|that|which|actually|yesterday|today|tonight|now|then|yeah|yes|yep|no|"
    r"nope|ok|okay|"
    r"when|since|as|though|although|while|btw|fyi|honestly|plus|sadly|luckily|fortunately|unfortunately|recently|lately|hey|"
    r"hi|hello|aw|aww|wow|haha|lol|thanks|you know|you see|i think|i guess|last \w+|this \w+|\w+ (?:year|month|week|day)s? ago|"
    r"in \w+|on \w+|both|all(?: of)?|one of|even|only)\b\W*){0,4}",
    re.IGNORECASE,
)
_SELF_SUBJECT = re.compile(r"(?:i|im|ive|i'm|i've|i'd|i'll|we|we're|we've|we'll|we'd|me and|myself|us)\b", re.IGNORECASE)
_MY_NOUN_PHRASE = re.compile(r"(?:my|our) (?P<who>[\w'-]+(?: [\w'-]+){0,2})", re.IGNORECASE)
_JOINED_WITH_I = re.compile(r"^(?:[\w'-]+ ){1,4}(?:and|&) (?:i|me)\b", re.IGNORECASE)
_THIRD_PERSON_SUBJECT = re.compile(r"(?:he|she|they|he's|she's|they're|hes|shes|theyre|his|her|their)\b", re.IGNORECASE)
_LISTENER_SUBJECT = re.compile(r"(?:you|you're|youre|you've|you'd|you'll|u|ur|your)\b", re.IGNORECASE)
_NOUN_PHRASE_END_VERBS = frozenset(
    """
    is was are were has had have been gave got goes went does did can will would said says told makes made works lives loves
    likes died taught helped came bought plays wants and or with in on at to for from just recently always
    """.split()  # noqa: SIM905
)
"""Words that end the noun phrase after “my”."""


class ClauseSubject(StrEnum):
    """Subject of a clause."""

    SELF = "self"
    RELATION = "relation"
    """A relative, friend or pet of the speaker: “my mother”."""
    THIRD = "third"
    """He, she or they."""
    LISTENER = "listener"
    UNSPOKEN = "unspoken"
    """No subject at the beginning, as in “Just moved to Leeds!”."""


def find_clause_subject(clause: str) -> tuple[ClauseSubject, str]:
    """Return the subject of an English clause, and the word for a relation if it is one."""
    plain = clause.replace("’", "'")
    leading_match = _LEADING_WORDS.match(plain)
    rest = plain[leading_match.end() :] if leading_match else plain
    if _SELF_SUBJECT.match(rest):
        return ClauseSubject.SELF, ""
    if noun_phrase := _MY_NOUN_PHRASE.match(rest):
        relation = _find_head_relation(noun_phrase["who"])
        if not relation:
            return ClauseSubject.SELF, ""
        return (ClauseSubject.SELF, "") if _JOINED_WITH_I.match(rest) else (ClauseSubject.RELATION, relation)
    if _THIRD_PERSON_SUBJECT.match(rest):
        return ClauseSubject.THIRD, ""
    return (ClauseSubject.LISTENER, "") if _LISTENER_SUBJECT.match(rest) else (ClauseSubject.UNSPOKEN, "")


def find_relations(text: str) -> set[str]:
    """Return the words for relatives, friends and pets in a text, in lowercase."""
    return {word for word in map(str.lower, WORD.findall(text)) if word in _ALL_RELATIONS or _RELATION_WORD.fullmatch(word)}


def is_relation_mentioned(relation: str, text: str) -> bool:
    """Return whether a text contains this relation or a word that can stand for it."""
    words = set(map(str.lower, WORD.findall(text)))
    return relation in words or any(relation in group and not group.isdisjoint(words) for group in _GROUPS)


def _find_head_relation(words: str) -> str:
    """Return the relation in the noun phrase after “my”; empty if there is none before the verb."""
    for word in re.split(r"[ -]", words.lower()):
        stripped = word.removesuffix("'s").rstrip("'")
        if stripped in _NOUN_PHRASE_END_VERBS:
            return ""
        if stripped in _ALL_RELATIONS or _RELATION_WORD.fullmatch(stripped):
            return stripped
    return ""
