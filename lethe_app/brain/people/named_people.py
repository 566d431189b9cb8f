"""Detection of people and pets a sentence introduces by name: “aoife, thats my daughter”, “our dogs luna and rex”."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lethe_app.brain.vocabulary.kin_words import (
    AGE_ADJECTIVE,
    NAME,
    PERSON_PHRASE,
    PETS,
    ROLES,
    find_breed,
    is_own_relation,
    parse_name,
    standardize_role,
)
from lethe_app.brain.vocabulary.verbs import ADVERBS, BASE_VERBS, MODALS, is_past, third_person_form

_NUMBER = r"(?:two|three|four|five|six|seven|2|3|4|5|6|7)"
_MY_WORD = r"\b(?P<my>my|our|me)\b"
_PLACE_PHRASE = r"(?: (?:from (?:home|school|work|uni)|at (?:work|school|uni)))?"
_FOLLOWING_WORD = (
    "and|but|who|is|has|was|will|from|in|at|lives|works|plays|loves|hates|goes|just|says|wants|turned|turns|got|moved|since"
)
# The position of the name decides how certain a lowercase word is a name, so each pattern is tried with its own certainty.
_NAME_BEFORE_RELATION = re.compile(
    rf"(?:^|[,;] |\b(?:and|with|by|to|for) )(?P<name>{NAME})(?:(?:(?: will| would| does| did| can| is| has)?,? (?:that's|"
    rf"thats|this is|that is|"
    rf"she's|he's) (?:my|the|our|me)|,? is (?:my|our)|'s (?:my|our)) (?P<who>{PERSON_PHRASE}){_PLACE_PHRASE}(?=$|[,.!?]| "
    rf"(?:and|but|who|"
    rf"from|since|in|so)\b)|"
    rf",? (?:my|our|me) (?P<eldest>eldest|oldest|youngest|middle one)(?=$|[,.!?]| (?:{_FOLLOWING_WORD})\b)|, (?:my|our|"
    rf"me) (?P<kin>{PERSON_PHRASE}){_PLACE_PHRASE}(?=$|[,.!?]))",
    re.IGNORECASE,
)
_RELATION_BEFORE_NAME = re.compile(
    rf"{_MY_WORD} (?P<who>{PERSON_PHRASE}){_PLACE_PHRASE}(?: (?:called|named)|(?:'s| is| was) (?:called|named)|(?:'s name| "
    rf"name) is|"
    rf",)? (?P<name>{NAME})"
    rf"(?='s\b|\W|$)",
    re.IGNORECASE,
)
_RELATION_WITHOUT_MY = re.compile(
    rf"(?:^|\b(?:I have|I've got|I had|have|got|had|with|and|also|is|yes|yeah|yep|just|only|,) )(?:an? |one )"
    rf"?(?P<who>{PERSON_PHRASE})"
    rf"(?P<said> called| named|,)? (?P<name>{NAME})(?=\W|$)",
    re.IGNORECASE,
)
_INDEFINITE_RELATION = re.compile(
    rf"\ban? (?P<who>(?:[\w-]+ ){{0,3}}?{ROLES}),? (?:(?:called|named) |(?:his|her|their|its) name (?:is|"
    rf"was) )(?P<name>{NAME})",
    re.IGNORECASE,
)
_PET = re.compile(
    rf"(?:^|[,;] |\b(?:only|just|it's|with) )(?P<name>{NAME}),? (?:is )?(?:an?|our|"
    rf"my) (?P<who>(?:[\w-]+ ){{0,2}}?{PETS})(?=$|[,.!?]|"
    rf" (?:and|but|who|from)\b)",
    re.IGNORECASE,
)
_RENAMED_PET = re.compile(
    rf"\b(?:the|our|my) (?P<who>{PETS}|pup|pooch|doggo|kitty)(?:'s| is| was)? (?:now |gonna be |going to be )?(?:called|named|"
    rf"renamed) "
    rf"(?P<name>{NAME})(?=\W|$)",
    re.IGNORECASE,
)
_RELATION_OF_OTHER_PERSON = re.compile(
    rf"\b(?P<owner>(?:(?:my|our) {PERSON_PHRASE} )?(?P<of>{NAME})|her|his)(?P<s>'s|s)? (?P<who>{PERSON_PHRASE}|boy|girl|"
    rf"partner|"
    rf"wee one),? (?:called |named )?(?P<name>{NAME})"
    rf"(?=\W|$)",
    re.IGNORECASE,
)
_LIST = re.compile(
    rf"\b(?:(?P<my>my|our|the) |(?:(?:I|we)(?:'ve| have)?(?: got|"
    rf" have)? )?(?P<number>{_NUMBER}) )?(?P<adj>{AGE_ADJECTIVE} )?(?P<who>kids|children|"
    r"boys|girls|sons|daughters|brothers|sisters|siblings|dogs|cats|horses|rabbits|hamsters|budgies|goats|ponies|kittens|"
    r"puppies|"
    r"grandkids|grandchildren|grandsons|granddaughters|nephews|nieces|aunts|uncles|cousins|best friends|friends|mates|"
    r"roommates|"
    r"flatmates|housemates|twins|pets)(?:,? (?:(?:are |is )?(?:called|named)|are|is|names are)|,)? (?P<names>.+)",
    re.IGNORECASE,
)
_THEIR_NAMES = re.compile(r"\b(?:their names are|they(?:'re| are) called) (?P<names>.+)", re.IGNORECASE)
_ITEM = re.compile(
    rf"(?P<name>{NAME})(?:,? (?:(?:who |he |she )?(?:is |just |has )*(?:turned |is |"
    rf"aged )?)?(?P<age>\d{{1,2}})(?! (?:years|yrs) (?:now|together|in|this|ago)\b)(?: years old| yrs old| years| yrs)?"
    rf"(?! ?(?:months|weeks|mo\b)))?(?=\W|$)",
    re.IGNORECASE,
)
_JOIN = re.compile(r"(?:,? (?:and|&|n) |,? \+ ?|, )", re.IGNORECASE)
_SINGULAR_RELATIONS = {
    "kids": "child", "children": "child", "boys": "son", "girls": "daughter", "grandkids": "grandchild",
    "grandchildren": "grandchild", "ponies": "pony", "puppies": "dog", "kittens": "cat", "mates": "friend", "twins": "child",
    "siblings": "sibling",
}  # fmt: skip
_VAGUE_RELATION = re.compile(r"(?:eldest|oldest|youngest|boys?|lad|girl|one|half|baby|family|child)\Z")
"""After these roles a lowercase word is rather a kind than a name: “my oldest student”."""
_WORDS_AFTER_NAME = frozenset(
    """
    in is and at from who will was has on with are for when since to but the that n because cos he she i my as over out up
    """.split()  # noqa: SIM905
)
_THIRD_PERSON_VERBS = frozenset(map(third_person_form, BASE_VERBS))
_OPENINGS = frozenset(("", "and", "just", "only", "yes", "yeah", "yep", "also", "plus"))
_TITLED = re.compile(
    r"\b(?P<name>(?:mr|mrs|ms|miss|dr)\.? [a-z][a-z'-]+),? (?P<who>next door|(?:from )?(?:across the (?:road|street)|"
    r"upstairs|"
    r"downstairs|over the road))\b",
    re.IGNORECASE,
)
_THEIR_PARENT = re.compile(rf"\bwith their (?P<who>mum|mom|mother|mam|dad|father),? (?P<name>{NAME})(?=\W|$)", re.IGNORECASE)
_PET_NAMING = re.compile(rf"\b(?:call|calling|called|name|naming|named) (?:her|him|it) (?P<name>{NAME})(?=\W|$)", re.IGNORECASE)
_PET_ACQUISITION = re.compile(
    rf"\b(?:get|getting|got|adopt|adopting|adopted|have|bought|buying|rescued|"
    rf"rescuing) an? (?:[\w-]+ ){{0,2}}?(?P<who>{PETS})\b",
    re.IGNORECASE,
)
_GRANDPARENT = re.compile(r"\bgrand(?:father|dad|pa|ad|mother|ma|mum|parent)\b", re.IGNORECASE)
_LITTLE_ONE = re.compile(
    rf"\b(?:little|wee|baby) (?P<name>{NAME}),? (?:who is |is |she's |he's )?(?=\d|[a-z]+ (?:months|weeks))", re.IGNORECASE
)
_PARTNER_NAME = re.compile(
    rf"\b(?:I am|I'm|I've been|I have been|started) (?:seeing|dating|going out with|married to|engaged to) (?:an? (?:guy|"
    rf"girl|man|"
    rf"woman|lad|lass|bloke) (?:called|named) )?(?P<name>{NAME})(?=\W|$)",
    re.IGNORECASE,
)
_EX = re.compile(
    rf"\b(?:me (?:and|n|&) (?P<one>{NAME}) (?:broke|split)|(?P<two>{NAME}) and I (?:broke|split)|"
    rf"\bmy ex,? (?P<three>{NAME})(?=,|[.!?]|$))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class NamedPerson:
    """Person or pet a sentence introduces: the relation to the speaker (“older sister”) and the span of the introduction."""

    name: str
    relation: str
    start: int
    end: int
    breed: str = ""
    age: str = ""
    group: str = ""
    """The group of which it is one, such as “two kids”; empty if it is named alone."""
    is_known: bool = False
    """True if “the dog” refers to one mentioned before; its former name is replaced."""


def find_named(sentence: str, *, plural_group: str = "") -> Iterator[NamedPerson]:
    """Yield the people a sentence introduces; `plural_group` is to whom “they” may refer, such as “kids”."""
    yield from _find_listed(sentence, plural_group)
    # Earlier patterns take precedence: the caller skips a name it has already.
    for pattern, is_certain in (
        (_NAME_BEFORE_RELATION, True),
        (_PET, True),
        (_RENAMED_PET, True),
        (_RELATION_OF_OTHER_PERSON, False),
        (_INDEFINITE_RELATION, True),
        (_RELATION_BEFORE_NAME, False),
        (_RELATION_WITHOUT_MY, False),
    ):
        for match in pattern.finditer(sentence):
            if named_person := _build_named(match, is_certain=is_certain):
                yield named_person
    for match in _THEIR_PARENT.finditer(sentence):
        if name := parse_name(match["name"]):
            yield NamedPerson(name, f"children's {standardize_role(match['who'])}", match.start(), match.end())
    for match in _TITLED.finditer(sentence):
        yield NamedPerson(match["name"].title(), "neighbour", match.start(), match.end())


def _build_named(match: re.Match[str], *, is_certain: bool) -> NamedPerson | None:
    groups = match.groupdict()
    relation = (groups["who"] or groups.get("eldest") or groups.get("kin") or "").lower()
    is_certain = is_certain or bool(re.search(r"\b(?:called|named|name is)\b", match[0], re.IGNORECASE))
    name = parse_name(groups["name"], is_certain=is_certain)
    if not name or re.fullmatch(rf"(?:{ROLES})s?", name, re.IGNORECASE) or (relation.endswith("s") and relation != "boss"):
        return None
    # A lowercase word is a name only if neither the relation nor what follows it leaves another reading.
    is_lowercase = not groups["name"][0].isupper()
    if (
        is_lowercase
        and not is_certain
        and (_VAGUE_RELATION.search(relation) or len(name) < 3 or not _can_follow_name(match.string[match.end() :]))
    ):
        return None
    if (
        match.re is not _NAME_BEFORE_RELATION
        and match.re is not _RENAMED_PET
        and "my" not in groups
        and "owner" not in groups
        and not (is_own_relation(relation) and (is_certain or _is_only_name_possible(match)))
    ):
        return None
    role = standardize_role(relation)
    if owner := groups.get("owner"):
        return _build_owned(match, owner, role, name)
    return NamedPerson(
        name,
        role,
        match.start(),
        match.end(),
        find_breed(relation),
        is_known=match.re is _RENAMED_PET and match[0][:3].lower() == "the",
    )


def _can_follow_name(following_text: str) -> bool:
    """Return whether the following text can follow a name: “finbarr in boston”, unlike “mother bound books”."""
    if not following_text.strip() or re.match(r"\s*[,.!?]|'s\b", following_text):
        return True
    word = re.sub(r"\W.*", "", following_text.strip().lower())
    return (
        word in _WORDS_AFTER_NAME
        or word in _THIRD_PERSON_VERBS
        or is_past(word)
        or word in MODALS
        or word in ADVERBS
        or word.isdigit()
    )


def _is_only_name_possible(match: re.Match[str]) -> bool:
    """Return whether “brother finbarr”, without “my”, is in a position where only a name is possible."""
    preceding_text = match.string[: match.start("who")].strip().lower()
    following_text = match.string[match.end() :].strip()
    has_article = bool(re.search(r"(?:^| )(?:an?|one)$", preceding_text))
    return has_article or (
        preceding_text in _OPENINGS and (following_text[:1] in {"", ","} or bool(re.match(r"(?:in|is|from)\b", following_text)))
    )


def _build_owned(match: re.Match[str], owner: str, role: str, name: str) -> NamedPerson | None:
    """Return the person in “Rupert's eldest, Hugo”; None for a plural, as in “boys school”."""
    if match["s"] is None and owner.lower() not in {"her", "his"}:
        return None
    return NamedPerson(name, f"{owner}|{role}", match.start(), match.end())


