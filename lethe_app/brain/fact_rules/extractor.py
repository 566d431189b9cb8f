"""Rule-based extraction of facts from a session, used when no model is qualified for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from lethe_app.brain.dates import resolve
from lethe_app.brain.dialogue.dialogue_acts import read_pieces
from lethe_app.brain.dialogue.dialogue_pieces import DialoguePiece, join_pieces
from lethe_app.brain.fact_rules import classified_facts, endings, question_subjects
from lethe_app.brain.fact_rules.attributes import classify_kind, find_attribute_key
from lethe_app.brain.fact_rules.durability import DurabilityRule, find_matching_rule, normalize_clause
from lethe_app.brain.fact_rules.first_person_clauses import add_subject, extract_subordinate, replace_we_by_i, simplify_clause
from lethe_app.brain.fact_rules.pronouns import Referent, find_presented_pet, find_referents, resolve_references
from lethe_app.brain.fact_rules.sentence_features import is_informative, question_word_features
from lethe_app.brain.fact_rules.statements import SpeakerStatement, StatementCollection
from lethe_app.brain.fact_rules.third_person import rewrite_in_third_person
from lethe_app.brain.people.introductions import find_implied_facts, find_own_name
from lethe_app.brain.people.known_people import KnownPeople
from lethe_app.brain.question_answers import completion, everyday, observations
from lethe_app.brain.text.clauses import extract_clauses
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.domain.facts import FactKind
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS, WORD, fold, split_words

MAX_MESSAGE_LENGTH = 4000
"""Characters of a message that are read; longer ones mostly contain pasted text."""
_UNREAL = re.compile(r"(?:if|when(?! (?:I was|we were)\b)|imagine|suppose|let's say|what if|pretend)\b", re.IGNORECASE)
_GAME = re.compile(
    r"(?:let's|shall we|wanna|want to) (?:play|pretend|roleplay|do a scene)\b|(?:never have I ever|two truths)\b", re.IGNORECASE
)
_IRONIC = re.compile(
    r"^(?:oh,? (?:sure|yeah|yes|great|joy|right)|yeah,? right|because (?:of course|obviously|clearly)|how (?:nice|"
    r"lovely))\b|\bjust love (?:when|how|getting|"
    r"waiting|being|having to|sitting)\b|\b(?:shooting|killing|eating|murdering|stealing) (?:people|kids|children|babies|"
    r"humans)\b|(?<!or )\bnot\W*$|\b(?:thinks?|says|claims|reckons) (?:it's|that's) (?:just |only )?because\b",
    re.IGNORECASE,
)
"""Irony, and words with a special meaning in a trade, as a photographer shoots people."""
_INFORMATIVE_SENTENCE = re.compile(
    r"\b(?:I|my|me|we|our|he|she|her|his|him)\b|\bthe (?:\w+ ){1,2}(?:is|will be|starts|got|was|has been)\b", re.IGNORECASE
)
_WORK = re.compile(
    r"^I(?:'m| am|'ve been| have been| work)?(?: working)? (?P<how>(?:as|at|for|in) .+|(?P<what>an? .+))", re.IGNORECASE
)
MAX_EARLIER_STATEMENTS = 200
"""Number of the latest plans and habits among which the one changed by a message is searched."""
MAX_SHORT_CHANGE_WORDS = 20
"""Words up to which a message that announces a change is about nothing else."""
_PRONOUN_RANGE = 3
"""Messages back to the speaker's last one in which somebody may be named to whom a pronoun refers."""
_BIRTHDAY = re.compile(
    r"(?:it's|it is|today is|today's) my (?:\w+ )?birthday(?P<when> today| tomorrow|(?: on| this| next) .+)?\Z", re.IGNORECASE
)
_FILLER_ADVERB = re.compile(
    r"^(?P<kept>(?:I(?:'\w+)?|my \w+)(?: (?:am|have|do|don't|do not|can't|can))?) (?:just|actually|also|really|honestly|"
    r"literally|definitely|totally|truly|even|absolutely|simply|recently|currently|kind of|now)\b(?: (?:just|also|really|"
    r"even))?",
    re.IGNORECASE,
)
_EMPHATIC_DO = re.compile(
    r"^(?P<kept>I) do(?= (?:have|like|love|enjoy|own|play|live|work|speak|collect|believe|hate|eat|drink)\b)"
)
_CONTRACTED_IS = re.compile(r"(?<=\w)'s(?= (?:from|in|at|an?|the|\d|married|pregnant|not|also|called|[a-z]+ing)\b)")
_FULL_NAME = re.compile(r"\bname is [A-Z][\w'-]+ [A-Z][\w'-]+")
_HERE = re.compile(r" here(?= from)")
_CONTRASTED = re.compile(r"\b(?:never|not|n't|almost|wanted|before|always thought|only had)\b", re.IGNORECASE)
_CONTRAST = re.compile(r"\W*\b(?:but|until|till|however|yet|except)\b", re.IGNORECASE)


