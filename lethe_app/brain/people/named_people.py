"""Detection of people and pets a sentence introduces by name: “aoife, thats my daughter”, “our dogs luna and rex”."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lethe_app.brain.vocabulary.kin_words import AGED, NAME, PETS, ROLES, WHO, as_name, breed_of, is_kin, plain_role
from lethe_app.brain.vocabulary.verbs import ADVERBS, BASE, MODALS, is_past, third

_NUMBER = r"(?:two|three|four|five|six|seven|2|3|4|5|6|7)"
_MY = r"\b(?P<my>my|our|me)\b"
_SMALL = r"(?: (?:from (?:home|school|work|uni)|at (?:work|school|uni)))?"
_GOES_ON = (
    "and|but|who|is|has|was|will|from|in|at|lives|works|plays|loves|hates|goes|just|says|wants|turned|turns|got|moved|since"
)
# The position of the name decides how certain a lowercase word is a name, so each pattern is tried with its own certainty.
_ITS_MINE = re.compile(
    rf"(?:^|[,;] |\b(?:and|with|by|to|for) )(?P<name>{NAME})(?:(?:(?: will| would| does| did| can| is| has)?,? (?:that's|"
    rf"thats|this is|that is|"
    rf"she's|he's) (?:my|the|our|me)|,? is (?:my|our)|'s (?:my|our)) (?P<who>{WHO}){_SMALL}(?=$|[,.!?]| (?:and|but|who|"
    rf"from|since|in|so)\b)|"
    rf",? (?:my|our|me) (?P<eldest>eldest|oldest|youngest|middle one)(?=$|[,.!?]| (?:{_GOES_ON})\b)|, (?:my|our|"
    rf"me) (?P<kin>{WHO}){_SMALL}(?=$|[,.!?]))",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"{_MY} (?P<who>{WHO}){_SMALL}(?: (?:called|named)|(?:'s| is| was) (?:called|named)|(?:'s name| name) is|"
    rf",)? (?P<name>{NAME})"
    rf"(?='s\b|\W|$)",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"(?:^|\b(?:I have|I've got|I had|have|got|had|with|and|also|is|yes|yeah|yep|just|only|,) )(?:an? |one )?(?P<who>{WHO})"
    rf"(?P<said> called| named|,)? (?P<name>{NAME})(?=\W|$)",
    re.IGNORECASE,
)
_A_NAMED = re.compile(
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
_THE_PET = re.compile(
    rf"\b(?:the|our|my) (?P<who>{PETS}|pup|pooch|doggo|kitty)(?:'s| is| was)? (?:now |gonna be |going to be )?(?:called|named|"
    rf"renamed) "
    rf"(?P<name>{NAME})(?=\W|$)",
    re.IGNORECASE,
)
_OF_SOMEBODY = re.compile(
    rf"\b(?P<owner>(?:(?:my|our) {WHO} )?(?P<of>{NAME})|her|his)(?P<s>'s|s)? (?P<who>{WHO}|boy|girl|partner|"
    rf"wee one),? (?:called |named )?(?P<name>{NAME})"
    rf"(?=\W|$)",
    re.IGNORECASE,
)
_LIST = re.compile(
    rf"\b(?:(?P<my>my|our|the) |(?:(?:I|we)(?:'ve| have)?(?: got|"
    rf" have)? )?(?P<number>{_NUMBER}) )?(?P<adj>{AGED} )?(?P<who>kids|children|"
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
_SINGULAR = {
    "kids": "child", "children": "child", "boys": "son", "girls": "daughter", "grandkids": "grandchild",
    "grandchildren": "grandchild", "ponies": "pony", "puppies": "dog", "kittens": "cat", "mates": "friend", "twins": "child",
    "siblings": "sibling",
}  # fmt: skip
_VAGUE = re.compile(r"(?:eldest|oldest|youngest|boys?|lad|girl|one|half|baby|family|child)\Z")
"""After these roles a lowercase word is rather a kind than a name: “my oldest student”."""
_AFTER = frozenset(
    """
    in is and at from who will was has on with are for when since to but the that n because cos he she i my as over out up
    """.split()  # noqa: SIM905
)
_THIRD = frozenset(map(third, BASE))
_OPENINGS = frozenset(("", "and", "just", "only", "yes", "yeah", "yep", "also", "plus"))
_TITLED = re.compile(
    r"\b(?P<name>(?:mr|mrs|ms|miss|dr)\.? [a-z][a-z'-]+),? (?P<who>next door|(?:from )?(?:across the (?:road|street)|"
    r"upstairs|"
    r"downstairs|over the road))\b",
    re.IGNORECASE,
)
_THEIR_PARENT = re.compile(rf"\bwith their (?P<who>mum|mom|mother|mam|dad|father),? (?P<name>{NAME})(?=\W|$)", re.IGNORECASE)
_NAMING = re.compile(rf"\b(?:call|calling|called|name|naming|named) (?:her|him|it) (?P<name>{NAME})(?=\W|$)", re.IGNORECASE)
_GETTING = re.compile(
    rf"\b(?:get|getting|got|adopt|adopting|adopted|have|bought|buying|rescued|"
    rf"rescuing) an? (?:[\w-]+ ){{0,2}}?(?P<who>{PETS})\b",
    re.IGNORECASE,
)
_GRANDPARENT = re.compile(r"\bgrand(?:father|dad|pa|ad|mother|ma|mum|parent)\b", re.IGNORECASE)
_LITTLE = re.compile(
    rf"\b(?:little|wee|baby) (?P<name>{NAME}),? (?:who is |is |she's |he's )?(?=\d|[a-z]+ (?:months|weeks))", re.IGNORECASE
)
_SEEING = re.compile(
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
class Named:
    """Person or pet a sentence introduces: the relation to the speaker (“older sister”) and the span of the introduction."""

    name: str
    who: str
    start: int
    end: int
    breed: str = ""
    age: str = ""
    listed: str = ""
    """The group of which it is one, such as “two kids”; empty if it is named alone."""
    is_known: bool = False
    """True if “the dog” refers to one mentioned before; its former name is replaced."""


def named(sentence: str, *, plural: str = "") -> Iterator[Named]:
    """Yield the people a sentence introduces; `plural` is to whom “they” may refer, such as “kids”."""
    yield from _listed(sentence, plural)
    # Earlier patterns take precedence: the caller skips a name it has already.
    for pattern, sure in (
        (_ITS_MINE, True),
        (_PET, True),
        (_THE_PET, True),
        (_OF_SOMEBODY, False),
        (_A_NAMED, True),
        (_NAMED, False),
        (_BARE, False),
    ):
        for found in pattern.finditer(sentence):
            if one := _one(found, sure=sure):
                yield one
    for found in _THEIR_PARENT.finditer(sentence):
        if name := as_name(found["name"]):
            yield Named(name, f"children's {plain_role(found['who'])}", found.start(), found.end())
    for found in _TITLED.finditer(sentence):
        yield Named(found["name"].title(), "neighbour", found.start(), found.end())


def _one(found: re.Match[str], *, sure: bool) -> Named | None:
    groups = found.groupdict()
    who = (groups["who"] or groups.get("eldest") or groups.get("kin") or "").lower()
    sure = sure or bool(re.search(r"\b(?:called|named|name is)\b", found[0], re.IGNORECASE))
    name = as_name(groups["name"], sure=sure)
    if not name or re.fullmatch(rf"(?:{ROLES})s?", name, re.IGNORECASE) or (who.endswith("s") and who != "boss"):
        return None
    is_small = not groups["name"][0].isupper()
    if is_small and not sure and (_VAGUE.search(who) or len(name) < 3 or not _goes_on(found.string[found.end() :])):
        return None
    if (
        found.re is not _ITS_MINE
        and found.re is not _THE_PET
        and "my" not in groups
        and "owner" not in groups
        and not (is_kin(who) and (sure or _is_lone(found)))
    ):
        return None
    role = plain_role(who)
    if owner := groups.get("owner"):
        return _of_somebody(found, owner, role, name)
    return Named(
        name, role, found.start(), found.end(), breed_of(who), is_known=found.re is _THE_PET and found[0][:3].lower() == "the"
    )


def _goes_on(after: str) -> bool:
    """Return whether the following text can follow a name: “finbarr in boston”, unlike “mother bound books”."""
    if not after.strip() or re.match(r"\s*[,.!?]|'s\b", after):
        return True
    word = re.sub(r"\W.*", "", after.strip().lower())
    return word in _AFTER or word in _THIRD or is_past(word) or word in MODALS or word in ADVERBS or word.isdigit()


def _is_lone(found: re.Match[str]) -> bool:
    """Return whether “brother finbarr”, without “my”, is in a position where only a name is possible."""
    before = found.string[: found.start("who")].strip().lower()
    after = found.string[found.end() :].strip()
    has_article = bool(re.search(r"(?:^| )(?:an?|one)$", before))
    return has_article or (before in _OPENINGS and (after[:1] in {"", ","} or bool(re.match(r"(?:in|is|from)\b", after))))


def _of_somebody(found: re.Match[str], owner: str, role: str, name: str) -> Named | None:
    """Return the person in “Rupert's eldest, Hugo”; None for a plural, as in “boys school”."""
    if found["s"] is None and owner.lower() not in {"her", "his"}:
        return None
    return Named(name, f"{owner}|{role}", found.start(), found.end())