def _find_listed(sentence: str, plural_group: str) -> Iterator[NamedPerson]:
    match = _LIST.search(sentence) or (_THEIR_NAMES.search(sentence) if plural_group else None)
    if not match:
        return
    group_noun = (match.groupdict().get("who") or plural_group).lower()
    singular = _SINGULAR_RELATIONS.get(group_noun, group_noun.removesuffix("s"))
    position = match.start("names")
    items: list[tuple[str, re.Match[str]]] = []
    while item := _ITEM.match(sentence, position):
        name = parse_name(item["name"])
        if not name or (items and re.fullmatch(ROLES, name, re.IGNORECASE)):
            break
        items.append((name, item))
        separator = _JOIN.match(sentence, item.end())
        if not separator:
            break
        position = separator.end()
    if len(items) > 1:
        for name, item in items:
            group = f"{match.groupdict().get('number') or ''} {group_noun}".strip()
            yield NamedPerson(name, standardize_role(singular), item.start(), item.end(), age=item["age"] or "", group=group)


def find_partners(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the names of present and former partners: “I'm seeing Tom”, “me and Jake broke up”."""
    for match in _PARTNER_NAME.finditer(sentence):
        if name := parse_name(match["name"], is_certain=True):
            yield name, "partner"
    for match in _EX.finditer(sentence):
        if name := parse_name(match["one"] or match["two"] or match["three"], is_certain=True):
            yield name, "ex"


def find_named_pet(message: str) -> NamedPerson | None:
    """Return Nami of “we're getting a pitbull, gonna call her Nami”; None if there is no such pet."""
    pet, match = _PET_ACQUISITION.search(message), _PET_NAMING.search(message)
    name = parse_name(match["name"], is_certain=True) if pet and match else ""
    return NamedPerson(name, standardize_role(pet["who"]), 0, 0, find_breed(pet["who"])) if pet and name else None


def find_name_before_relation(sentence: str, next_sentence: str) -> NamedPerson | None:
    """Return Maeve of “since maeve died.” and “my wife.”: a sentence that only states the relation of the name before it."""
    relation_match = re.fullmatch(
        rf"(?:she's |he's |that's |that is |she is |he is |she was |he was )?(?:my|"
        rf"our) (?P<who>{PERSON_PHRASE})(?P<namesake>'?s name)?(?: too)?[.!]*",
        next_sentence,
        re.IGNORECASE,
    )
    if not relation_match:
        return None
    name_matches = re.finditer(
        rf"(?:(?<=^)|(?<=\bsince )|(?<=\bafter )|(?<=\bwhen )|(?<=\bwith )|(?<=\bmiss )|(?<=\band )|(?<=, )){NAME}(?=\W|$)",
        sentence,
        re.IGNORECASE,
    )
    names = [name for match in name_matches if (name := parse_name(match[0], is_certain=match[0][0].isupper()))]
    return (
        NamedPerson(names[-1], standardize_role(relation_match["who"]), 0, 0)
        if len(names) == 1 or (names and relation_match["namesake"])
        else None
    )


def find_name_after_relation(sentence: str, next_sentence: str) -> NamedPerson | None:
    """Return Ger of “Best friend.” and “Ger Lehane, we …”; None if the sentences have another form."""
    relation_match = re.fullmatch(rf"(?:(?:my|our|the|an?) )?(?P<who>{PERSON_PHRASE})[.!]*", sentence, re.IGNORECASE)
    name_match = re.match(rf"(?P<name>{NAME})(?: (?P<last>[^\W\d_]+))?(?=,|[.!]*$)", next_sentence, re.IGNORECASE)
    name = parse_name(name_match["name"], is_certain=name_match["name"][0].isupper()) if relation_match and name_match else ""
    if not relation_match or not name_match or not name or relation_match["who"].lower().endswith("s"):
        return None
    surname = parse_name(name_match["last"]) if name_match["last"] else ""
    return NamedPerson(
        f"{name} {surname}".strip(),
        standardize_role(relation_match["who"]),
        0,
        name_match.end(),
        find_breed(relation_match["who"]),
    )


def find_name_in_answer(question: str, answer: str) -> NamedPerson | None:
    """Return Ger of the question “Who is Ger?” and the answer “my best friend”; None if they have another form."""
    grandchild_match = _LITTLE_ONE.search(answer)
    if grandchild_match and _GRANDPARENT.search(question) and (grandchild := parse_name(grandchild_match["name"])):
        return NamedPerson(grandchild, "grandchild", grandchild_match.start(), grandchild_match.end())
    question_match = re.search(rf"\b[Ww]ho(?:'s| is|s)(?: this)? (?P<name>{NAME})\?", question)
    relation_match = re.match(
        rf"(?:(?:oh|he's|she's|that's|haha|lol|ah|just),? )*(?:my|our|the) (?P<who>{PERSON_PHRASE})(?=$|\W)(?!')",
        answer,
        re.IGNORECASE,
    )
    name = parse_name(question_match["name"], is_certain=True) if question_match and relation_match else ""
    return (
        NamedPerson(name, standardize_role(relation_match["who"]), relation_match.start(), relation_match.end())
        if relation_match and name
        else None
    )