def extract_statements(lines: Sequence[Utterance]) -> list[SpeakerStatement]:
    """Return the lasting statements of all speakers about themselves without duplicates, in the order of their messages.

    English only: other languages yield nothing. Questions, hedges, momentary states and everything that is not understood
    alone are skipped. Utterances in character are read separately and marked `in_story`. The result is cached for the last
    two sessions.
    """
    return list(_extract_cached(tuple(lines)))


@lru_cache(maxsize=2)  # facts, title and summary of a conversation all begin with it
def _extract_cached(lines: Sequence[Utterance]) -> tuple[SpeakerStatement, ...]:
    pieces = read_pieces(lines)
    parts = list(map(join_pieces, pieces))
    index_by_id = {line.id: index for index, line in enumerate(lines)}
    plain_statements = _read_lines(
        [replace(line, text=part.plain) for line, part in zip(lines, parts, strict=True)], is_played=False
    )
    in_character = [replace(line, text=part.in_character) for line, part in zip(lines, parts, strict=True) if part.in_character]
    played_statements = _read_lines(in_character, is_played=True)
    all_plain_statements = _add_classified_facts(lines, pieces, plain_statements)
    all_statements = [*all_plain_statements, *(replace(one, in_story=True) for one in played_statements)]
    return tuple(sorted(all_statements, key=lambda one: index_by_id[one.message_ids[0]]))


def _add_classified_facts(
    lines: Sequence[Utterance], pieces: Sequence[Sequence[DialoguePiece]], statements: Sequence[SpeakerStatement]
) -> list[SpeakerStatement]:
    """Return the statements together with what users tell beyond them; a statement that contains less than the user's words
    is replaced.

    A statement with a key stays, because the key is needed; only a plan's key is passed on to the longer sentence.
    """
    statements_by_text = {one.text: one for one in statements}
    statements_by_message: dict[UUID, list[SpeakerStatement]] = {}
    for one in statements:
        for message in one.message_ids:
            statements_by_message.setdefault(message, []).append(one)
    known_question_words = question_word_features(" ".join({line.name for line in lines}))
    previous_messages: dict[str, classified_facts.UserMessage] = {}
    for index, line in enumerate(lines):
        if line.role is not Role.USER:
            continue
        message_statements = [one for one in statements_by_message.get(line.id, ()) if one.text in statements_by_text]
        replied_to = lines[index - 1] if index and lines[index - 1].name != line.name else None
        user_message = classified_facts.read_message(line, pieces[index], replied_to)
        earlier_plans: dict[str, frozenset[str]] = {}
        if endings.announces_change(line.text[:MAX_MESSAGE_LENGTH]):
            plans = [one for one in statements_by_text.values() if _can_change(one, line)][-MAX_EARLIER_STATEMENTS:]
            earlier_plans = {one.text: _plan_words(one) for one in plans}
            user_message = classified_facts.keep_sentences_about(user_message, frozenset[str]().union(*earlier_plans.values()))
        for classified_fact in classified_facts.find_facts(
            user_message, previous_messages.get(line.name), [one.text for one in message_statements], known_question_words
        ):
            words, key = content_words(classified_fact.text), ""
            for one in message_statements:
                if (not one.key or one.kind is FactKind.PLAN) and content_words(one.text) <= words:
                    statements_by_text.pop(one.text, None)
                    key = one.key
            earlier = statements_by_text.get(classified_fact.text)
            messages = tuple(dict.fromkeys((*(earlier.message_ids if earlier else ()), *classified_fact.message_ids)))
            time, kind = (earlier.time, earlier.kind) if earlier else (line.time, classified_fact.kind)
            ended_statements = _find_changed_plan(earlier_plans, line.text, classified_fact.text)
            statements_by_text[classified_fact.text] = SpeakerStatement(
                classified_fact.text, line.name, messages, time, key, kind, ended_statements=ended_statements
            )
        previous_messages[line.name] = user_message
        known_question_words.update(*(question_word_features(piece.text) for piece in pieces[index]))
    return list(statements_by_text.values())


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
    if best_match is None or not (is_short or endings.announces_change(fact_text)):
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


