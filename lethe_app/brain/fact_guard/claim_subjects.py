"""Checks of a claim's subject: a fact must not be assigned to somebody other than the person who said, is or owns it."""

from __future__ import annotations

import re
from collections.abc import Collection

from lethe_app.brain.dialogue.confirmation import is_confirmed
from lethe_app.brain.fact_guard.claims import GOOD, Case, Outcome, Support, is_form, names_in, place_of
from lethe_app.brain.fact_guard.languages import ENGLISH
from lethe_app.brain.fact_guard.quotations import Clause
from lethe_app.brain.people.relations import Subject, is_named, relations_in, subject_of
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.domain.chat import Role
from lethe_app.retrieval.query_terms import cut, fold

_HAS = re.compile(r"\S+(?: \w+ly| also)? (?:has|had|have|lost|is married|is the)\b")
"""Beginning of a fact that names the speaker but may be about somebody else: “Tom has a sister who …”."""
_OWNED = re.compile(r"\b(?P<who>[\w-]+)'s (?P<what>[\w-]+)(?: (?P<more>[\w-]+))?")
_OF_MINE = re.compile(r"\bthe (?P<what>[\w-]+) of my (?P<who>[\w-]+)", re.IGNORECASE)
_THEIRS = re.compile(r"\b(?:his|her|their) (?P<what>[\w-]+)", re.IGNORECASE)
_YOURS = re.compile(r"\byour (?P<what>[\w-]+)", re.IGNORECASE)
_NOBODY = frozenset("it that he she what who there here let where how this today everyone everybody one".split())  # noqa: SIM905
_ANYBODYS = frozenset({"family", "families", "pet", "pets", "friend", "friends"})
"""General words that a fact may use for relations mentioned by other words."""


def check_speaker(case: Case) -> Outcome:
    """Check that the message is by the fact's subject, or about them and confirmed by them."""
    who, is_bare = case.named
    subjects = (case.claim.about, case.fact.split(" ", 1)[0])
    if not who and not any(_stands_in(subject, case.window) for subject in subjects):
        return Support.NONE, "nobody of the conversation is its subject"
    if case.language is ENGLISH and is_bare:
        relations = relations_in(case.claim.about)
        if relations and not any(is_named(one, case.fact) for one in relations):
            return Support.NONE, "it is said of somebody else"
    return GOOD if not who or who == case.source.name else _said_by_other(case, who)


def _said_by_other(case: Case, who: str) -> Outcome:
    """Check a claim about another person than the speaker; a persona's statement counts only if the user agrees at once."""
    language = case.language or ENGLISH
    text = " ".join(clause.text for clause in case.relevant)
    is_addressed = language.second_person.search(text) is not None
    if language.first_person.search(text) and not is_addressed:
        return Support.NONE, "the other speaker says it of themselves"
    if case.source.role is Role.ASSISTANT and not is_confirmed(case.quotation.place, case.lines):
        return Support.NONE, "the other speaker says it and nobody agrees"
    is_named_there = any(place_of(name, case.message) >= 0 for name, speaker in case.names.items() if speaker == who)
    if case.source.role is Role.USER and not is_named_there and not is_addressed:
        return Support.NONE, "the other speaker says it of somebody else"
    return Support.DOUBTFUL, "the other speaker says it"


def check_clause_subject(case: Case) -> Outcome:
    """Check that the clause is about the speaker: “My mother is a nurse” states nothing about the speaker's own work."""
    who, is_bare = case.named
    outcomes = [_of_clause(case, clause) for clause in case.relevant] if who == case.source.name and is_bare else []
    return max(outcomes, default=GOOD)


