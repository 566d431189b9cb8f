"""Facts of a session without a model: each sentence of a speaker by the rows of a table, else in the user's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from uuid import UUID

from lethe_app.brain.reading import changes, own_words
from lethe_app.brain.reading.answers import complete_answer, confirm_observation, is_habit
from lethe_app.brain.reading.attributes import find_attribute_key, find_kind
from lethe_app.brain.reading.dialogue_acts import read_pieces
from lethe_app.brain.reading.durability import Durability, find_durability, is_understood_alone, normalize_clause
from lethe_app.brain.reading.first_person import add_subject, complete_clause
from lethe_app.brain.reading.people import PRONOUN_RANGE, KnownPeople, NameStatement
from lethe_app.brain.reading.pieces import join_pieces
from lethe_app.brain.reading.rated_sentences import KEEP_THRESHOLD, asks_to_remember, strip_fillers
from lethe_app.brain.reading.sentence_classifier import predict_kind, predict_probability
from lethe_app.brain.reading.sentence_features import extract_features, is_informative, question_word_features
from lethe_app.brain.reading.statements import SpeakerStatement, StatementCollection
from lethe_app.brain.reading.third_person import rewrite_in_third_person
from lethe_app.brain.text.clauses import extract_clauses
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.text.utterance import Utterance
from lethe_app.dates import resolve
from lethe_app.domain.chat import Role
from lethe_app.domain.facts import FactKind
from lethe_app.language_tables import table_pattern
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS
from lethe_app.searchable_text import WORD, fold, split_words

MAX_MESSAGE_LENGTH = 4000
"""Characters of a message that are read; longer ones mostly contain pasted text."""
MAX_EARLIER_STATEMENTS = 200
"""Number of the latest plans and habits among which the one changed by a message is searched."""
MAX_SHORT_CHANGE_WORDS = 20
"""Words up to which a message that announces a change is about nothing else."""
_INFORMATIVE_SENTENCE = re.compile(
    r"\b(?:I|my|me|we|our|he|she|her|his|him)\b|^[A-Z]\w+\b|\bthe (?:\w+ ){1,2}(?:is|will be|starts|got|was|has been)\b",
    re.IGNORECASE,
)
_BIRTHDAY = re.compile(
    r"(?:it's|it is|today is|today's) my (?:\w+ )?birthday(?P<when> today| tomorrow|(?: on| this| next) .+)?\Z", re.IGNORECASE
)
_EMPHATIC_DO = re.compile(
    r"^(?P<kept>I) do(?= (?:have|like|love|enjoy|own|play|live|work|speak|collect|believe|hate|eat|drink)\b)"
)
_FULL_NAME = re.compile(r"\bname is [A-Z][\w'-]+ [A-Z][\w'-]+")


def extract_statements(lines: Sequence[Utterance]) -> list[SpeakerStatement]:
    """Return the lasting statements of all speakers about themselves without duplicates, in the order of their messages.

    English only: other languages yield nothing. Questions, hedges, momentary states and everything that is not understood
    alone are skipped. Utterances in character are read separately and marked as such. The result is cached for the last
    two sessions.
    """
    return list(_extract_cached(tuple(lines)))


@lru_cache(maxsize=2)  # facts, title and summary of a conversation all begin with it
def _extract_cached(lines: Sequence[Utterance]) -> tuple[SpeakerStatement, ...]:
    index_by_id = {line.id: index for index, line in enumerate(lines)}
    reading = _SessionReading(lines)
    for index in range(len(lines)):
        reading.read_message(index)
    return tuple(sorted(reading.statements, key=lambda one: index_by_id[one.message_ids[0]]))


class _SessionReading:
    """State of a session while its messages are read in order."""

    def __init__(self, lines: Sequence[Utterance]) -> None:
        self._lines, self._pieces = lines, read_pieces(lines)
        speakers = frozenset(line.name for line in lines)
        self._plain, self._played = StatementCollection(speakers), StatementCollection(speakers)
        self._people: dict[tuple[str, bool], KnownPeople] = {}
        self._previous_messages: dict[str, own_words.UserMessage] = {}
        self._ended: list[str] = []
        """First-person clauses that the current message ends."""
        self._known_features = question_word_features(" ".join(speakers))

    @property
    def statements(self) -> list[SpeakerStatement]:
        """All statements found, those in character marked so."""
        return [*self._plain.statements.values(), *self._played.statements.values()]

    def read_message(self, index: int) -> None:
        """Read the message at an index."""
        line, parts, self._ended = self._lines[index], join_pieces(self._pieces[index]), []
        for statement in self._read_text(index, parts.plain, in_story=False):
            self._plain.add(statement)
        if parts.in_character:
            for statement in self._read_text(index, parts.in_character, in_story=True):
                self._played.add(statement)
        if line.role is Role.USER:
            self._add_own_words(index)
            self._known_features |= set().union(*(question_word_features(piece.text) for piece in self._pieces[index]))

    def _replied_to(self, index: int) -> Utterance | None:
        return self._lines[index - 1] if index and self._lines[index - 1].name != self._lines[index].name else None

    def _read_text(self, index: int, text: str, *, in_story: bool) -> Iterator[SpeakerStatement]:
        """Yield the statements of what a message says plainly, or in character, by the rows of the tables."""
        line, text = self._lines[index], text[:MAX_MESSAGE_LENGTH]
        replied_to = self._replied_to(index)
        question = own_words.extract_question(replied_to.text) if replied_to else ""
        if replied_to:
            yield from _read_reply(replied_to, question, line, text, in_story=in_story)
        if replaced_plan := changes.find_replaced_plan(correct_spelling(text)):
            yield from _build_statements(replaced_plan[0], line, in_story=in_story, ended_clauses=replaced_plan[1:])
        people = self._begin_message(index, in_story=in_story)
        sentences = extract_sentences(text)
        names: list[NameStatement] = []
        found: list[SpeakerStatement] = []
        for place, sentence in enumerate(sentences):
            is_unreal = table_pattern("sentences", "unreal").search(sentence)
            if is_unreal or sentence.endswith("?") or asks_to_remember(sentence):
                people.mention(sentence, line.id)
                continue
            if line.role is Role.USER:
                names += people.find_names(sentence, line.id, "" if place else question, line.name)
            if not (replaced_plan and "instead" in sentence):
                found += self._read_sentence(sentence, question, people, line, in_story=in_story)
        yield from found
        for name in names:
            if not any(_tells_name(one, name) for one in found):
                yield from _build_statements(name.clause, line, *name.sources, in_story=in_story)

    def _begin_message(self, index: int, *, in_story: bool) -> KnownPeople:
        name = self._lines[index].name
        people = self._people.setdefault((name, in_story), KnownPeople())
        others = []
        for line in reversed(self._lines[max(0, index - PRONOUN_RANGE) : index]):
            if line.name == name:
                break
            others.append((line.text[:MAX_MESSAGE_LENGTH], line.id))
        people.begin_message(index, others)
        return people

    def _read_sentence(
        self, sentence: str, question: str, people: KnownPeople, line: Utterance, *, in_story: bool
    ) -> Iterator[SpeakerStatement]:
        """Yield the statements of one sentence, clause by clause."""
        if not _INFORMATIVE_SENTENCE.search(sentence):
            people.mention(sentence, line.id)
            return
        is_kept = line.role is Role.USER and predict_probability(extract_features(sentence)) >= KEEP_THRESHOLD
        for part in extract_clauses(strip_fillers(sentence if own_words.is_about_others(question) else add_subject(sentence))):
            if people.is_naming(part):
                continue
            clause, person = people.resolve(people.capitalize_names(part))
            people.mention(part, line.id)
            sources = (person.message_id,) if person and person.message_id != line.id else ()
            clause = complete_clause(clause)
            if birthday := _BIRTHDAY.match(clause):
                clause = f"my birthday is on {_spell_day(birthday, line)}"
            self._ended += changes.find_ended_statements(clause)
            durability = find_durability(clause)
            if durability or (person and is_kept and is_understood_alone(clause)):
                yield from _build_statements(clause, line, *sources, in_story=in_story, is_event=durability is Durability.EVENT)

    def _add_own_words(self, index: int) -> None:
        """Add what a message of the user tells beyond its statements; a statement that contains less than the user's words is
        replaced.

        A statement with a key stays, because the key is needed; only a plan's key is passed on to the longer sentence.
        """
        line = self._lines[index]
        statements = self._plain.of_message(line.id)
        message = own_words.read_message(line, self._pieces[index], self._replied_to(index))
        if message.replied_to:
            people, said = self._people[line.name, False], message.replied_to.text
            message = replace(message, question=people.name_pronouns(message.question, said, self._plain.speakers))
        plans: dict[str, frozenset[str]] = {}
        if changes.announces_change(line.text[:MAX_MESSAGE_LENGTH]):
            earlier = [one for one in self._plain.statements.values() if _can_change(one, line)][-MAX_EARLIER_STATEMENTS:]
            plans = {one.text: _plan_words(one) for one in earlier}
            message = own_words.keep_sentences_about(message, frozenset[str]().union(*plans.values()))
        previous = self._previous_messages.get(line.name)
        for fact in own_words.find_facts(message, previous, [one.text for one in statements], self._known_features):
            words = content_words(fact.text)
            contained = [one for one in statements if content_words(one.text) <= words]
            if any(one.key and one.kind is not FactKind.PLAN for one in contained):
                continue
            for one in contained:
                self._plain.remove(one)
            key = next((one.key for one in contained), "")
            ended = _find_changed_plan(plans, line.text, fact.text)
            rewritten = (rewrite_in_third_person(end, line.name) or "" for end in self._ended)
            ended += tuple(end for end in rewritten if content_words(end) & words - content_words(line.name))
            self._plain.add(replace(fact, key=key, ended_statements=ended))
        self._previous_messages[line.name] = message


def _read_reply(
    replied_to: Utterance, question: str, line: Utterance, text: str, *, in_story: bool
) -> Iterator[SpeakerStatement]:
    """Yield what a message states as an answer to the one before, or by confirming what that one observed about the user."""
    if answer := complete_answer(question, text):
        is_event = find_durability(answer) is Durability.EVENT
        yield from _build_statements(answer, line, replied_to.id, in_story=in_story, is_event=is_event)
    elif line.role is Role.USER and replied_to.role is not Role.USER:
        for clause in extract_clauses(confirm_observation(replied_to.text, text, line.name)):
            durability = find_durability(clause)
            if durability or is_habit(clause):
                is_event = durability is Durability.EVENT
                yield from _build_statements(clause, line, replied_to.id, in_story=in_story, is_event=is_event)


def _build_statements(
    clause: str,
    line: Utterance,
    *source_ids: UUID,
    in_story: bool,
    is_event: bool = False,
    ended_clauses: Sequence[str] = (),
) -> Iterator[SpeakerStatement]:
    """Yield the first-person clause as a statement if it can be rewritten in the third person."""
    text = normalize_clause(clause)
    key = find_attribute_key(clause, text)
    if key == "name" and fold(line.name) in map(fold, split_words(clause)) and not _FULL_NAME.search(clause):
        return  # “Tomas's name is Tomas” tells nobody anything
    dated = resolve.resolve_dates(clause, line.time.date(), event=is_event)
    simplified = _EMPHATIC_DO.sub(r"\g<kept>", table_pattern("sentences", "filler_adverb").sub(r"\g<kept>", dated))
    if resolve.RELATIVE_TIME.search(simplified):
        return
    if rewritten := rewrite_in_third_person(simplified, line.name):
        ends = (rewrite_in_third_person(end, line.name) for end in (*ended_clauses, *changes.find_ended_statements(clause)))
        yield SpeakerStatement(
            rewritten,
            line.name,
            (*source_ids, line.id),
            line.time,
            key,
            find_kind(text, key, predict_kind(extract_features(clause))),
            in_story,
            tuple(filter(None, ends)),
        )


def _spell_day(match: re.Match[str], line: Utterance) -> str:
    """Return day and month, without a year."""
    resolved = resolve.resolve_dates((match["when"] or " today").strip(), line.time.date())
    return re.sub(r" \d{4}\Z", "", resolved.removeprefix("on "))


def _tells_name(statement: SpeakerStatement, name: NameStatement) -> bool:
    """Return whether a statement already has a name with its relation."""
    return name.name in statement.text and name.relation.split()[-1] in statement.text


def _can_change(earlier: SpeakerStatement, line: Utterance) -> bool:
    """Return whether an announced change may refer to this earlier statement of the same speaker."""
    is_other = line.id not in earlier.message_ids and earlier.subject == line.name and earlier.time <= line.time
    is_plan = earlier.kind is FactKind.PLAN or earlier.key.startswith("plan ")
    return is_other and (is_plan or (not earlier.key and earlier.kind in {FactKind.TASTE, FactKind.EVENT, FactKind.OTHER}))


def _find_changed_plan(earlier: Mapping[str, frozenset[str]], message: str, fact_text: str) -> tuple[str, ...]:
    """Return the earlier statement that a fact told in a message most likely changes; empty if they share too few words."""
    is_short = len(message.split()) <= MAX_SHORT_CHANGE_WORDS
    words = content_words(fact_text) | (content_words(message) if is_short else frozenset())
    best_match = max(reversed(list(earlier.items())), key=lambda one: len(one[1] & words), default=None)
    if best_match is None or not (is_short or changes.announces_change(fact_text)):
        return ()
    return (best_match[0],) if len(best_match[1] & words) >= (1 if is_short else 2) else ()


def _plan_words(earlier: SpeakerStatement) -> frozenset[str]:
    """Return the stems of the words that show the topic of a statement, without names, relatives and times."""
    words = [word for word in WORD.findall(earlier.text) if len(word) > 3 and word.islower() and not is_informative(word)]
    return content_words(" ".join(words)) - _everyday_stems() - content_words(f"{earlier.subject} said asked")


@lru_cache(maxsize=1)
def _everyday_stems() -> frozenset[str]:
    """Return the stems of words that occur in every conversation."""
    return content_words(" ".join(EVERYDAY_WORDS))
