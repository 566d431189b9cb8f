"""Statements of one message about the speaker's people and pets, identified by name or by an unambiguous pronoun."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lethe_app.brain.people import named_people
from lethe_app.brain.people.acquaintances import Acquaintances, Person, PersonStatement, pronouns_of
from lethe_app.brain.people.introductions import asks_memory
from lethe_app.brain.people.kin_clauses import told_of
from lethe_app.brain.people.named_people import Named
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.kin_words import NAME, PETS, ROLES, WHO, as_name, plain_role
from lethe_app.retrieval.query_terms import fold

UNNAMED = re.compile(rf"\b(?:my|our) (?P<who>{WHO})\b(?!'s \w)", re.IGNORECASE)
_UNREAL = re.compile(
    r"(?:if|imagine|suppose|let's say|what if|pretend|once upon)\b|.*\b(?:in (?:my|the|a) (?:book|novel|story|game|film|"
    r"movie|"
    r"show|dream|series)|character|as if|jk)\b",
    re.IGNORECASE,
)
_ONLY = re.compile(r"(?:mother|father|wife|husband|partner|girlfriend|boyfriend|boss)\Z")
_STRANGER = re.compile(
    r"\b(?:an?|some|this|that|the|another) (?:[\w-]+ )?(?:guy|man|woman|lady|bloke|customer|patient|client|stranger|"
    r"someone|doctor|"
    r"nurse|teacher|fella|girl|boy|kid|dude|lad|lass|judge|driver|waiter|actor|singer|player|character|boat|ship|car|"
    r"horse)\b|\b(?:someone|"
    r"somebody|a customer)\b",
    re.IGNORECASE,
)
_TITLED = re.compile(r"\b(?:mr|mrs|ms|miss|dr|prof|professor)\.? (?!and\b)[a-z][\w'-]+", re.IGNORECASE)
_SOMEBODYS = re.compile(rf"\b(?:her|his|their|another|an?) (?:(?!old\b)[\w-]+ )?(?P<who>{ROLES})\b", re.IGNORECASE)
"""Person or pet of somebody else, to whom “he” may refer: “she left me her budgie”."""
_BEGINS_WITH = re.compile(r"(?P<name>[A-Z][a-z]{2,})(?=$|[.,]| (?:is|was|from|has|had|did|[a-z]{2,}(?:s|ed))\b)")
"""Sentence that begins with a name: “Yuki, from Sapporo”."""
_AN_UNNAMED = re.compile(rf"\b(?:I have|I've got|I got|got) an? (?P<who>{WHO})\b", re.IGNORECASE)
_CUT = re.compile(
    r"\s*,\s*|\s+(?:and|but|so|because|cause|tho|though|n)\s+(?=(?:my|I|we|they)\b)|"
    r"\s+(?:and|but|so|because|cause|tho|though|while|till|until|since|when|n|after)\s+(?=(?:he|she|he's|she's)\b"
    r"|(?P<name>[^\W\d_][\w-]+)(?:'?s)? )|(?P<run>\s+(?=(?:he|she)(?:'s| \w)))",
    re.IGNORECASE,
)
_SAYING = re.compile(
    r"\b(?:think|thinks|know|knows|say|says|said|that|if|when|what|how|where|why|who|hope|wish|told|than|like|as|believe|"
    r"swear|guess|"
    r"before|whether|because|cause|thought|everything|anything|all|the \w+|so|and|but|first time|last time|til|till|until|"
    r"sure|love)$",
    re.IGNORECASE,
)
_TELLING = re.compile(r"\b(?:told|tell|asked|ask|show|showed|says|said) \w+(?: that)?$", re.IGNORECASE)
_BEGINS = re.compile(
    rf"^(?:(?:and|but|so|yes|yeah|nah|no|well|oh|also|though|anyway|haha|lol|since|when|because|poor|little|big|my|our|"
    rf"the) )*"
    rf"(?:(?P<pronoun>he|she)(?P<is>'s|'d|'ll)?|who(?P<who_is>'s)?|(?:my |"
    rf"our )?(?:{ROLES} )?(?P<name>[^\W\d_][\w-]*?)(?P<s>'s|s)?)(?= (?P<rest>.+)|$)",
    re.IGNORECASE,
)
_PLURAL = re.compile(
    r"\b(?:my|our|the|two|three|four|five|2|3|4|5) (?P<who>kids|children|boys|girls|sons|daughters|brothers|sisters|dogs|"
    r"cats|"
    r"grandkids|grandchildren|nephews|nieces|pets)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"^(?P<when>(?:(?:about |nearly |almost )?(?:\w+|a few|a couple of) (?:years?|months?|weeks?|days?) ago|last \w+|"
    r"in (?:\d{4}|[a-z]+)|"
    r"this \w+|on (?:the )?\d\w*(?: of)? \w+|yesterday)(?: (?:in|on) \w+)?)\b(?:,? (?:of |from )?(?P<of>cancer|a stroke|"
    r"a heart "
    r"attack|covid|old age|pneumonia|heart failure|dementia))?",
    re.IGNORECASE,
)
_WITHIN = re.compile(r"\b(?:with|by|to|for|from|of|at|and|is|and) $")
_THIRTIETH = re.compile(r"^'s (?P<age>\d{1,3})(?:st|nd|rd|th)\b(?! (?:floor|street|grade|time|place))")
_DID = re.compile(r"\b(?:last|was|were|went|did|had|made|baked|yesterday|ago)\b", re.IGNORECASE)
_OF_YOU = re.compile(r"\byour name\b|\b(?:call|are) you\b", re.IGNORECASE)
_ITS = re.compile(r"\bit(?:s|'s)?\b", re.IGNORECASE)
_WHOSE = re.compile(r"\b(?P<she>her|she)\b|\b(?P<he>his|him|he)\b", re.IGNORECASE)
_PET = re.compile(rf"\b(?:{PETS}|pooch|doggo|pup|kitty|moggy)\b", re.IGNORECASE)
_ASKS_NAME = re.compile(r"\b(?:name|called)\b.*\?|\bwho\b.*\?", re.IGNORECASE)
_DIED = re.compile(r"(?:died|passed away|passed)\Z")
_NAME_IS = re.compile(
    rf"^(?:(?:and|oh|so|but) )?(?:(?P<whose>her|his|its|their)(?: full| real)? name(?:'s| is| was)|(?:(?P<who>he|she|"
    rf"it)(?:'s| is) )?(?:called|named|name of)) "
    rf"(?P<name>{NAME})(?=$|\W)",
    re.IGNORECASE,
)
_WITH = re.compile(
    rf"\b(?:marrying|married|married to|seeing|dating|engaged to|lives? with|living with) (?:(?:an?|her|his) (?:guy|girl|"
    rf"man|woman|lad|lass|bloke|fella) "
    rf"(?:called|named) )(?P<name>{NAME})(?=$|\W)",
    re.IGNORECASE,
)
_THIRD_FIRST = re.compile(
    r"(?:works|lives|plays|studies|teaches|runs|owns|sings|drives|loves|hates|likes|speaks|makes|has|collects|paints|"
    r"writes|bakes|used to|was born|moved)\b"
)


@dataclass
class MessageReading:
    """State while one message is read: the people it mentions, in the order of their mention."""

    people: Acquaintances
    line: Utterance
    before: list[Person]
    is_theirs: bool = False
    """True if the other speaker has mentioned their own people, to whom “she” may refer."""
    spoken: list[Person] = field(default_factory=list)
    subject: Person | None = None
    """Subject of the previous clause."""
    looks_back: bool = True
    """True if a pronoun may refer to somebody of the message before, because it begins its sentence."""
    theirs: Person | None = None
    """Somebody's partner who is named in the clause."""

    def introduced(self, parts: Sequence[str], question: str) -> dict[int, list[tuple[Named, bool]]]:
        """Return whom each sentence introduces, by its index, with whether they are new. All of them are registered."""
        found: dict[int, list[tuple[Named, bool]]] = {}
        for number, sentence in enumerate(parts):
            if _UNREAL.match(sentence) or asks_memory(sentence):
                continue
            if plural := _PLURAL.search(sentence):
                self.people.plural = plural["who"].lower()
            after = parts[number + 1] if number + 1 < len(parts) else ""
            here = list(named_people.named(sentence, plural=self.people.plural))
            here += [Named(name, who, 0, 0) for name, who in named_people.dated(sentence)]
            here += filter(None, [named_people.alone_named(sentence, after)] if after else [])
            here += filter(None, [named_people.asked(question, sentence)] if number < 2 else [])
            here += filter(None, [named_people.pet_named(" ".join(parts))] if number == 0 else [])
            found.setdefault(number, []).extend(self._noted(here))
            if after and (one := named_people.headed(sentence, after)):
                found.setdefault(number + 1, []).extend(self._noted([one]))
        return found

    def _noted(self, here: Sequence[Named]) -> Iterator[tuple[Named, bool]]:
        taken: list[Named] = []
        for one in here:
            if any(fold(one.name.split()[-1]) == fold(other.name.split()[-1]) for other in taken) or fold(one.name) == fold(
                self.line.name
            ):
                continue
            owner, _, role = one.who.rpartition("|")
            who = role
            if owner:
                named = self._owner(owner)
                if not named:
                    continue
                who = f"{named.full.removeprefix('my ')}'s {role}"
            who = self._renamed(one, who)
            taken.append(one)
            is_new = fold(one.name) not in self.people.known
            person = self.people.learn(one.name, who, self.line.id)
            if not one.listed:
                # Later mentions may use the first name alone.
                self.people.known.setdefault(fold(one.name.split()[0]), person)
            yield one, is_new

    def _renamed(self, one: Named, who: str) -> str:
        """Return the relation of the name. If the speaker has one pet of this kind under another name, that name is removed."""
        pets = [pet for pet in self.people.known.values() if one.is_known and _is_same_animal(pet.who, who)]
        if len(pets) != 1 or fold(pets[0].name) == fold(one.name):
            return who
        del self.people.known[next(key for key, pet in self.people.known.items() if pet is pets[0])]
        return pets[0].who

    def _owner(self, owner: str) -> Person | None:
        if owner.lower() in {"her", "his"}:
            return self.meant("she" if owner.lower() == "her" else "he")
        return self.people.known.get(fold(owner.rsplit(maxsplit=1)[-1]))

    def names(self, found: dict[int, list[tuple[Named, bool]]]) -> Iterator[PersonStatement]:
        """Yield the names of new people. With two sons neither name replaces the other."""
        new = [one for each in found.values() for one, is_new in each if is_new]
        if listed := [one for one in new if one.listed]:
            names = [one.name for one in listed]
            whom = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
            count, _, many = listed[0].listed.rpartition(" ")
            yield PersonStatement(
                f"I have {count} {many} called {whom}" if count else f"my {many} are called {whom}", f"{many} name", (), *names
            )
        for one in new:
            person = self.people.known[fold(one.name)]
            if not one.listed:
                yield self._name(one, person)
            if one.age:
                yield PersonStatement(f"{person.full} is {one.age}", f"{fold(person.name)} age", (), person.name)

    def _name(self, one: Named, person: Person) -> PersonStatement:
        who, name = person.who, person.name
        others = [other for other in self.people.known.values() if other.who == who and other.name != name]
        if who == "ex":
            return PersonStatement(f"{name} is my ex", "", (), name)
        if one.breed:
            article = "an" if one.breed[0] in "aeiou" else "a"
            return PersonStatement(
                f"my {who} is {article} {one.breed} called {name}", "" if others else f"{who} name", (), name
            )
        if others and not _ONLY.search(who) and "'s " not in who:
            return PersonStatement(f"I have {'an' if who[0] in 'aeiou' else 'a'} {who} called {name}", "", (), name)
        owner, _, role = who.rpartition("'s ")
        key = f"{owner.split()[-1].lower()} {role} name" if owner else f"{who} name"
        return PersonStatement(f"my {who} is called {name}", key, (), name)

    def attributes(self, sentence: str, here: Sequence[tuple[Named, bool]], after: Sequence[str]) -> Iterator[PersonStatement]:
        """Yield the statements of a sentence about those it names or refers to."""
        asks = sentence.endswith("?") or asks_memory(sentence) or bool(_UNREAL.match(sentence))
        places = sorted(
            (
                one
                for one, _new in here
                if one.end and not one.listed and not ("|" in one.who and _WITHIN.search(sentence[: one.start]))
            ),
            key=lambda one: one.start,
        )
        starts = [0, *(one.end for one in places)]
        ends = [*(one.start for one in places), len(sentence)]
        people = [None, *(self.people.known[fold(one.name)] for one in places)]
        for start, end, person in zip(starts, ends, people, strict=True):
            if person:
                self._speak_of(person)
                if thirtieth := _THIRTIETH.match(sentence[start:end]):
                    turns = "turned" if _DID.search(sentence) else "is turning"
                    yield PersonStatement(
                        f"{person.full} {turns} {thirtieth['age']}", f"{fold(person.name)} age", (), person.name
                    )
            if end > start:
                yield from self._attributes(sentence[start:end], person, after, asks=asks, continues=not start)
        for one, _new in here:
            if one.listed or not one.end:
                self._speak_of(self.people.known[fold(one.name)])

    def _attributes(
        self, part: str, person: Person | None, after: Sequence[str], *, asks: bool, continues: bool
    ) -> Iterator[PersonStatement]:
        """Yield the statements of a part of a sentence; `person` is whom the words before it introduce."""
        own, is_first = person, True
        for text in _clauses(part, self.people.known):
            yield from self._naming(text)
            if continues and is_first and _THIRD_FIRST.match(text):
                own = own or self.subject
            self.looks_back = continues and is_first
            one, rest, is_named = self._subject(text, own)
            self._mention(text)
            own = person if one is person else None
            if one and not is_named and one is not person:
                self._sexed(one, text)
            if one and one.who and not asks and (one.name or self._is_certain(one, text)):
                yield from self._told(one, rest, after, bare=is_first or is_named)
                self._of_theirs(one, text)
                self.subject = one
            is_first = False
            for spoken in filter(None, (one, self.theirs)):
                self._speak_of(spoken)
            self.theirs = None

    def _naming(self, text: str) -> Iterator[PersonStatement]:
        """Yield the name of somebody mentioned without one before: “her name is Loretta”."""
        found = _NAME_IS.match(text)
        name = as_name(found["name"], sure=True) if found else ""
        if not found or not name or fold(name) in self.people.known:
            return
        word = (found["whose"] or found["who"] or "").lower()
        pronoun = {"her": "she", "his": "he", "she": "she", "he": "he"}.get(word, "")
        one = self.meant(pronoun) if pronoun else next(reversed(self.spoken), None) if not word else None
        if one and one.who and not one.name:
            one.name = name
            self.people.known[fold(name)] = one
            source = (one.source,) if one.source != self.line.id else ()
            yield PersonStatement(f"my {one.who} is called {name}", f"{one.who} name", source, name)

    def answered(self, parts: Sequence[str], question: str) -> Iterator[PersonStatement]:
        """Yield the name of the person mentioned last if the other speaker asks for it and the answer is a name alone."""
        one = self.before[-1] if self.before else None
        pet = _PET.search(question)
        if _OF_YOU.search(question) or (one and pet and not one.who.endswith(plain_role(pet[0].lower()))):
            return
        if one and not _may_mean(question, one):
            return
        bare = re.fullmatch(rf"(?P<name>{NAME})[.!]*", parts[0]) if parts and _ASKS_NAME.search(question) else None
        name = as_name(bare["name"], sure=True) if bare else ""
        if one and one.who and not one.name and name and fold(name) not in self.people.known:
            one.name = name
            self.people.known[fold(name)] = one
            self._speak_of(one)
            source = (one.source,) if one.source != self.line.id else ()
            yield PersonStatement(f"my {one.who} is called {name}", f"{one.who} name", source, name)

    def _of_theirs(self, one: Person, text: str) -> None:
        """Register Rohan of “she is marrying a guy called Rohan” as her partner, who may be mentioned next."""
        found = _WITH.search(text)
        if found and (name := as_name(found["name"], sure=True)):
            self.people.learn(name, f"{one.full.removeprefix('my ')}'s partner", self.line.id)
            self.theirs = self.people.known[fold(name)]

    def _told(self, one: Person, rest: str, after: Sequence[str], *, bare: bool) -> Iterator[PersonStatement]:
        told = told_of(rest, bare=bare)
        if not told:
            return
        if _DIED.search(told):
            when = next((found for text in after if (found := _WHEN.match(text))), None)
            told += f" {when['when']}{' of ' + when['of'] if when['of'] else ''}" if when else ""
        source = (one.source,) if one.source != self.line.id else ()
        yield PersonStatement(f"{one.full} {told}", "", source, one.name)

    def _subject(self, text: str, own: Person | None) -> tuple[Person | None, str, bool]:
        """Return the subject of a clause, its predicate, and whether the clause names the subject."""
        found = _BEGINS.match(text)
        if found and (found["pronoun"] or found[0].lower().startswith("who")):
            short = found["is"] or found["who_is"] or ""
            rest = f"{short} {found['rest'] or ''}".strip()
            if found["pronoun"]:
                return self.meant(found["pronoun"].lower()), rest, False
            return own, rest, False
        if found and found["name"]:
            for name, short in ((found["name"] + (found["s"] or ""), ""), (found["name"], found["s"])):
                one = self.people.known.get(fold(name))
                if one and (not short or _is_short(short, found["rest"] or "")):
                    return one, f"{chr(39) + 's ' if short else ''}{found['rest'] or ''}", True
        return own, text, False

    def meant(self, pronoun: str) -> Person | None:
        """Return the referent of the pronoun in this message or, if `looks_back`, in `before`; None if it is ambiguous or
        unknown.

        Of several candidates the last mentioned one is accepted if it alone has a definite gender, or, in this message, if
        none has.
        """
        for spoken in (self.spoken, self.before if self.looks_back else []):
            fitting = list({id(one): one for one in spoken if not one.who or pronoun in pronouns_of(one)}.values())
            if len(fitting) == 1:
                return fitting[0]
            if fitting:
                clear = [one for one in fitting if one.who and len(pronouns_of(one)) == 1]
                last = spoken[-1]
                if clear:
                    return last if clear == [last] else None
                return last if spoken is self.spoken and last in fitting and last.who else None
        return None

    def _is_certain(self, one: Person, text: str) -> bool:
        """Return whether a person without a name is unambiguous: “my mum”, or the only one of the message before."""
        if re.match(r"(?:\w+ )?(?:my|our)\b", text, re.IGNORECASE):
            return True
        return (
            not self.is_theirs
            and [one] == self.before
            and not re.search(r"^(?:he|she)(?:'s| is| was) an? ", text, re.IGNORECASE)
        )

    def _sexed(self, one: Person, text: str) -> None:
        """Change “child” to “son” or “daughter” by the pronoun that refers to them."""
        pronoun = re.match(r"(?:\w+ )?(he|she)\b", text, re.IGNORECASE)
        if pronoun and one.who.endswith("child") and one.name:
            sex = {"he": "son", "she": "daughter"}[pronoun[1].lower()]
            one.who = re.sub(r"child\Z", sex, one.who)

    def _speak_of(self, one: Person) -> None:
        if one in self.spoken:
            self.spoken.remove(one)
        self.spoken.append(one)

    def _mention(self, text: str) -> None:
        """Register further people a clause mentions, to whom a later pronoun may refer."""
        for one in self.people.known_in(text):
            if one not in self.spoken:
                self.spoken.append(one)
        for pattern in (UNNAMED, _AN_UNNAMED):
            for found in pattern.finditer(text):
                who = plain_role(found["who"])
                if not any(one.who.endswith(who) for one in self.spoken):
                    named = [one for one in self.people.known.values() if one.who == who]
                    self.spoken.append(named[0] if len({id(one) for one in named}) == 1 else Person("", who, self.line.id))
        self._mention_others(text)
        if _STRANGER.search(text) and not re.search(r"(?:'s|is|was) an? ", text):
            self.spoken.append(Person("", "", self.line.id))

    def _mention_others(self, text: str) -> None:
        """Register people without a known relation to the speaker, who make a later pronoun ambiguous."""
        for titled in _TITLED.finditer(text):
            if fold(titled[0]) not in self.people.known:
                self.spoken.append(Person("", "", self.line.id))
        first = _BEGINS_WITH.match(text)
        if first and as_name(first["name"]) and fold(first["name"]) not in self.people.known:
            self.spoken.append(Person("", "", self.line.id))
        for other in _SOMEBODYS.finditer(text):
            if not any(one.who.endswith(plain_role(other["who"].lower())) for one in self.spoken):
                self.spoken.append(Person("", "", self.line.id))


