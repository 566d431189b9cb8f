"""Resolution of “she”, “his name”, “her” and “we”, if exactly one relative, partner, pet or boat is a possible referent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lethe_app.brain.vocabulary.entities import ANIMALS, EVENTS, RELATIVES

BOATS = r"(?:boat|dinghy|ship|yacht|canoe|sailboat|rowing boat|narrowboat|barge|kayak)"
_POSSIBLE_REFERENT = rf"(?:(?!family\b)(?:{RELATIVES})|{ANIMALS}|{BOATS})"
_GOT = (
    r"(?:(?:just |recently |finally )?got|have|have got|'ve got|'ve|got|own|keep|had|once had|adopted|bought|built|am "
    r"building|'m building|am restoring|"
    r"'m restoring|restore|inherited)"
)
_OWN_RELATION = re.compile(
    rf"\b(?:(?P<my>my)|(?:I|we)(?: )?{_GOT} an?|our) (?P<who>(?:(?!name|favou?rite)[\w-]+ )?{_POSSIBLE_REFERENT}(?:'s "
    rf"(?:{RELATIVES}))?)\b"
    rf"(?! (?:{_POSSIBLE_REFERENT})\b)",
    re.IGNORECASE,
)
_YOUR_RELATION = re.compile(rf"\byour (?P<who>(?:[\w-]+ )?{_POSSIBLE_REFERENT})\b(?!'s \w)", re.IGNORECASE)
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
_PLURAL = re.compile(
    r"(?:s|children|kids|mice|geese|sheep|bees|siblings|parents|family)\Z(?<!boss)(?<!goldfish)", re.IGNORECASE
)
_PREDICATE_NOUN = re.compile(
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
_OTHER_PERSON = re.compile(
    rf"\b(?:an?|the|this|that|another|some|his|her|their|my|which) (?:[\w-]+ )?(?:(?P<woman>{_WOMEN})|(?P<man>{_MEN})|"
    rf"(?P<one>{_PEOPLE}))\b|'s (?:[\w-]+ )?(?:{_WOMEN}|{_MEN}|{_PEOPLE})\b|\b(?:an?|the|her|his|their) (?:[\w-]+ )"
    rf"?{_POSSIBLE_REFERENT}\b|"
    rf"\b(?:married|dating|met|with) an? \w+|"
    r"(?<!called )(?<!named )\b(?:with|met|married|visited|saw|dating|told|asked|kissed|loves?|hates?|like) "
    r"(?-i:[A-Z])[a-z]+\b",
    re.IGNORECASE,
)
_MENTIONED_NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-z]+\b")
_CONTRACTED_IS = re.compile(
    rf"^(?P<who>my (?:[\w-]+ )?{_POSSIBLE_REFERENT})'s(?= (?:\d|an? |the |from |not |called |married|engaged|retired|"
    rf"dead\b|also |"
    rf"pregnant|allergic|getting |moving |expecting |turning |having |studying |working |"
    rf"living |coming |in |at |on |ill\b|sick\b))",
    re.IGNORECASE,
)
_SUBJECT_PRONOUN = re.compile(r"^(?:and )?(?P<who>he|she)(?P<short>'s)?\b(?! (?:and|or)\b)", re.IGNORECASE)
_NAME_POSSESSIVE = re.compile(r"^(?P<whose>her|his) (?=(?:full |first |real )?name (?:is|was)\b)", re.IGNORECASE)
_OBJECT_PRONOUN = re.compile(
    r"(?<=\w )(?P<who>him|her)(?= (?:every|each|once|twice|on|at|most|for|since|a lot)\b|$)", re.IGNORECASE
)
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
_PRESENTED_NAME = re.compile(
    r"(?!(?:Sorry|Yes|Yeah|No|Nope|Thanks|Well|Anyway|Ah|Oh|Ugh|God|Lord|Man|Just|Still|Now|Today|Tonight|Honestly|Sadly|"
    r"Luckily|"
    r"Funny|Look|Listen|Right|Okay|True|Maybe|Probably)\b)(?P<name>[A-ZÀ-Ý][a-zà-ÿ]+), (?:an?|the) (?!.*\b(?:story|day|"
    r"night|week|idea|joke|question|mess|pity|shame|bit)\b)[\w ,'-]+[.!]*\Z"
)
_THE_EVENT = re.compile(rf"^the (?P<event>{EVENTS}|launch|naming)(?= (?:is|will be|starts) )", re.IGNORECASE)
_MY_EVENT = re.compile(
    rf"\b(?:I(?: have|'ve got|'ve| have got) (?:an?|my)|my) (?:[\w-]+ )?(?P<event>{EVENTS})\b", re.IGNORECASE
)


ReferentGroups = tuple[Sequence["Referent"], ...]


@dataclass(frozen=True)
class Referent:
    """Possible referent of a pronoun. `relation` is that to the speaker (“older sister”); empty for people without one."""

    relation: str
    pronouns: str
    """Pronouns that can refer to it: “she”, “he”, “she or he”; “the” for an event, “work” for an occupation such as “as a
    nurse”.
    """
    message_id: UUID


def find_referents(text: str, message_id: UUID, *, is_other_speaker: bool = False) -> Iterator[Referent]:
    """Yield all possible referents mentioned in the text. With `is_other_speaker` the text is the other speaker's, and “your
    sister” is the speaker's sister.
    """
    for match in (_YOUR_RELATION if is_other_speaker else _OWN_RELATION).finditer(text):
        relation = match["who"].lower()
        if not _PLURAL.search(relation):
            yield Referent(relation, _pronouns_of(relation), message_id)
        if "'s " in relation:  # “my sister's husband” speaks of both
            yield Referent(relation.split("'s ")[0], _pronouns_of(relation.split("'s ")[0]), message_id)
    if is_other_speaker:
        yield from (Referent("", "she or he", message_id) for _found in _MENTIONED_NAME.finditer(text))
        yield from (replace(referent, relation="") for referent in find_referents(text, message_id))
    remaining_text = _OWN_RELATION.sub(" ", _PREDICATE_NOUN.sub(" ", text))
    for match in _OTHER_PERSON.finditer(remaining_text):
        groups = match.groupdict()
        yield Referent("", "she" if groups["woman"] else "he" if groups["man"] else "she or he", message_id)
    for match in _MY_EVENT.finditer(text):
        yield Referent(match["event"].lower(), "the", message_id)


def _pronouns_of(relation: str) -> str:
    last_word = relation.rsplit(" ", 1)[-1]
    if re.fullmatch(BOATS, last_word):
        return "she"
    return "she" if _FEMALE.search(last_word) else "he" if _MALE.search(last_word) else "she or he"


def resolve_pronoun(pronoun: str, *referent_groups: Sequence[Referent]) -> Referent | None:
    """Return the only referent of the pronoun in the first group that has any; None if there is none or more than one."""
    for referents in referent_groups:
        matching = {one.relation: one for one in referents if pronoun in one.pronouns.split()}
        most_specific = [
            one for who, one in matching.items() if not any(other != who and other.endswith(f" {who}") for other in matching)
        ]
        if most_specific:
            return most_specific[0] if len(most_specific) == 1 and most_specific[0].relation else None
    return None


def find_partner(*referent_groups: Sequence[Referent]) -> Referent | None:
    """Return the only partner mentioned in the first group that has any; None if there is none or more than one."""
    for referents in referent_groups:
        partners = {one.relation: one for one in referents if _PARTNER.search(one.relation)}
        if partners:
            return next(iter(partners.values())) if len(partners) == 1 else None
    return None


def resolve_references(clause: str, *referent_groups: Sequence[Referent]) -> tuple[str, Referent | None]:
    """Return “She's a nurse” as “my sister is a nurse”, with the referent; the clause and None if nothing can be resolved.

    `referent_groups` are the referents of the same message, then those of the message before.
    """
    clause = _CONTRACTED_IS.sub(r"\g<who> is", clause)
    for resolver in (
        _resolve_subject,
        _resolve_name_possessive,
        _resolve_object,
        _resolve_we,
        _resolve_workplace,
        _resolve_event,
    ):
        resolved, referent = resolver(clause, referent_groups)
        if referent:
            return resolved, referent
    return clause, None


def _resolve_subject(clause: str, referent_groups: ReferentGroups) -> tuple[str, Referent | None]:
    match = _SUBJECT_PRONOUN.match(clause)
    referent = resolve_pronoun(match["who"].lower(), *referent_groups) if match else None
    if not match or not referent:
        return clause, None
    rest = clause[match.end() :]
    verb = (" has" if _PERFECT.match(rest) else " is") if match["short"] else ""
    return f"my {referent.relation}{verb}{rest}", referent


def _resolve_name_possessive(clause: str, referent_groups: ReferentGroups) -> tuple[str, Referent | None]:
    match = _NAME_POSSESSIVE.match(clause)
    referent = resolve_pronoun({"her": "she", "his": "he"}[match["whose"].lower()], *referent_groups) if match else None
    return (f"my {referent.relation}'s {clause[match.end() :]}", referent) if match and referent else (clause, None)


def _resolve_object(clause: str, referent_groups: ReferentGroups) -> tuple[str, Referent | None]:
    match = _OBJECT_PRONOUN.search(clause) if clause.startswith("I ") else None
    referent = resolve_pronoun({"her": "she", "him": "he"}[match["who"].lower()], *referent_groups) if match else None
    return (
        (f"{clause[: match.start()]}my {referent.relation}{clause[match.end() :]}", referent)
        if match and referent
        else (clause, None)
    )


def _resolve_we(clause: str, referent_groups: ReferentGroups) -> tuple[str, Referent | None]:
    match, referent = _WE.match(clause), find_partner(*referent_groups)
    if not match or not referent:
        return clause, None
    contraction = {"'re": " are"}.get(match["short"] or "", match["short"] or "")
    return f"my {referent.relation} and I{contraction}{clause[match.end() :]}", referent


def _resolve_workplace(clause: str, referent_groups: ReferentGroups) -> tuple[str, Referent | None]:
    match, referent = _STARTED.match(clause), resolve_pronoun("work", *referent_groups)
    return (
        (f"I started working {referent.relation} {clause[match.end() :]}", referent) if match and referent else (clause, None)
    )


def _resolve_event(clause: str, referent_groups: ReferentGroups) -> tuple[str, Referent | None]:
    match = _THE_EVENT.match(clause)
    referent = _find_event(match["event"].lower(), *referent_groups) if match else None
    if not match or not referent:
        return clause, None
    event_phrase = (
        f"my {referent.relation}" if referent.pronouns == "the" else f"the {match['event'].lower()} of my {referent.relation}"
    )
    return f"{event_phrase}{clause[match.end() :]}", referent


def _find_event(event: str, *referent_groups: Sequence[Referent]) -> Referent | None:
    """Return the speaker's event of that name; for a launch, the boat."""
    for referents in referent_groups:
        for referent in referents:
            if (referent.pronouns == "the" and referent.relation == event) or (
                event in {"launch", "naming"} and re.fullmatch(f".*{BOATS}", referent.relation)
            ):
                return referent
    return None


def find_presented_pet(sentence: str, next_sentence: str) -> str:
    """Return “The dog. Bruno, a big Newfoundland.” as “my dog is called Bruno”; empty for anything else."""
    pet, name = _PET.search(sentence), _PRESENTED_NAME.match(next_sentence)
    return f"my {pet['pet'].lower()} is called {name['name']}" if pet and name else ""