def _of_clause(case: Case, clause: Clause) -> Outcome:
    subject, relation = subject_of(clause.text)
    has = _HAS.match(case.fact) is not None
    if subject is Subject.RELATION:
        if not is_named(relation, case.fact):
            return Support.NONE, f"it is said of {relation}"
        return GOOD if has or _is_giver(relation, case.fact) else (Support.DOUBTFUL, f"it is said of {relation}")
    if subject is Subject.THIRD:
        others = relations_in(case.fact) or names_in(case.fact, case.names)
        return GOOD if others and has else (Support.DOUBTFUL if others else Support.NONE, "it is said of somebody else")
    if subject is Subject.LISTENER:
        return Support.DOUBTFUL if _names_listener(case) else Support.NONE, "it is said of the listener"
    first = cut(clause.text)[:1]
    if subject is Subject.UNSPOKEN and first and first[0] in names_in(case.fact, case.names):
        return Support.DOUBTFUL, "it is said of somebody else"
    return GOOD


def _is_giver(relation: str, fact: str) -> bool:
    """Return whether the fact keeps the relation in its role, as “from his aunt” or “by her mother” does."""
    parts = re.findall(r"\b(?:from|by|of|thanks to) (?:his|her|their) (?:\w+ ){0,2}?(\w+)", fact)
    return any(is_named(relation, part) for part in parts)


def _names_listener(case: Case) -> bool:
    return any(place_of(name, case.fact) >= 0 for name, who in case.names.items() if who != case.source.name)


def check_possessors(case: Case) -> Outcome:
    """Check that a possession of somebody else is not assigned to the speaker: “My sister's dog”."""
    text = " ".join(clause.text for clause in case.relevant)
    told = {stem(word) for word in cut(case.fact)}
    for found in (*_OWNED.finditer(text), *_OF_MINE.finditer(text)):
        who, owned = found["who"], {stem(word) for word in found.groups()[1:] if word}
        if who.lower() in _NOBODY or owned.isdisjoint(told) or is_named(who.lower(), case.fact) or stem(who) in told:
            continue
        if relations_in(who) or who[:1].isupper():
            return Support.NONE, f"it belongs to {who.lower()}"
    if any(_has_no_owner(found["what"].lower(), told, text, case) for found in _THEIRS.finditer(text)):
        return Support.NONE, "it belongs to somebody else"
    is_listeners = any(stem(found["what"]) in told for found in _YOURS.finditer(text))
    if is_listeners and case.named[0] == case.source.name and not _names_listener(case):
        return Support.DOUBTFUL, "it belongs to the listener"
    return GOOD


def _has_no_owner(thing: str, told: Collection[str], text: str, case: Case) -> bool:
    """Return whether the fact mentions a thing (“her dog”) without its owner."""
    owners = {word for word in relations_in(case.fact) if not is_form(stem(word), stem(thing))}
    owners |= {name for name in names_in(case.fact, case.names) if name not in text}
    is_theirs = re.search(rf"\b(?:his|her|their) (?:\w+ )?{re.escape(thing)}\b", case.fact) is not None
    return stem(thing) in told and not owners and not is_theirs


def check_relations(case: Case) -> Outcome:
    """Check that the fact mentions no relatives or pets that the messages do not mention."""
    said = {word.lower() for word in cut(case.window)}
    unknown = [
        word
        for word in relations_in(case.fact) - _ANYBODYS
        if not is_named(word, case.window) and not any(is_form(word, other) for other in said)
    ]
    return (Support.DOUBTFUL, f"nobody spoke of a {min(unknown)}") if unknown else GOOD


def check_foreign_subject(case: Case) -> Outcome:
    """Check the clause's subject in other languages than English, by the language's list of relations."""
    language, (who, is_bare) = case.language, case.named
    if language is None or who != case.source.name:
        return GOOD
    told = fold(case.fact)
    for clause in case.relevant:
        found = language.possessed_person.search(clause.text)
        before = clause.text[: found.start()] if found else ""
        if found and not language.first_person.search(before) and fold(found["who"].split()[-1])[:5] not in told:
            return (Support.NONE if is_bare else Support.DOUBTFUL), f"it is said of {found['who']}"
    return GOOD


def _stands_in(name: str, text: str) -> bool:
    return bool(name) and any(fold(word) in fold(text) for word in cut(name) if len(word) > 1)