def _is_same_animal(who: str, other: str) -> bool:
    """Return whether two words such as “puppy” and “dog” can name the same animal."""
    grown = {"puppy": "dog", "pup": "dog", "kitten": "cat"}
    return bool(_PET.fullmatch(who)) and grown.get(who, who) == grown.get(other, other)


def _is_short(short: str, rest: str) -> bool:
    """Return whether “jaylens 9” is short for “Jaylen is 9”, unlike “jaylens bike”."""
    return bool(
        re.match(
            r"(?:\d|an?\b|the\b|in\b|from\b|at\b|out\b|not\b|got\b|been\b|on\b|called\b|turning\b|getting\b|married\b|"
            r"pregnant\b|single\b|"
            r"allergic\b|moving\b|living\b|working\b|studying\b|expecting\b|dead\b|retired\b|nearly\b|only\b|just\b|"
            r"about\b|due\b)",
            rest,
        )
    )


def _clauses(text: str, known: dict[str, Person]) -> Iterator[str]:
    """Split before every new subject that is a known person or a pronoun."""
    start = 0
    for found in _CUT.finditer(text):
        before = text[start : found.start()].strip()
        if found["run"] is not None and (not before or _SAYING.search(before) or _TELLING.search(before)):
            continue
        if found["name"] and fold(found["name"]) not in known and fold(found["name"].removesuffix("s")) not in known:
            continue
        if before:
            yield before
        start = found.end()
    if piece := text[start:].strip(" .!"):
        yield piece


def _may_mean(question: str, one: Person) -> bool:
    """Return whether a question for a name, such as “What's its name?”, can be about the person."""
    if _ITS.search(question) and not _PET.search(one.who):
        return False
    whose = _WHOSE.search(question)
    return whose is None or ("she" if whose["she"] else "he") in pronouns_of(one)
