"""Statements of one message about the speaker's people and pets, identified by name or by an unambiguous pronoun."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lethe_app.brain.people import named_people
from lethe_app.brain.people.acquaintances import Acquaintances, Person, PersonStatement, pronouns_of
from lethe_app.brain.people.introductions import asks_to_remember
from lethe_app.brain.people.kin_clauses import extract_predicate, is_contraction, split_clauses
from lethe_app.brain.people.named_people import NamedPerson
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.kin_words import NAME, PERSON_PHRASE, PETS, ROLES, parse_name, standardize_role
from lethe_app.retrieval.query_terms import fold

OWN_RELATION = re.compile(rf"\b(?:my|our) (?P<who>{PERSON_PHRASE})\b(?!'s \w)", re.IGNORECASE)
_UNREAL = re.compile(
    r"(?:if|imagine|suppose|let's say|what if|pretend|once upon)\b|.*\b(?:in (?:my|the|a) (?:book|novel|story|game|film|"
    r"movie|"
    r"show|dream|series)|character|as if|jk)\b",
    re.IGNORECASE,
)
_UNIQUE_RELATION = re.compile(r"(?:mother|father|wife|husband|partner|girlfriend|boyfriend|boss)\Z")
_STRANGER = re.compile(
    r"\b(?:an?|some|this|that|the|another) (?:[\w-]+ )?(?:guy|man|woman|lady|bloke|customer|patient|client|stranger|"
    r"someone|doctor|"
    r"nurse|teacher|fella|girl|boy|kid|dude|lad|lass|judge|driver|waiter|actor|singer|player|character|boat|ship|car|"
    r"horse)\b|\b(?:someone|"
    r"somebody|a customer)\b",
    re.IGNORECASE,
)
_TITLED = re.compile(r"\b(?:mr|mrs|ms|miss|dr|prof|professor)\.? (?!and\b)[a-z][\w'-]+", re.IGNORECASE)
_RELATION_OF_OTHERS = re.compile(rf"\b(?:her|his|their|another|an?) (?:(?!old\b)[\w-]+ )?(?P<who>{ROLES})\b", re.IGNORECASE)
"""Person or pet of somebody else, to whom “he” may refer: “she left me her budgie”."""
_LEADING_NAME = re.compile(r"(?P<name>[A-Z][a-z]{2,})(?=$|[.,]| (?:is|was|from|has|had|did|[a-z]{2,}(?:s|ed))\b)")
"""Sentence that begins with a name: “Yuki, from Sapporo”."""
_UNNAMED_RELATION = re.compile(rf"\b(?:I have|I've got|I got|got) an? (?P<who>{PERSON_PHRASE})\b", re.IGNORECASE)
_CLAUSE_SUBJECT = re.compile(
    rf"^(?:(?:and|but|so|yes|yeah|nah|no|well|oh|also|though|anyway|haha|lol|since|when|because|poor|little|big|my|our|"
    rf"the) )*"
    rf"(?:(?P<pronoun>he|she)(?P<is>'s|'d|'ll)?|who(?P<who_is>'s)?|(?:my |"
    rf"our )?(?:{ROLES} )?(?P<name>[^\W\d_][\w-]*?)(?P<s>'s|s)?)(?= (?P<rest>.+)|$)",
    re.IGNORECASE,
)
_PLURAL_RELATION = re.compile(
    r"\b(?:my|our|the|two|three|four|five|2|3|4|5) (?P<who>kids|children|boys|girls|sons|daughters|brothers|sisters|dogs|"
    r"cats|"
    r"grandkids|grandchildren|nephews|nieces|pets)\b",
    re.IGNORECASE,
)
_LEADING_TIME = re.compile(
    r"^(?P<when>(?:(?:about |nearly |almost )?(?:\w+|a few|a couple of) (?:years?|months?|weeks?|days?) ago|last \w+|"
    r"in (?:\d{4}|[a-z]+)|"
    r"this \w+|on (?:the )?\d\w*(?: of)? \w+|yesterday)(?: (?:in|on) \w+)?)\b(?:,? (?:of |from )?(?P<of>cancer|a stroke|"
    r"a heart "
    r"attack|covid|old age|pneumonia|heart failure|dementia))?",
    re.IGNORECASE,
)
_CONTINUING_WORD = re.compile(r"\b(?:with|by|to|for|from|of|at|and|is|and) $")
_ORDINAL_BIRTHDAY = re.compile(r"^'s (?P<age>\d{1,3})(?:st|nd|rd|th)\b(?! (?:floor|street|grade|time|place))")
_PAST_WORD = re.compile(r"\b(?:last|was|were|went|did|had|made|baked|yesterday|ago)\b", re.IGNORECASE)
_ASKS_OWN_NAME = re.compile(r"\byour name\b|\b(?:call|are) you\b", re.IGNORECASE)
_ANIMAL_PRONOUN = re.compile(r"\bit(?:s|'s)?\b", re.IGNORECASE)
_GENDERED_PRONOUN = re.compile(r"\b(?P<she>her|she)\b|\b(?P<he>his|him|he)\b", re.IGNORECASE)
_PET = re.compile(rf"\b(?:{PETS}|pooch|doggo|pup|kitty|moggy)\b", re.IGNORECASE)
_ASKS_NAME = re.compile(r"\b(?:name|called)\b.*\?|\bwho\b.*\?", re.IGNORECASE)
_DIED = re.compile(r"(?:died|passed away|passed)\Z")
_NAME_STATEMENT = re.compile(
    rf"^(?:(?:and|oh|so|but) )?(?:(?P<whose>her|his|its|their)(?: full| real)? name(?:'s| is| was)|(?:(?P<who>he|she|"
    rf"it)(?:'s| is) )?(?:called|named|name of)) "
    rf"(?P<name>{NAME})(?=$|\W)",
    re.IGNORECASE,
)
_PARTNER_OF_RELATION = re.compile(
    rf"\b(?:marrying|married|married to|seeing|dating|engaged to|lives? with|living with) (?:(?:an?|her|his) (?:guy|girl|"
    rf"man|woman|lad|lass|bloke|fella) "
    rf"(?:called|named) )(?P<name>{NAME})(?=$|\W)",
    re.IGNORECASE,
)
_LEADING_THIRD_PERSON_VERB = re.compile(
    r"(?:works|lives|plays|studies|teaches|runs|owns|sings|drives|loves|hates|likes|speaks|makes|has|collects|paints|"
    r"writes|bakes|used to|was born|moved)\b"
)


@dataclass
class MessageReading:
    """State while one message is read: the people it mentions, in the order of their mention."""

    people: Acquaintances
    line: Utterance
    earlier_people: list[Person]
    is_reference_ambiguous: bool = False
    """True if the other speaker has mentioned their own people, to whom “she” may refer."""
    mentioned_people: list[Person] = field(default_factory=list)
    subject: Person | None = None
    """Subject of the previous clause."""
    can_look_back: bool = True
    """True if a pronoun may refer to somebody of the message before, because it begins its sentence."""
    new_partner: Person | None = None
    """Somebody's partner who is named in the clause."""

    def register_introductions(self, parts: Sequence[str], question: str) -> dict[int, list[tuple[NamedPerson, bool]]]:
        """Return whom each sentence introduces, by its index, with whether they are new. All of them are registered."""
        introductions: dict[int, list[tuple[NamedPerson, bool]]] = {}
        for index, sentence in enumerate(parts):
            if _UNREAL.match(sentence) or asks_to_remember(sentence):
                continue
            if plural := _PLURAL_RELATION.search(sentence):
                self.people.plural_group = plural["who"].lower()
            next_sentence = parts[index + 1] if index + 1 < len(parts) else ""
            named = list(named_people.find_named(sentence, plural_group=self.people.plural_group))
            named += [NamedPerson(name, who, 0, 0) for name, who in named_people.find_partners(sentence)]
            named += filter(None, [named_people.find_name_before_relation(sentence, next_sentence)] if next_sentence else [])
            named += filter(None, [named_people.find_name_in_answer(question, sentence)] if index < 2 else [])
            named += filter(None, [named_people.find_named_pet(" ".join(parts))] if index == 0 else [])
            introductions.setdefault(index, []).extend(self._register_named(named))
            if next_sentence and (named_person := named_people.find_name_after_relation(sentence, next_sentence)):
                introductions.setdefault(index + 1, []).extend(self._register_named([named_person]))
        return introductions

    def _register_named(self, candidates: Sequence[NamedPerson]) -> Iterator[tuple[NamedPerson, bool]]:
        registered: list[NamedPerson] = []
        for candidate in candidates:
            if any(
                fold(candidate.name.split()[-1]) == fold(registered_person.name.split()[-1]) for registered_person in registered
            ) or fold(candidate.name) == fold(self.line.name):
                continue
            owner, _, role = candidate.relation.rpartition("|")
            relation = role
            if owner:
                owner_person = self._find_owner(owner)
                if not owner_person:
                    continue
                relation = f"{owner_person.designation.removeprefix('my ')}'s {role}"
            relation = self._replace_pet_name(candidate, relation)
            registered.append(candidate)
            is_new = fold(candidate.name) not in self.people.people_by_name
            person = self.people.add_person(candidate.name, relation, self.line.id)
            if not candidate.group:
                # Later mentions may use the first name alone.
                self.people.people_by_name.setdefault(fold(candidate.name.split()[0]), person)
            yield candidate, is_new

    def _replace_pet_name(self, named_person: NamedPerson, relation: str) -> str:
        """Return the relation of the name. If the speaker has one pet of this kind under another name, that name is removed."""
        pets = [
            pet
            for pet in self.people.people_by_name.values()
            if named_person.is_known and _is_same_animal(pet.relation, relation)
        ]
        if len(pets) != 1 or fold(pets[0].name) == fold(named_person.name):
            return relation
        del self.people.people_by_name[next(key for key, pet in self.people.people_by_name.items() if pet is pets[0])]
        return pets[0].relation

    def _find_owner(self, owner: str) -> Person | None:
        if owner.lower() in {"her", "his"}:
            return self.resolve_pronoun("she" if owner.lower() == "her" else "he")
        return self.people.people_by_name.get(fold(owner.rsplit(maxsplit=1)[-1]))

    def build_name_statements(self, introductions: dict[int, list[tuple[NamedPerson, bool]]]) -> Iterator[PersonStatement]:
        """Yield the names of new people. With two sons neither name replaces the other."""
        new = [one for each in introductions.values() for one, is_new in each if is_new]
        if listed := [one for one in new if one.group]:
            names = [one.name for one in listed]
            joined_names = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
            count, _, group = listed[0].group.rpartition(" ")
            yield PersonStatement(
                f"I have {count} {group} called {joined_names}" if count else f"my {group} are called {joined_names}",
                f"{group} name",
                (),
                *names,
            )
        for one in new:
            person = self.people.people_by_name[fold(one.name)]
            if not one.group:
                yield self._build_name_statement(one, person)
            if one.age:
                yield PersonStatement(f"{person.designation} is {one.age}", f"{fold(person.name)} age", (), person.name)

    def _build_name_statement(self, named_person: NamedPerson, person: Person) -> PersonStatement:
        relation, name = person.relation, person.name
        same_relation = [
            other for other in self.people.people_by_name.values() if other.relation == relation and other.name != name
        ]
        if relation == "ex":
            return PersonStatement(f"{name} is my ex", "", (), name)
        if named_person.breed:
            article = "an" if named_person.breed[0] in "aeiou" else "a"
            return PersonStatement(
                f"my {relation} is {article} {named_person.breed} called {name}",
                "" if same_relation else f"{relation} name",
                (),
                name,
            )
        if same_relation and not _UNIQUE_RELATION.search(relation) and "'s " not in relation:
            return PersonStatement(f"I have {'an' if relation[0] in 'aeiou' else 'a'} {relation} called {name}", "", (), name)
        owner, _, role = relation.rpartition("'s ")
        key = f"{owner.split()[-1].lower()} {role} name" if owner else f"{relation} name"
        return PersonStatement(f"my {relation} is called {name}", key, (), name)

    def find_attributes(
        self, sentence: str, introductions: Sequence[tuple[NamedPerson, bool]], next_sentences: Sequence[str]
    ) -> Iterator[PersonStatement]:
        """Yield the statements of a sentence about those it names or refers to."""
        is_question = sentence.endswith("?") or asks_to_remember(sentence) or bool(_UNREAL.match(sentence))
        introduced_here = sorted(
            (
                one
                for one, _new in introductions
                if one.end and not one.group and not ("|" in one.relation and _CONTINUING_WORD.search(sentence[: one.start]))
            ),
            key=lambda one: one.start,
        )
        # Each part of the sentence, up to the next introduction, is about the person introduced before it.
        starts = [0, *(one.end for one in introduced_here)]
        ends = [*(one.start for one in introduced_here), len(sentence)]
        people = [None, *(self.people.people_by_name[fold(one.name)] for one in introduced_here)]
        for start, end, person in zip(starts, ends, people, strict=True):
            if person:
                self._move_to_last_mentioned(person)
                if birthday_match := _ORDINAL_BIRTHDAY.match(sentence[start:end]):
                    verb_phrase = "turned" if _PAST_WORD.search(sentence) else "is turning"
                    yield PersonStatement(
                        f"{person.designation} {verb_phrase} {birthday_match['age']}",
                        f"{fold(person.name)} age",
                        (),
                        person.name,
                    )
            if end > start:
                yield from self._find_part_attributes(
                    sentence[start:end], person, next_sentences, is_question=is_question, is_sentence_start=not start
                )
        for one, _new in introductions:
            if one.group or not one.end:
                self._move_to_last_mentioned(self.people.people_by_name[fold(one.name)])

    def _find_part_attributes(
        self, part: str, person: Person | None, next_sentences: Sequence[str], *, is_question: bool, is_sentence_start: bool
    ) -> Iterator[PersonStatement]:
        """Yield the statements of a part of a sentence; `person` is whom the words before it introduce."""
        preceding_person, is_first = person, True
        for text in split_clauses(part, self.people.people_by_name):
            yield from self._find_naming(text)
            if is_sentence_start and is_first and _LEADING_THIRD_PERSON_VERB.match(text):
                preceding_person = preceding_person or self.subject
            self.can_look_back = is_sentence_start and is_first
            subject, predicate, is_named = self._find_subject(text, preceding_person)
            self._register_mentioned(text)
            preceding_person = person if subject is person else None
            if subject and not is_named and subject is not person:
                self._refine_child_relation(subject, text)
            if subject and subject.relation and not is_question and (subject.name or self._is_unambiguous(subject, text)):
                yield from self._build_predicate_statement(
                    subject, predicate, next_sentences, is_verb_optional=is_first or is_named
                )
                self._register_partner(subject, text)
                self.subject = subject
            is_first = False
            for mentioned_person in filter(None, (subject, self.new_partner)):
                self._move_to_last_mentioned(mentioned_person)
            self.new_partner = None

    def _find_naming(self, text: str) -> Iterator[PersonStatement]:
        """Yield the name of somebody mentioned without one before: “her name is Loretta”."""
        match = _NAME_STATEMENT.match(text)
        name = parse_name(match["name"], is_certain=True) if match else ""
        if not match or not name or fold(name) in self.people.people_by_name:
            return
        word = (match["whose"] or match["who"] or "").lower()
        pronoun = {"her": "she", "his": "he", "she": "she", "he": "he"}.get(word, "")
        person = self.resolve_pronoun(pronoun) if pronoun else next(reversed(self.mentioned_people), None) if not word else None
        if person and person.relation and not person.name:
            person.name = name
            self.people.people_by_name[fold(name)] = person
            source = (person.message_id,) if person.message_id != self.line.id else ()
            yield PersonStatement(f"my {person.relation} is called {name}", f"{person.relation} name", source, name)

    def find_answered_name(self, parts: Sequence[str], question: str) -> Iterator[PersonStatement]:
        """Yield the name of the person mentioned last if the other speaker asks for it and the answer is a name alone."""
        person = self.earlier_people[-1] if self.earlier_people else None
        pet = _PET.search(question)
        if _ASKS_OWN_NAME.search(question) or (
            person and pet and not person.relation.endswith(standardize_role(pet[0].lower()))
        ):
            return
        if person and not _can_refer_to(question, person):
            return
        name_match = re.fullmatch(rf"(?P<name>{NAME})[.!]*", parts[0]) if parts and _ASKS_NAME.search(question) else None
        name = parse_name(name_match["name"], is_certain=True) if name_match else ""
        if person and person.relation and not person.name and name and fold(name) not in self.people.people_by_name:
            person.name = name
            self.people.people_by_name[fold(name)] = person
            self._move_to_last_mentioned(person)
            source = (person.message_id,) if person.message_id != self.line.id else ()
            yield PersonStatement(f"my {person.relation} is called {name}", f"{person.relation} name", source, name)

    def _register_partner(self, person: Person, text: str) -> None:
        """Register Rohan of “she is marrying a guy called Rohan” as her partner, who may be mentioned next."""
        match = _PARTNER_OF_RELATION.search(text)
        if match and (name := parse_name(match["name"], is_certain=True)):
            self.people.add_person(name, f"{person.designation.removeprefix('my ')}'s partner", self.line.id)
            self.new_partner = self.people.people_by_name[fold(name)]

    def _build_predicate_statement(
        self, person: Person, clause_rest: str, next_sentences: Sequence[str], *, is_verb_optional: bool
    ) -> Iterator[PersonStatement]:
        predicate = extract_predicate(clause_rest, is_verb_optional=is_verb_optional)
        if not predicate:
            return
        if _DIED.search(predicate):
            time_match = next((match for text in next_sentences if (match := _LEADING_TIME.match(text))), None)
            predicate += f" {time_match['when']}{' of ' + time_match['of'] if time_match['of'] else ''}" if time_match else ""
        source = (person.message_id,) if person.message_id != self.line.id else ()
        yield PersonStatement(f"{person.designation} {predicate}", "", source, person.name)

    def _find_subject(self, text: str, preceding_person: Person | None) -> tuple[Person | None, str, bool]:
        """Return the subject of a clause, its predicate, and whether the clause names the subject."""
        match = _CLAUSE_SUBJECT.match(text)
        if match and (match["pronoun"] or match[0].lower().startswith("who")):
            contraction = match["is"] or match["who_is"] or ""
            rest = f"{contraction} {match['rest'] or ''}".strip()
            if match["pronoun"]:
                return self.resolve_pronoun(match["pronoun"].lower()), rest, False
            return preceding_person, rest, False
        if match and match["name"]:
            for name, contraction in ((match["name"] + (match["s"] or ""), ""), (match["name"], match["s"])):
                person = self.people.people_by_name.get(fold(name))
                if person and (not contraction or is_contraction(contraction, match["rest"] or "")):
                    return person, f"{chr(39) + 's ' if contraction else ''}{match['rest'] or ''}", True
        return preceding_person, text, False

    def resolve_pronoun(self, pronoun: str) -> Person | None:
        """Return the referent of the pronoun in this message or, if `can_look_back`, in the one before; None if it is ambiguous
        or unknown.

        Of several candidates the last mentioned one is accepted if it alone has a definite gender, or, in this message,
        if none has.
        """
        for people in (self.mentioned_people, self.earlier_people if self.can_look_back else []):
            matching = list({id(one): one for one in people if not one.relation or pronoun in pronouns_of(one)}.values())
            if len(matching) == 1:
                return matching[0]
            if matching:
                unambiguous = [one for one in matching if one.relation and len(pronouns_of(one)) == 1]
                last = people[-1]
                if unambiguous:
                    return last if unambiguous == [last] else None
                return last if people is self.mentioned_people and last in matching and last.relation else None
        return None

    def _is_unambiguous(self, person: Person, text: str) -> bool:
        """Return whether a person without a name is unambiguous: “my mum”, or the only one of the message before."""
        if re.match(r"(?:\w+ )?(?:my|our)\b", text, re.IGNORECASE):
            return True
        return (
            not self.is_reference_ambiguous
            and [person] == self.earlier_people
            and not re.search(r"^(?:he|she)(?:'s| is| was) an? ", text, re.IGNORECASE)
        )

    def _refine_child_relation(self, person: Person, text: str) -> None:
        """Change “child” to “son” or “daughter” by the pronoun that refers to them."""
        pronoun = re.match(r"(?:\w+ )?(he|she)\b", text, re.IGNORECASE)
        if pronoun and person.relation.endswith("child") and person.name:
            child_relation = {"he": "son", "she": "daughter"}[pronoun[1].lower()]
            person.relation = re.sub(r"child\Z", child_relation, person.relation)

    def _move_to_last_mentioned(self, person: Person) -> None:
        if person in self.mentioned_people:
            self.mentioned_people.remove(person)
        self.mentioned_people.append(person)

    def _register_mentioned(self, text: str) -> None:
        """Register further people a clause mentions, to whom a later pronoun may refer."""
        for one in self.people.find_people(text):
            if one not in self.mentioned_people:
                self.mentioned_people.append(one)
        for pattern in (OWN_RELATION, _UNNAMED_RELATION):
            for match in pattern.finditer(text):
                relation = standardize_role(match["who"])
                if not any(one.relation.endswith(relation) for one in self.mentioned_people):
                    namesakes = [one for one in self.people.people_by_name.values() if one.relation == relation]
                    self.mentioned_people.append(
                        namesakes[0] if len({id(one) for one in namesakes}) == 1 else Person("", relation, self.line.id)
                    )
        self._register_strangers(text)
        if _STRANGER.search(text) and not re.search(r"(?:'s|is|was) an? ", text):
            self.mentioned_people.append(Person("", "", self.line.id))

    def _register_strangers(self, text: str) -> None:
        """Register people without a known relation to the speaker, who make a later pronoun ambiguous."""
        for title_match in _TITLED.finditer(text):
            if fold(title_match[0]) not in self.people.people_by_name:
                self.mentioned_people.append(Person("", "", self.line.id))
        first_name = _LEADING_NAME.match(text)
        if first_name and parse_name(first_name["name"]) and fold(first_name["name"]) not in self.people.people_by_name:
            self.mentioned_people.append(Person("", "", self.line.id))
        for relation_match in _RELATION_OF_OTHERS.finditer(text):
            if not any(
                person.relation.endswith(standardize_role(relation_match["who"].lower())) for person in self.mentioned_people
            ):
                self.mentioned_people.append(Person("", "", self.line.id))


def _is_same_animal(kind: str, other_kind: str) -> bool:
    """Return whether two words such as “puppy” and “dog” can name the same animal."""
    adult_kinds = {"puppy": "dog", "pup": "dog", "kitten": "cat"}
    return bool(_PET.fullmatch(kind)) and adult_kinds.get(kind, kind) == adult_kinds.get(other_kind, other_kind)


def _can_refer_to(question: str, person: Person) -> bool:
    """Return whether a question for a name, such as “What's its name?”, can be about the person."""
    if _ANIMAL_PRONOUN.search(question) and not _PET.search(person.relation):
        return False
    pronoun = _GENDERED_PRONOUN.search(question)
    return pronoun is None or ("she" if pronoun["she"] else "he") in pronouns_of(person)