def _read_lines(lines: Sequence[Utterance], *, is_played: bool) -> list[SpeakerStatement]:
    collection = StatementCollection(frozenset(line.name for line in lines))
    for index, line in enumerate(lines):
        last_index, earlier_referents = collection.last_mentions.get(line.name, (max(-1, index - 2), []))
        if index - last_index > _PRONOUN_RANGE:
            earlier_referents = []
        other_speaker_referents = [
            one
            for other in lines[last_index + 1 : index]
            for one in find_referents(other.text, other.id, is_other_speaker=True)
        ]
        referents: list[Referent] = []
        collection.last_mentions[line.name] = (index, referents)
        for statement in _extract_from_line(collection, lines, index, (*earlier_referents, *other_speaker_referents)):
            collection.add(statement)
        other_texts = [other.text for other in lines[last_index + 1 : index] if other.name != line.name]
        people = collection.people_by_speaker.setdefault(line.name, KnownPeople())
        for one in people.read_message(line, index, other_texts) if line.role is Role.USER else ():
            # `_build_statements` uses only key and event of a rule; the pattern is a placeholder here and in similar calls.
            rule = DurabilityRule(
                _BIRTHDAY, one.key, is_event=bool((matching_rule := find_matching_rule(one.clause)) and matching_rule.is_event)
            )
            for statement in _build_statements(one.clause, rule, line, *one.sources):
                collection.merge(statement, one.names)
        if not is_played:
            for statement in _extract_implied(collection, line):
                collection.add(statement)
    return list(collection.statements.values())


def _extract_from_line(
    collection: StatementCollection, lines: Sequence[Utterance], index: int, earlier_referents: Sequence[Referent]
) -> list[SpeakerStatement]:
    line = lines[index]
    replied_to = lines[index - 1] if index and lines[index - 1].name != line.name else None
    statements = list(_extract_from_message(collection, line, earlier_referents, replied_to))
    short_answer = completion.read_answer(lines, index)
    answer_statement = (
        next(
            _build_statements(
                short_answer.clause, DurabilityRule(_BIRTHDAY, short_answer.key), line, *short_answer.message_ids
            ),
            None,
        )
        if short_answer
        else None
    )
    if answer_statement and not any(answer_statement.key and answer_statement.key == statement.key for statement in statements):
        statements.insert(0, answer_statement)
    if not answer_statement and line.role is Role.USER:
        statements += _complete_answers(collection, lines, index, statements)
        statements += _confirm_observation(collection, lines, index)
    return statements


