"""Words for relatives, friends and pets, and the subject of an English clause."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from lethe_app.language_tables import load_table, table_pattern, word_class
from lethe_app.searchable_text import WORD

_RELATION_WORD = re.compile(word_class("RELATION"), re.IGNORECASE)
_SELF_SUBJECT = re.compile(r"(?:i|im|ive|i'm|i've|i'd|i'll|we|we're|we've|we'll|we'd|me and|myself|us)\b", re.IGNORECASE)
_MY_NOUN_PHRASE = re.compile(r"(?:my|our) (?P<who>[\w'-]+(?: [\w'-]+){0,2})", re.IGNORECASE)
_JOINED_WITH_I = re.compile(r"^(?:[\w'-]+ ){1,4}(?:and|&) (?:i|me)\b", re.IGNORECASE)
_THIRD_PERSON_SUBJECT = re.compile(r"(?:he|she|they|he's|she's|they're|hes|shes|theyre|his|her|their)\b", re.IGNORECASE)
_LISTENER_SUBJECT = re.compile(r"(?:you|you're|youre|you've|you'd|you'll|u|ur|your)\b", re.IGNORECASE)


class ClauseSubject(StrEnum):
    """Subject of a clause."""

    SELF = "self"
    RELATION = "relation"
    """A relative, friend or pet of the speaker: “my mother”."""
    THIRD = "third"
    """He, she or they."""
    LISTENER = "listener"
    UNSPOKEN = "unspoken"
    """No subject at the beginning, as in “Just moved to Leeds!”."""


def find_clause_subject(clause: str) -> tuple[ClauseSubject, str]:
    """Return the subject of an English clause, and the word for a relation if it is one."""
    plain = clause.replace("’", "'")
    leading_match = table_pattern("relations", "before_subject").match(plain)
    rest = plain[leading_match.end() :] if leading_match else plain
    if _SELF_SUBJECT.match(rest):
        return ClauseSubject.SELF, ""
    if noun_phrase := _MY_NOUN_PHRASE.match(rest):
        relation = _find_head_relation(noun_phrase["who"])
        if not relation:
            return ClauseSubject.SELF, ""
        return (ClauseSubject.SELF, "") if _JOINED_WITH_I.match(rest) else (ClauseSubject.RELATION, relation)
    if _THIRD_PERSON_SUBJECT.match(rest):
        return ClauseSubject.THIRD, ""
    return (ClauseSubject.LISTENER, "") if _LISTENER_SUBJECT.match(rest) else (ClauseSubject.UNSPOKEN, "")


def find_relations(text: str) -> set[str]:
    """Return the words for relatives, friends and pets in a text, in lowercase."""
    return {
        word
        for word in map(str.lower, WORD.findall(text))
        if any(word in group for group in _groups()) or _RELATION_WORD.fullmatch(word)
    }


def is_relation_mentioned(relation: str, text: str) -> bool:
    """Return whether a text contains this relation or a word that can stand for it."""
    words = set(map(str.lower, WORD.findall(text)))
    return relation in words or any(relation in group and not group.isdisjoint(words) for group in _groups())


@cache
def _groups() -> tuple[frozenset[str], ...]:
    """Return words that can stand for each other."""
    return tuple(frozenset(words.split()) for words in load_table("relations")["groups"])


def _find_head_relation(words: str) -> str:
    """Return the relation in the noun phrase after “my”; empty if there is none before the verb."""
    for word in re.split(r"[ -]", words.lower()):
        stripped = word.removesuffix("'s").rstrip("'")
        if stripped in load_table("relations")["after_noun_phrase"]:
            return ""
        if find_relations(stripped):
            return stripped
    return ""
