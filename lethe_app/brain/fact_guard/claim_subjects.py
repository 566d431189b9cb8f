"""Checks of a claim's subject: a fact must not be assigned to somebody other than the person who said, is or owns it."""

from __future__ import annotations

import re
from collections.abc import Collection

from lethe_app.brain.dialogue.confirmation import is_confirmed
from lethe_app.brain.fact_guard.claims import (
    SUPPORTED,
    LocatedClaim,
    Outcome,
    SupportLevel,
    find_name_index,
    find_names,
    is_same_word,
)
from lethe_app.brain.fact_guard.languages import ENGLISH
from lethe_app.brain.fact_guard.quotations import MessageClause
from lethe_app.brain.people.relations import ClauseSubject, find_clause_subject, find_relations, is_relation_mentioned
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.domain.chat import Role
from lethe_app.retrieval.query_terms import fold, split_words

_POSSESSING_FACT = re.compile(r"\S+(?: \w+ly| also)? (?:has|had|have|lost|is married|is the)\b")
"""Beginning of a fact that names the speaker but may be about somebody else: “Tom has a sister who …”."""
_POSSESSIVE_NOUN = re.compile(r"\b(?P<who>[\w-]+)'s (?P<what>[\w-]+)(?: (?P<more>[\w-]+))?")
_NOUN_OF_MY_RELATION = re.compile(r"\bthe (?P<what>[\w-]+) of my (?P<who>[\w-]+)", re.IGNORECASE)
_THEIR_NOUN = re.compile(r"\b(?:his|her|their) (?P<what>[\w-]+)", re.IGNORECASE)
_YOUR_NOUN = re.compile(r"\byour (?P<what>[\w-]+)", re.IGNORECASE)
_NOT_OWNERS = frozenset("it that he she what who there here let where how this today everyone everybody one".split())  # noqa: SIM905
_GENERIC_RELATIONS = frozenset({"family", "families", "pet", "pets", "friend", "friends"})
"""General words that a fact may use for relations mentioned by other words."""


def check_speaker(case: LocatedClaim) -> Outcome:
    """Check that the message is by the fact's subject, or about them and confirmed by them."""
    speaker, is_fact_subject = case.first_named_speaker
    subjects = (case.claim.subject, case.fact.split(" ", 1)[0])
    if not speaker and not any(_is_name_mentioned(subject, case.window) for subject in subjects):
        return SupportLevel.NONE, "nobody of the conversation is its subject"
    if case.language is ENGLISH and is_fact_subject:
        relations = find_relations(case.claim.subject)
        if relations and not any(is_relation_mentioned(relation, case.fact) for relation in relations):
            return SupportLevel.NONE, "it is said of somebody else"
    return SUPPORTED if not speaker or speaker == case.source.name else _check_other_speaker(case, speaker)


def _check_other_speaker(case: LocatedClaim, subject_name: str) -> Outcome:
    """Check a claim about another person than the speaker; a persona's statement counts only if the user agrees at once."""
    language = case.language or ENGLISH
    text = " ".join(clause.text for clause in case.relevant_clauses)
    is_addressed = language.second_person.search(text) is not None
    if language.first_person.search(text) and not is_addressed:
        return SupportLevel.NONE, "the other speaker says it of themselves"
    if case.source.role is Role.ASSISTANT and not is_confirmed(case.quotation.message_index, case.lines):
        return SupportLevel.NONE, "the other speaker says it and nobody agrees"
    is_subject_named = any(
        find_name_index(name, case.message_text) >= 0
        for name, speaker in case.speakers_by_name.items()
        if speaker == subject_name
    )
    if case.source.role is Role.USER and not is_subject_named and not is_addressed:
        return SupportLevel.NONE, "the other speaker says it of somebody else"
    return SupportLevel.DOUBTFUL, "the other speaker says it"


def check_clause_subject(case: LocatedClaim) -> Outcome:
    """Check that the clause is about the speaker: “My mother is a nurse” states nothing about the speaker's own work."""
    speaker, is_fact_subject = case.first_named_speaker
    outcomes = (
        [_check_clause(case, clause) for clause in case.relevant_clauses]
        if speaker == case.source.name and is_fact_subject
        else []
    )
    return max(outcomes, default=SUPPORTED)