def _complete_answers(
    collection: StatementCollection, lines: Sequence[Utterance], index: int, statements: Sequence[SpeakerStatement]
) -> Iterator[SpeakerStatement]:
    """Yield the statements an answer makes together with its question, unless the message makes them in full."""
    line = lines[index]
    for question_id, clause, key in everyday.read_answers(lines, index):
        for completed in _build_statements(
            _insert_relation(collection, line.name, clause), DurabilityRule(_BIRTHDAY, key), line, question_id
        ):
            words = set(split_words(fold(completed.text)))
            if not any(
                words <= set(split_words(fold(statement.text))) or (key and statement.key == key) for statement in statements
            ):
                yield completed


def _confirm_observation(collection: StatementCollection, lines: Sequence[Utterance], index: int) -> Iterator[SpeakerStatement]:
    """Yield what another speaker observed about the user and the user confirms, as a statement of the user."""
    observation = observations.read_observation(lines, index)
    if observation is None:
        return
    for clause in extract_clauses(observation.sentence):
        found = list(_extract_from_clause(collection, clause, lines[index], observation.message_id))
        if not found and observation.is_habit:
            found = list(_build_statements(clause, DurabilityRule(_BIRTHDAY, ""), lines[index], observation.message_id))
        yield from found


def _extract_from_message(
    collection: StatementCollection, line: Utterance, earlier_referents: Sequence[Referent], replied_to: Utterance | None
) -> Iterator[SpeakerStatement]:
    """Yield the statements of a message sentence by sentence. `earlier_referents` are the people mentioned just before it,
    `replied_to` is the message it answers.
    """
    referents = collection.last_mentions[line.name][1]
    text = line.text[:MAX_MESSAGE_LENGTH]
    replaced_plan = endings.find_replaced_plan(correct_spelling(text))
    if replaced_plan:
        yield from _build_statements(replaced_plan[0], DurabilityRule(re.compile("")), line, ended_clauses=replaced_plan[1:])
    parts = extract_sentences(text)
    # A message that proposes a game states nothing about the speaker.
    if parts and _GAME.match(parts[0]):
        return
    question_subject = question_subjects.find_question_subject(replied_to.text) if replied_to else ""
    for index, sentence in enumerate(parts):
        if _UNREAL.match(sentence) or _IRONIC.search(sentence):
            referents.append(Referent("", "she or he", line.id))
            continue
        full_sentence = _complete_subject(
            _insert_relation(collection, line.name, sentence), question_subject if line.role is Role.USER else "other"
        )
        if full_sentence.endswith("?") or not _INFORMATIVE_SENTENCE.search(full_sentence):
            referents += find_referents(full_sentence, line.id)
            continue
        for part in extract_clauses(full_sentence):
            clause, referent = resolve_references(part, referents, earlier_referents)
            referents += find_referents(part, line.id)
            if referent:
                referents.append(referent)
            referent_sources = [referent.message_id] if referent and referent.message_id != line.id else []
            if not (replaced_plan and "instead" in full_sentence) and not _is_contrasted(part, full_sentence):
                yield from _extract_from_clause(collection, clause, line, *referent_sources)
        if index + 1 < len(parts) and (name := find_presented_pet(sentence, parts[index + 1])):
            yield from _build_statements(name, DurabilityRule(re.compile(""), f"{name.split()[1]} name"), line)


def _complete_subject(sentence: str, question_subject: str) -> str:
    """Add the missing subject to a sentence, according to whom the preceding question is about."""
    return (
        add_subject(sentence)
        if question_subject in {"", "you"}
        else question_subjects.prepend_question_subject(sentence, question_subject)
    )


def _insert_relation(collection: StatementCollection, speaker: str, sentence: str) -> str:
    """Return “Emma turned ten” as “my daughter Emma turned ten” if Emma is known as the speaker's daughter."""
    first_word = re.match(r"[A-Z][\w-]+(?=(?:'s)? \w)", sentence)
    relation = collection.relations_by_name.get((speaker, first_word[0])) if first_word else None
    return f"my {relation} {_CONTRACTED_IS.sub(' is', sentence, count=1)}" if relation else sentence


