"""Relatives, friends and pets of one speaker: their names, and to whom “she” or a name refers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from lethe_app.brain.vocabulary.kin_words import is_own_relation, parse_name, possible_pronouns, standardize_role
from lethe_app.brain.vocabulary.verbs import BASE_VERBS, is_past
from lethe_app.language_tables import table_pattern, word_class
from lethe_app.searchable_text import fold, split_words

PRONOUN_RANGE = 4
"""Messages back to the speaker's last one in which somebody may be mentioned to whom a pronoun refers."""
_OWN = re.compile(
    rf"\b(?:my|our|(?:I|we)(?:'ve| have)?(?: got| have| had| adopted| bought)? an?) (?P<who>{word_class('PERSON_PHRASE')})\b"
    rf"(?! (?:{word_class('PERSON_PHRASE')})\b)",
    re.IGNORECASE,
)
_YOUR = re.compile(rf"\byour (?P<who>{word_class('PERSON_PHRASE')})\b", re.IGNORECASE)
_NAME_AFTER = re.compile(
    rf"(?:\b(?P<my>my|our) |\b(?P<a>an?) |^(?:(?:and|yes|yeah|just|only) )?)(?P<who>{word_class('PERSON_PHRASE')})"
    r"(?P<sure>(?:'s| is| was)? (?:called|named)|(?:'s)? name(?:'s| is))?"
    rf",? (?P<name>{word_class('NAME')})(?P<after>'s\b|\W|$)(?P<next> ?[\w']*)",
    re.IGNORECASE,
)
_NAME_BEFORE = re.compile(
    rf"(?:^|[,;] |\b(?:and|with|by|to|for) )(?P<name>{word_class('NAME')})(?: will| would| does| did| can| has)?"
    r"(?P<joint>,? (?:that's|this is|she's|he's|is|was)|'s|,) (?:my|our|the)"
    rf" (?P<who>{word_class('PERSON_PHRASE')})(?=$|\W)(?!'s)",
    re.IGNORECASE,
)
_NAMING = re.compile(
    rf"^(?:(?:and|oh|so|but) )?(?:(?P<whose>her|his|its)(?: \w+)? name(?:'s| is| was)|(?P<who>he|she|it)(?:'s| is| was) "
    rf"(?:called|named)) (?P<name>{word_class('NAME')})(?=$|\W)",
    re.IGNORECASE,
)
_ASKS_NAME = re.compile(r"\b(?P<whose>his|her|its|their|your)\b.*\bname|\bcalled\b|\bwho\b", re.IGNORECASE)
_LONE_NAME = re.compile(rf"\W*(?:(?:it's|she's|he's|called) )?(?P<name>{word_class('NAME')})[.! ]*\Z", re.IGNORECASE)
_SUBJECT = re.compile(r"^(?:and |but )?(?P<who>he|she)(?P<short>'s)?\b(?! (?:and|or)\b)", re.IGNORECASE)
_NAMED_SUBJECT = re.compile(r"^(?:and |but )?(?P<name>[^\W\d_][\w-]+)(?P<short>'s)?(?= (?P<next>\S+))")
_RELATION_ALONE = re.compile(rf"(?:(?:my|our|the|an?) )?(?P<who>{word_class('PERSON_PHRASE')})[.!]*\Z", re.IGNORECASE)
_HEADED_NAME = re.compile(rf"(?P<name>{word_class('NAME')}(?: [^\W\d_]+)?)(?=,|[.!]*\Z)", re.IGNORECASE)
_OBJECT = re.compile(r"(?<=\w )(?P<who>him|her)(?= (?:every|each|once|twice|on|at|most|for|since|a lot)\b|$)", re.IGNORECASE)
_PERFECT = re.compile(r" (?:been|got|had|never|always|lived|worked)\b")
_PLURAL = re.compile(r"(?:s|children|kids|mice|geese|sheep|family)\Z(?<!boss)(?<!goldfish)", re.IGNORECASE)
_UNIQUE = re.compile(r"(?:mother|father|wife|husband|partner|girlfriend|boyfriend|boss)\Z")
_PRONOUN = re.compile(r"\b(?:(?:he|she)\b(?!['’])|him\b|her(?= *(?:[?,.]|$)))", re.IGNORECASE)
_CAPITALIZED = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w-]+")
_PRONOUNS = {"he": "he", "him": "he", "his": "he", "she": "she", "her": "she"}


@dataclass(frozen=True)
class Person:
    """Somebody mentioned. `relation` is that to the speaker (“older sister”); empty for a stranger."""

    relation: str
    message_id: UUID
    name: str = ""

    @property
    def designation(self) -> str:
        """Designation by the speaker, such as “my older sister Ana”."""
        return f"my {self.relation} {self.name}".strip()

    def can_be(self, pronoun: str) -> bool:
        """Return whether the pronoun can refer to the person."""
        return not self.relation or pronoun in possible_pronouns(self.relation)


