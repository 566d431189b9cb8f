"""Resolution of “she”, “his name”, “her” and “we”, if exactly one relative, partner, pet or boat is a possible referent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lethe_app.brain.vocabulary.entities import ANIMALS, EVENTS, RELATIVES

BOATS = r"(?:boat|dinghy|ship|yacht|canoe|sailboat|rowing boat|narrowboat|barge|kayak)"
_BOND = rf"(?:(?!family\b)(?:{RELATIVES})|{ANIMALS}|{BOATS})"
_GOT = (
    r"(?:(?:just |recently |finally )?got|have|have got|'ve got|'ve|got|own|keep|had|once had|adopted|bought|built|am "
    r"building|'m building|am restoring|"
    r"'m restoring|restore|inherited)"
)
_MINE = re.compile(
    rf"\b(?:(?P<my>my)|(?:I|we)(?: )?{_GOT} an?|our) (?P<who>(?:(?!name|favou?rite)[\w-]+ )?{_BOND}(?:'s (?:{RELATIVES}))?)\b"
    rf"(?! (?:{_BOND})\b)",
    re.IGNORECASE,
)
_YOURS = re.compile(rf"\byour (?P<who>(?:[\w-]+ )?{_BOND})\b(?!'s \w)", re.IGNORECASE)
_FEMALE = re.compile(
    r"(?:mother|mum|mom|mama|grandma|gran|granny|nan|nana|sister|daughter|wife|girlfriend|fiancée|aunt|auntie|niece)"
    r"(?:-in-law)?\Z",
    re.IGNORECASE,
)
_MALE = re.compile(
    r"(?:father|dad|papa|grandpa|brother|son|husband|boyfriend|fiancé|uncle|nephew)(?:-in-law)?\Z", re.IGNORECASE
)
_PARTNER = re.compile(
    r"\b(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|ex(?:-(?:wife|husband|girlfriend|boyfriend))?)\Z",
    re.IGNORECASE,
)
_MANY = re.compile(r"(?:s|children|kids|mice|geese|sheep|bees|siblings|parents|family)\Z(?<!boss)(?<!goldfish)", re.IGNORECASE)
_IS_A = re.compile(
    r"(?:\b(?:is|was|am|be|become|became|as)|'s|'m) (?:\w+ly |also |now |just |only )?(?:an?|the) (?:[\w-]+ ){0,4}",
    re.IGNORECASE,
)
_WOMEN = r"(?:woman|girl|lady|queen|princess|witch|landlady|waitress|actress|bride)"
_MEN = r"(?:man|guy|boy|bloke|king|prince|gentleman|landlord|wizard|groom|lad)"
_PEOPLE = (
    r"(?:boss|doctor|director|manager|person|teacher|professor|captain|nurse|client|customer|patient|stranger|kid|child|"
    r"baby|dentist|therapist|vet|priest|coach|officer|lawyer|driver|colleague|chef|friend|neighbou?r|cousin|student|"
    r"midwife|surgeon|somebody|someone|singer|author|actor|character|model)"
)
_OTHERS = re.compile(
    rf"\b(?:an?|the|this|that|another|some|his|her|their|my|which) (?:[\w-]+ )?(?:(?P<woman>{_WOMEN})|(?P<man>{_MEN})|"
    rf"(?P<one>{_PEOPLE}))\b|'s (?:[\w-]+ )?(?:{_WOMEN}|{_MEN}|{_PEOPLE})\b|\b(?:an?|the|her|his|their) (?:[\w-]+ )?{_BOND}\b|"
    rf"\b(?:married|dating|met|with) an? \w+|"
    r"(?<!called )(?<!named )\b(?:with|met|married|visited|saw|dating|told|asked|kissed|loves?|hates?|like) "
    r"(?-i:[A-Z])[a-z]+\b",
    re.IGNORECASE,
)
_NAME_SAID = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-z]+\b")
_SHORT_IS = re.compile(
    rf"^(?P<who>my (?:[\w-]+ )?{_BOND})'s(?= (?:\d|an? |the |from |not |called |married|engaged|retired|dead\b|also |"
    rf"pregnant|allergic|getting |moving |expecting |turning |having |studying |working |"
    rf"living |coming |in |at |on |ill\b|sick\b))",
    re.IGNORECASE,
)
_STARTS = re.compile(r"^(?:and )?(?P<who>he|she)(?P<short>'s)?\b(?! (?:and|or)\b)", re.IGNORECASE)
_NAME = re.compile(r"^(?P<whose>her|his) (?=(?:full |first |real )?name (?:is|was)\b)", re.IGNORECASE)
_OBJECT = re.compile(r"(?<=\w )(?P<who>him|her)(?= (?:every|each|once|twice|on|at|most|for|since|a lot)\b|$)", re.IGNORECASE)
_WE = re.compile(
    r"^we(?P<short>'ve|'re)?(?= (?:still |have |finally |never |then )?(?:split|broke|broken|separated|divorced|"
    r"got (?:married|divorced|engaged)|married|met|share|been (?:together|married)|moved in|bought|sold|adopted|"
    r"getting (?:married|divorced))\b)",
    re.IGNORECASE,
)
_STARTED = re.compile(
    r"^I started (?:there |here |working there |that job )?(?=(?:in|last|on|\w+ (?:days|weeks|months|years) ago|"
    r"at (?:the age )?of|when I was)\b)"
)
_PERFECT = re.compile(r" (?:been|got|had|never|always|lived|worked)\b")
_PET = re.compile(rf"\b(?:my|the|our|an?)(?: [\w-]+)? (?P<pet>{ANIMALS})[.!]*\Z", re.IGNORECASE)
_PRESENTED = re.compile(
    r"(?!(?:Sorry|Yes|Yeah|No|Nope|Thanks|Well|Anyway|Ah|Oh|Ugh|God|Lord|Man|Just|Still|Now|Today|Tonight|Honestly|Sadly|"
    r"Luckily|"
    r"Funny|Look|Listen|Right|Okay|True|Maybe|Probably)\b)(?P<name>[A-ZÀ-Ý][a-zà-ÿ]+), (?:an?|the) (?!.*\b(?:story|day|"
    r"night|week|idea|joke|question|mess|pity|shame|bit)\b)[\w ,'-]+[.!]*\Z"
)
_THE_EVENT = re.compile(rf"^the (?P<event>{EVENTS}|launch|naming)(?= (?:is|will be|starts) )", re.IGNORECASE)
_MY_EVENT = re.compile(
    rf"\b(?:I(?: have|'ve got|'ve| have got) (?:an?|my)|my) (?:[\w-]+ )?(?P<event>{EVENTS})\b", re.IGNORECASE
)


Rounds = tuple[Sequence["Referent"], ...]


@dataclass(frozen=True)
class Referent:
    """Possible referent of a pronoun. `who` is the relation to the speaker (“older sister”); empty for people without one."""

    who: str
    fits: str
    """Pronouns that can refer to it: “she”, “he”, “she or he”; “the” for an event, “work” for an occupation such as “as a
    nurse”.
    """
    source: UUID


def mentioned(text: str, source: UUID, *, by_other: bool = False) -> Iterator[Referent]:
    """Yield all possible referents mentioned in the text. With `by_other` the text is the other speaker's, and “your sister”
    is the speaker's sister.
    """
    for found in (_YOURS if by_other else _MINE).finditer(text):
        who = found["who"].lower()
        if not _MANY.search(who):
            yield Referent(who, _fits(who), source)
        if "'s " in who:  # “my sister's husband” speaks of both
            yield Referent(who.split("'s ")[0], _fits(who.split("'s ")[0]), source)
    if by_other:
        yield from (Referent("", "she or he", source) for _found in _NAME_SAID.finditer(text))
        yield from (replace(spoken, who="") for spoken in mentioned(text, source))
    bare = _MINE.sub(" ", _IS_A.sub(" ", text))
    for found in _OTHERS.finditer(bare):
        groups = found.groupdict()
        yield Referent("", "she" if groups["woman"] else "he" if groups["man"] else "she or he", source)
    for found in _MY_EVENT.finditer(text):
        yield Referent(found["event"].lower(), "the", source)


def _fits(who: str) -> str:
    last = who.rsplit(" ", 1)[-1]
    if re.fullmatch(BOATS, last):
        return "she"
    return "she" if _FEMALE.search(last) else "he" if _MALE.search(last) else "she or he"


def meant(pronoun: str, *rounds: Sequence[Referent]) -> Referent | None:
    """Return the only referent of the pronoun in the first round that has any; None if there is none or more than one."""
    for spoken in rounds:
        fitting = {one.who: one for one in spoken if pronoun in one.fits.split()}
        whole = [
            one for who, one in fitting.items() if not any(other != who and other.endswith(f" {who}") for other in fitting)
        ]
        if whole:
            return whole[0] if len(whole) == 1 and whole[0].who else None
    return None


def partner(*rounds: Sequence[Referent]) -> Referent | None:
    """Return the only partner mentioned in the first round that has any; None if there is none or more than one."""
    for spoken in rounds:
        found = {one.who: one for one in spoken if _PARTNER.search(one.who)}
        if found:
            return next(iter(found.values())) if len(found) == 1 else None
    return None


def spell_out(clause: str, *rounds: Sequence[Referent]) -> tuple[str, Referent | None]:
    """Return “She's a nurse” as “my sister is a nurse”, with the referent; the clause and None if nothing can be resolved.

    `rounds` are the referents of the same message, then those of the message before.
    """
    clause = _SHORT_IS.sub(r"\g<who> is", clause)
    for read in (_as_subject, _as_name, _as_object, _as_both, _as_work, _as_event):
        full, one = read(clause, rounds)
        if one:
            return full, one
    return clause, None


def _as_subject(clause: str, rounds: Rounds) -> tuple[str, Referent | None]:
    found = _STARTS.match(clause)
    one = meant(found["who"].lower(), *rounds) if found else None
    if not found or not one:
        return clause, None
    rest = clause[found.end() :]
    verb = (" has" if _PERFECT.match(rest) else " is") if found["short"] else ""
    return f"my {one.who}{verb}{rest}", one


def _as_name(clause: str, rounds: Rounds) -> tuple[str, Referent | None]:
    found = _NAME.match(clause)
    one = meant({"her": "she", "his": "he"}[found["whose"].lower()], *rounds) if found else None
    return (f"my {one.who}'s {clause[found.end() :]}", one) if found and one else (clause, None)


def _as_object(clause: str, rounds: Rounds) -> tuple[str, Referent | None]:
    found = _OBJECT.search(clause) if clause.startswith("I ") else None
    one = meant({"her": "she", "him": "he"}[found["who"].lower()], *rounds) if found else None
    return (f"{clause[: found.start()]}my {one.who}{clause[found.end() :]}", one) if found and one else (clause, None)


def _as_both(clause: str, rounds: Rounds) -> tuple[str, Referent | None]:
    found, one = _WE.match(clause), partner(*rounds)
    if not found or not one:
        return clause, None
    short = {"'re": " are"}.get(found["short"] or "", found["short"] or "")
    return f"my {one.who} and I{short}{clause[found.end() :]}", one


def _as_work(clause: str, rounds: Rounds) -> tuple[str, Referent | None]:
    found, one = _STARTED.match(clause), meant("work", *rounds)
    return (f"I started working {one.who} {clause[found.end() :]}", one) if found and one else (clause, None)


def _as_event(clause: str, rounds: Rounds) -> tuple[str, Referent | None]:
    found = _THE_EVENT.match(clause)
    one = _event(found["event"].lower(), *rounds) if found else None
    if not found or not one:
        return clause, None
    whose = f"my {one.who}" if one.fits == "the" else f"the {found['event'].lower()} of my {one.who}"
    return f"{whose}{clause[found.end() :]}", one


def _event(event: str, *rounds: Sequence[Referent]) -> Referent | None:
    """Return the speaker's event of that name; for a launch, the boat."""
    for spoken in rounds:
        for one in spoken:
            if (one.fits == "the" and one.who == event) or (
                event in {"launch", "naming"} and re.fullmatch(f".*{BOATS}", one.who)
            ):
                return one
    return None


def presented(sentence: str, after: str) -> str:
    """Return “The dog. Bruno, a big Newfoundland.” as “my dog is called Bruno”; empty for anything else."""
    pet, name = _PET.search(sentence), _PRESENTED.match(after)
    return f"my {pet['pet'].lower()} is called {name['name']}" if pet and name else ""