def _is_contrasted(part: str, sentence: str) -> bool:
    """Return whether a clause such as “I've never had a cat before” is continued by a contrast such as “but I have one now”."""
    position = sentence.find(part.split(" ", 1)[-1])
    following_text = sentence[position + len(part.split(" ", 1)[-1]) :] if position >= 0 else ""
    return bool(_CONTRASTED.search(part) and _CONTRAST.match(following_text))


def _extract_from_clause(
    collection: StatementCollection, part: str, line: Utterance, *source_ids: UUID
) -> Iterator[SpeakerStatement]:
    clause = simplify_clause(_HERE.sub("", replace_we_by_i(part)))
    if birthday := _BIRTHDAY.match(clause):
        yield from _build_statements(
            f"my birthday is on {_spell_day(birthday, line.time)}", DurabilityRule(_BIRTHDAY, "birthday"), line
        )
    elif rule := find_matching_rule(clause):
        if rule.key == "job" and (work := _WORK.match(clause)):
            referents = collection.last_mentions[line.name][1]
            referents.append(Referent(f"as {work['what']}" if work["what"] else work["how"], "work", line.id))
        yield from _build_statements(clause, rule, line, *source_ids)
    elif subordinate_clause := extract_subordinate(clause):
        yield from _extract_from_clause(collection, subordinate_clause, line, *source_ids)


def _spell_day(match: re.Match[str], said_at: datetime) -> str:
    """Return day and month, without a year."""
    resolved = resolve.resolve_dates((match["when"] or " today").strip(), said_at.date())
    return re.sub(r" \d{4}\Z", "", resolved.removeprefix("on "))


def _build_statements(
    clause: str, rule: DurabilityRule, line: Utterance, *source_ids: UUID, ended_clauses: Sequence[str] = ()
) -> Iterator[SpeakerStatement]:
    """Yield the first-person clause as a statement if it can be rewritten in the third person."""
    text = normalize_clause(clause)
    key = find_attribute_key(clause, text, rule.key)
    if key == "name" and fold(line.name) in map(fold, split_words(clause)) and not _FULL_NAME.search(clause):
        return  # “Tomas's name is Tomas” tells nobody anything
    dated_clause = resolve.resolve_dates(clause, line.time.date(), event=rule.is_event)
    simplified = _EMPHATIC_DO.sub(r"\g<kept>", _FILLER_ADVERB.sub(r"\g<kept>", dated_clause))
    if resolve.RELATIVE_TIME.search(simplified):
        return
    if rewritten := rewrite_in_third_person(simplified, line.name, ""):
        ended_statements = tuple(
            filter(
                None,
                (
                    rewrite_in_third_person(end, line.name, "")
                    for end in (*ended_clauses, *endings.find_ended_statements(clause))
                ),
            )
        )
        yield SpeakerStatement(
            rewritten,
            line.name,
            (*source_ids, line.id),
            line.time,
            key,
            classify_kind(text, key),
            ended_statements=ended_statements,
        )


def _extract_implied(collection: StatementCollection, line: Utterance) -> Iterator[SpeakerStatement]:
    """Yield the facts a message implies, unless a statement of the same speaker contains them."""
    if name := find_own_name(correct_spelling(line.text[:MAX_MESSAGE_LENGTH])):
        yield from _build_statements(f"my name is {name}", DurabilityRule(_BIRTHDAY, "name"), line)
    for sentence in extract_sentences(line.text[:MAX_MESSAGE_LENGTH]):
        for clause, key in find_implied_facts(sentence):
            noun = clause.rstrip(".").rsplit(" ", 1)[-1]
            if not collection.is_possession_known(line.name, noun) and not any(
                statement.subject == line.name and re.search(rf"\b{re.escape(noun)}\b", statement.text)
                for statement in collection.statements.values()
            ):
                yield from _build_statements(clause, find_matching_rule(clause) or DurabilityRule(_BIRTHDAY, key), line)