@dataclass(frozen=True)
class NameStatement:
    """What a relative or pet is called, as a first-person clause with its attribute key."""

    clause: str
    key: str
    name: str
    relation: str
    sources: tuple[UUID, ...] = ()


@dataclass
class KnownPeople:
    """People one speaker has mentioned, kept from message to message."""

    by_name: dict[str, Person] = field(default_factory=dict)
    """People by their folded names."""
    mentioned: list[Person] = field(default_factory=list)
    """People of the current message, the last one at the end."""
    earlier: list[Person] = field(default_factory=list)
    """People of the messages just before it."""
    last_index: int = -PRONOUN_RANGE - 1
    heading: str = ""
    """Relation of which the sentence before consists: “Best friend. Ger, we drive together.”"""

    def begin_message(self, index: int, others: Sequence[tuple[str, UUID]]) -> None:
        """Begin to read the message at an index. `others` are the texts of the other speakers since the speaker's last one."""
        self.earlier = self.mentioned if index - self.last_index <= PRONOUN_RANGE else []
        self.mentioned, self.last_index = [], index
        for text, message_id in others:
            self.earlier += self._find_mentions(text, message_id, _YOUR)
            self.earlier += [Person("", message_id)] if _OWN.search(text) else []  # whom the other speaker may mean

    def find_names(self, sentence: str, message_id: UUID, question: str, own_name: str) -> Iterator[NameStatement]:
        """Yield the names a sentence tells. A sentence that is a name alone may answer the `question` before it."""
        naming = _NAMING.match(sentence)
        if naming and (person := self._referent(_PRONOUNS.get((naming["whose"] or naming["who"]).lower(), ""))):
            yield from self._learn_name(person, parse_name(naming["name"], is_certain=True), message_id, own_name)
        elif question and (lone := _LONE_NAME.match(sentence)) and (asked := _ASKS_NAME.search(question)):
            named = _YOUR.search(question)
            pronoun = _PRONOUNS.get((asked["whose"] or "").lower(), "")
            person = Person(standardize_role(named["who"]), message_id) if named else self._last_mentioned(pronoun)
            if person and (named or not re.search(r"\byour? ", question)):
                yield from self._learn_name(person, parse_name(lone["name"], is_certain=True), message_id, own_name)
        if (heading := self.heading) and (lone := _HEADED_NAME.match(sentence)):
            yield from self._learn_name(Person(heading, message_id), parse_name(lone["name"]), message_id, own_name)
        alone = _RELATION_ALONE.match(sentence)
        self.heading = standardize_role(alone["who"]) if alone else ""
        for match in (*_NAME_AFTER.finditer(sentence), *_NAME_BEFORE.finditer(sentence)):
            groups = match.groupdict()
            is_certain = bool(groups.get("sure")) or match["name"][0].isupper()
            if groups.get("a") and not is_own_relation(match["who"]):
                continue
            if groups.get("joint") == "," and not is_certain and match.start():
                continue
            if "next" in groups and not is_certain and not _may_follow_name(groups["after"], groups["next"]):
                continue
            person = Person(standardize_role(match["who"]), message_id)
            yield from self._learn_name(person, parse_name(match["name"], is_certain=is_certain), message_id, own_name)

    def is_naming(self, clause: str) -> bool:
        """Return whether a clause only tells the name of somebody: “her name is Ana”, “Ana is my boss”."""
        match = _NAME_BEFORE.fullmatch(clause.rstrip(".! "))
        person = self.by_name.get(fold(match["name"])) if match else None
        return bool(_NAMING.match(clause) or (match and person and person.relation == standardize_role(match["who"])))

    def resolve(self, clause: str) -> tuple[str, Person | None]:
        """Return “She's a nurse” as “my sister Ana is a nurse”, with the person; the clause and None if nobody is certain."""
        clause = table_pattern("people", "contracted_is").sub(r"\g<who> is", clause)
        if match := _SUBJECT.match(clause):
            person = self._referent(match["who"].lower())
            return (_join_subject(person, match["short"], clause[match.end() :]), person) if person else (clause, None)
        if clause.startswith("I ") and (match := _OBJECT.search(clause)):
            person = self._referent(_PRONOUNS[match["who"].lower()])
            if person:
                return f"{clause[: match.start()]}{person.designation}{clause[match.end() :]}", person
        match = _NAMED_SUBJECT.match(clause)
        person = self.by_name.get(fold(match["name"])) if match else None
        if match and person and not match["next"].startswith(("and", ",")):
            return _join_subject(person, match["short"], clause[match.end() :]), person
        return clause, None

    def capitalize_names(self, text: str) -> str:
        """Return a text with the names of the people known capitalised."""
        names = [person.name for person in self.by_name.values() if person.name.lower() in text]
        for name in names:
            text = re.sub(rf"\b{re.escape(name.lower())}\b", name, text)
        return text

    def mention(self, text: str, message_id: UUID) -> None:
        """Note whom a part of the current message mentions."""
        self.mentioned += self._find_mentions(text, message_id, _OWN)

    def _find_mentions(self, text: str, message_id: UUID, pattern: re.Pattern[str]) -> Iterator[Person]:
        for match in pattern.finditer(text):
            relation = standardize_role(match["who"])
            namesakes = [one for one in self.by_name.values() if one.relation == relation]
            if not _PLURAL.search(relation):
                yield replace(namesakes[0], message_id=message_id) if len(namesakes) == 1 else Person(relation, message_id)
        words = set(map(fold, split_words(text)))
        yield from (replace(person, message_id=message_id) for name, person in self.by_name.items() if name in words)
        rest = pattern.sub(" ", table_pattern("people", "predicate_noun").sub(" ", text))
        if pattern is _OWN and table_pattern("people", "stranger").search(rest):
            yield Person("", message_id)

    def name_pronouns(self, question: str, message: str, speakers: Collection[str]) -> str:
        """Return the question of another speaker with the person that “he” or “her” can only mean of those spoken of before;
        unchanged if the `message` that it ends may be about somebody else.
        """
        before = message[: max((match.start() for match in _PRONOUN.finditer(message)), default=0)]
        known = set(map(fold, split_words(" ".join((*self.by_name, *speakers)))))
        names = (word for word in _CAPITALIZED.findall(before) if fold(word) not in known)
        if table_pattern("people", "stranger").search(before) or any(parse_name(word, is_certain=True) for word in names):
            return question

        def name(match: re.Match[str]) -> str:
            person = self._referent(_PRONOUNS[match[0].lower()], (self.earlier,))
            return (person.name or f"your {person.relation}") if person else match[0]

        return _PRONOUN.sub(name, question)

    def _referent(self, pronoun: str, groups: Sequence[Sequence[Person]] = ()) -> Person | None:
        """Return the only person the pronoun can refer to in this message, or else in those before; None if it is uncertain."""
        for people in groups or (self.mentioned, self.earlier):
            matching = {one.designation: one for one in people if not pronoun or one.can_be(pronoun)}
            named = {one.relation for one in matching.values() if one.name}
            matching = {key: one for key, one in matching.items() if one.name or one.relation not in named}
            if matching:
                only = next(iter(matching.values()))
                return only if len(matching) == 1 and only.relation else None
        return None

    def _last_mentioned(self, pronoun: str) -> Person | None:
        """Return whom a question for a name is most likely about: the one without a name whom the pronoun can refer to."""
        people = (one for one in reversed((*self.earlier, *self.mentioned)) if one.relation and not one.name)
        return next((one for one in people if not pronoun or one.can_be(pronoun)), None)

    def _learn_name(self, person: Person, name: str, message_id: UUID, own_name: str) -> Iterator[NameStatement]:
        """Register the name of a person and yield its statement, unless it is known or the speaker's own."""
        if (
            not name
            or _PLURAL.search(person.relation)
            or fold(name) in self.by_name
            or fold(name) == fold(own_name)
            or re.fullmatch(rf"{word_class('PET')}|{word_class('JOB')}", name.lower())
        ):
            return
        relation = person.relation
        has_namesake = any(one.relation == relation for one in self.by_name.values()) and not _UNIQUE.search(relation)
        self.by_name[fold(name)] = Person(relation, message_id, name)
        self.mentioned = [one for one in self.mentioned if one.relation != relation or one.name]
        self.mentioned.append(self.by_name[fold(name)])
        article = "an" if relation[:1] in "aeiou" else "a"
        clause = f"I have {article} {relation} called {name}" if has_namesake else f"my {relation} is called {name}"
        sources = (person.message_id,) if person.message_id != message_id else ()
        yield NameStatement(clause, "" if has_namesake else f"{relation} name", name, relation, sources)


def _join_subject(person: Person, contraction: str | None, rest: str) -> str:
    verb = (" has" if _PERFECT.match(rest) else " is") if contraction else ""
    return f"{person.designation}{verb}{rest}"


def _may_follow_name(mark: str, word: str) -> bool:
    """Return whether a lowercase name may stand before this mark and word."""
    next_word = word.strip()
    is_end = bool(mark.strip()) or not next_word
    return (
        is_end
        or is_past(next_word)
        or next_word.removesuffix("s") in BASE_VERBS
        or bool(table_pattern("people", "after_name").match(next_word))
    )