def _check_clause(case: LocatedClaim, clause: MessageClause) -> Outcome:
    subject, relation = find_clause_subject(clause.text)
    is_possessing = _POSSESSING_FACT.match(case.fact) is not None
    if subject is ClauseSubject.RELATION:
        if not is_relation_mentioned(relation, case.fact):
            return SupportLevel.NONE, f"it is said of {relation}"
        return (
            SUPPORTED
            if is_possessing or _is_relation_source(relation, case.fact)
            else (SupportLevel.DOUBTFUL, f"it is said of {relation}")
        )
    if subject is ClauseSubject.THIRD:
        other_people = find_relations(case.fact) or find_names(case.fact, case.speakers_by_name)
        return (
            SUPPORTED
            if other_people and is_possessing
            else (SupportLevel.DOUBTFUL if other_people else SupportLevel.NONE, "it is said of somebody else")
        )
    if subject is ClauseSubject.LISTENER:
        return SupportLevel.DOUBTFUL if _is_listener_named(case) else SupportLevel.NONE, "it is said of the listener"
    # Without a pronoun, a clause that begins with the name of another person may be about that one.
    first_words = split_words(clause.text)[:1]
    if subject is ClauseSubject.UNSPOKEN and first_words and first_words[0] in find_names(case.fact, case.speakers_by_name):
        return SupportLevel.DOUBTFUL, "it is said of somebody else"
    return SUPPORTED


def _is_relation_source(relation: str, fact: str) -> bool:
    """Return whether the fact keeps the relation in its role, as “from his aunt” or “by her mother” does."""
    parts = re.findall(r"\b(?:from|by|of|thanks to) (?:his|her|their) (?:\w+ ){0,2}?(\w+)", fact)
    return any(is_relation_mentioned(relation, part) for part in parts)


def _is_listener_named(case: LocatedClaim) -> bool:
    return any(
        find_name_index(name, case.fact) >= 0 for name, speaker in case.speakers_by_name.items() if speaker != case.source.name
    )


def check_possessors(case: LocatedClaim) -> Outcome:
    """Check that a possession of somebody else is not assigned to the speaker: “My sister's dog”."""
    text = " ".join(clause.text for clause in case.relevant_clauses)
    fact_stems = {stem(word) for word in split_words(case.fact)}
    for found in (*_POSSESSIVE_NOUN.finditer(text), *_NOUN_OF_MY_RELATION.finditer(text)):
        owner, owned_stems = found["who"], {stem(word) for word in found.groups()[1:] if word}
        if (
            owner.lower() in _NOT_OWNERS
            or owned_stems.isdisjoint(fact_stems)
            or is_relation_mentioned(owner.lower(), case.fact)
            or stem(owner) in fact_stems
        ):
            continue
        if find_relations(owner) or owner[:1].isupper():
            return SupportLevel.NONE, f"it belongs to {owner.lower()}"
    if any(_is_owner_missing(found["what"].lower(), fact_stems, text, case) for found in _THEIR_NOUN.finditer(text)):
        return SupportLevel.NONE, "it belongs to somebody else"
    is_listener_owner = any(stem(found["what"]) in fact_stems for found in _YOUR_NOUN.finditer(text))
    if is_listener_owner and case.first_named_speaker[0] == case.source.name and not _is_listener_named(case):
        return SupportLevel.DOUBTFUL, "it belongs to the listener"
    return SUPPORTED


def _is_owner_missing(thing: str, fact_stems: Collection[str], text: str, case: LocatedClaim) -> bool:
    """Return whether the fact mentions a thing (“her dog”) without its owner."""
    owners = {word for word in find_relations(case.fact) if not is_same_word(stem(word), stem(thing))}
    owners |= {name for name in find_names(case.fact, case.speakers_by_name) if name not in text}
    has_possessive = re.search(rf"\b(?:his|her|their) (?:\w+ )?{re.escape(thing)}\b", case.fact) is not None
    return stem(thing) in fact_stems and not owners and not has_possessive


def check_relations(case: LocatedClaim) -> Outcome:
    """Check that the fact mentions no relatives or pets that the messages do not mention."""
    source_words = {word.lower() for word in split_words(case.window)}
    unknown = [
        word
        for word in find_relations(case.fact) - _GENERIC_RELATIONS
        if not is_relation_mentioned(word, case.window)
        and not any(is_same_word(word, source_word) for source_word in source_words)
    ]
    return (SupportLevel.DOUBTFUL, f"nobody spoke of a {min(unknown)}") if unknown else SUPPORTED


def check_foreign_subject(case: LocatedClaim) -> Outcome:
    """Check the clause's subject in other languages than English, by the language's list of relations."""
    language, (speaker, is_fact_subject) = case.language, case.first_named_speaker
    if language is None or speaker != case.source.name:
        return SUPPORTED
    folded_fact = fold(case.fact)
    for clause in case.relevant_clauses:
        match = language.possessed_person.search(clause.text)
        preceding_text = clause.text[: match.start()] if match else ""
        if match and not language.first_person.search(preceding_text) and fold(match["who"].split()[-1])[:5] not in folded_fact:
            return (SupportLevel.NONE if is_fact_subject else SupportLevel.DOUBTFUL), f"it is said of {match['who']}"
    return SUPPORTED


def _is_name_mentioned(name: str, text: str) -> bool:
    return bool(name) and any(fold(word) in fold(text) for word in split_words(name) if len(word) > 1)