def _listed(sentence: str, plural: str) -> Iterator[Named]:
    found = _LIST.search(sentence) or (_THEIR_NAMES.search(sentence) if plural else None)
    if not found:
        return
    who = (found.groupdict().get("who") or plural).lower()
    single = _SINGULAR.get(who, who.removesuffix("s"))
    place = found.start("names")
    items: list[tuple[str, re.Match[str]]] = []
    while item := _ITEM.match(sentence, place):
        name = as_name(item["name"])
        if not name or (items and re.fullmatch(ROLES, name, re.IGNORECASE)):
            break
        items.append((name, item))
        joined = _JOIN.match(sentence, item.end())
        if not joined:
            break
        place = joined.end()
    if len(items) > 1:
        for name, item in items:
            listed = f"{found.groupdict().get('number') or ''} {who}".strip()
            yield Named(name, plain_role(single), item.start(), item.end(), age=item["age"] or "", listed=listed)


def dated(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the names of present and former partners: “I'm seeing Tom”, “me and Jake broke up”."""
    for found in _SEEING.finditer(sentence):
        if name := as_name(found["name"], sure=True):
            yield name, "partner"
    for found in _EX.finditer(sentence):
        if name := as_name(found["one"] or found["two"] or found["three"], sure=True):
            yield name, "ex"


def pet_named(message: str) -> Named | None:
    """Return Nami of “we're getting a pitbull, gonna call her Nami”; None if there is no such pet."""
    pet, found = _GETTING.search(message), _NAMING.search(message)
    name = as_name(found["name"], sure=True) if pet and found else ""
    return Named(name, plain_role(pet["who"]), 0, 0, breed_of(pet["who"])) if pet and name else None


def alone_named(sentence: str, after: str) -> Named | None:
    """Return Maeve of “since maeve died.” and “my wife.”: a sentence that only states the relation of the name before it."""
    told = re.fullmatch(
        rf"(?:she's |he's |that's |that is |she is |he is |she was |he was )?(?:my|"
        rf"our) (?P<who>{WHO})(?P<namesake>'?s name)?(?: too)?[.!]*",
        after,
        re.IGNORECASE,
    )
    if not told:
        return None
    places = re.finditer(
        rf"(?:(?<=^)|(?<=\bsince )|(?<=\bafter )|(?<=\bwhen )|(?<=\bwith )|(?<=\bmiss )|(?<=\band )|(?<=, )){NAME}(?=\W|$)",
        sentence,
        re.IGNORECASE,
    )
    names = [name for found in places if (name := as_name(found[0], sure=found[0][0].isupper()))]
    return Named(names[-1], plain_role(told["who"]), 0, 0) if len(names) == 1 or (names and told["namesake"]) else None


def headed(sentence: str, after: str) -> Named | None:
    """Return Ger of “Best friend.” and “Ger Lehane, we …”; None if the sentences have another form."""
    head = re.fullmatch(rf"(?:(?:my|our|the|an?) )?(?P<who>{WHO})[.!]*", sentence, re.IGNORECASE)
    first = re.match(rf"(?P<name>{NAME})(?: (?P<last>[^\W\d_]+))?(?=,|[.!]*$)", after, re.IGNORECASE)
    name = as_name(first["name"], sure=first["name"][0].isupper()) if head and first else ""
    if not head or not first or not name or head["who"].lower().endswith("s"):
        return None
    last = as_name(first["last"]) if first["last"] else ""
    return Named(f"{name} {last}".strip(), plain_role(head["who"]), 0, first.end(), breed_of(head["who"]))


def asked(question: str, answer: str) -> Named | None:
    """Return Ger of the question “Who is Ger?” and the answer “my best friend”; None if they have another form."""
    little = _LITTLE.search(answer)
    if little and _GRANDPARENT.search(question) and (called := as_name(little["name"])):
        return Named(called, "grandchild", little.start(), little.end())
    who_is = re.search(rf"\b[Ww]ho(?:'s| is|s)(?: this)? (?P<name>{NAME})\?", question)
    told = re.match(
        rf"(?:(?:oh|he's|she's|that's|haha|lol|ah|just),? )*(?:my|our|the) (?P<who>{WHO})(?=$|\W)(?!')", answer, re.IGNORECASE
    )
    name = as_name(who_is["name"], sure=True) if who_is and told else ""
    return Named(name, plain_role(told["who"]), told.start(), told.end()) if told and name else None
