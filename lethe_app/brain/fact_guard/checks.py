"""Check of a fact that a model extracted from a session, by ten checks of the claim against the clauses that it quotes. Each
returns the support and, below FULL, the objection.

What they look for stands in `claims.toml` of the message's language; a key that a language lacks objects to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from lethe_app.brain.fact_guard.claims import Claim, LocatedClaim, SupportLevel, find_name_index
from lethe_app.brain.fact_guard.grounding import content_words, count_shared_words, is_same_word, normalize_number
from lethe_app.brain.fact_guard.quotations import MessageClause, Quotation, find_quotation, split_clauses
from lethe_app.brain.fact_guard.relations import ClauseSubject, find_clause_subject, find_relations, is_relation_mentioned
from lethe_app.brain.languages.detection import guess_language
from lethe_app.brain.reading.corrections import is_confirmed
from lethe_app.brain.reading.pieces import MessageParts
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.stems import irregular_forms, stem
from lethe_app.dates import resolve
from lethe_app.dates.words import MONTHS, WEEKDAYS
from lethe_app.domain.chat import Role
from lethe_app.language_tables import alternatives, compile_table, load_table
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS, STOP_WORDS
from lethe_app.searchable_text import fold, split_words

Outcome = tuple[SupportLevel, str]
"""Result of one check: the support, and the objection if it is not FULL."""
SUPPORTED: Outcome = (SupportLevel.FULL, "")

MIN_WORD_SHARE, MIN_FOREIGN_WORD_SHARE = 0.4, 0.34
"""Minimum share of the fact's content words that occur, in any form, in its message and the one before: in English, and in
other languages, whose word forms are compared by their beginnings only.
"""
MAX_WORDS_ALL_REQUIRED = 2
"""Number of content words up to which all must be supported: “allergic to peanuts” is not “allergic to walnuts”."""
MAX_COUNTED_NUMBER = 10
"""Largest number that a model may have counted from the messages; a missing one up to it is doubtful rather than
unsupported.
"""
WORDS_GOVERNED = 2
"""Content words after an English marker that it governs; in languages with final verbs, it governs the whole clause."""
_OF_SOMEBODY_ELSE = "it is said of somebody else"
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_POSSESSIVE = re.compile(r"\b(?:(?P<who>[\w-]+)'s|his|her|their) (?P<what>[\w-]+)(?: (?P<more>[\w-]+))?", re.IGNORECASE)
_AUXILIARIES = frozenset({"be", "have", "do"})
_COMMA = re.compile(r"[,，]\s*")
_PERFECT_AUXILIARY = re.compile(r"(?:\b(?:have|has|had)|'(?:ve|s|d))(?: \w+ly| been| always| never| just)? $", re.IGNORECASE)


def check_language(case: LocatedClaim) -> Outcome:
    """Check that the message is in a known language and the fact in the same; rules cannot compare others."""
    if not case.language:
        return SupportLevel.DOUBTFUL, "the language is unknown"
    is_same = guess_language(case.claim.fact) in {"", case.language}
    return SUPPORTED if is_same else (SupportLevel.DOUBTFUL, "it is told in another language")


def check_speaker(case: LocatedClaim) -> Outcome:
    """Check that the message is by the fact's subject, or about them."""
    speaker = case.first_named_speaker[0]
    if not speaker:
        words = {word for name in (case.claim.subject, case.fact.split(" ", 1)[0]) for word in split_words(name)}
        is_known = any(len(word) > 1 and fold(word) in fold(case.window) for word in words)
        return SUPPORTED if is_known else (SupportLevel.NONE, "nobody of the conversation is its subject")
    return SUPPORTED if speaker == case.source.name else _check_other_speaker(case, speaker)


def _check_other_speaker(case: LocatedClaim, subject: str) -> Outcome:
    """Check a claim about another person than the speaker; a persona's statement counts only if the user agrees at once."""
    is_addressed = case.find("second_person", case.relevant_text)
    if case.find("first_person", case.relevant_text) and not is_addressed:
        return SupportLevel.NONE, "the other speaker says it of themselves"
    if not is_confirmed(case.quotation.message_index, case.lines):
        return SupportLevel.NONE, "the other speaker says it and nobody agrees"
    names = [name for name, speaker in case.speakers_by_name.items() if speaker == subject]
    is_about_them = is_addressed or any(find_name_index(name, case.message_text) >= 0 for name in names)
    if case.source.role is Role.USER and not is_about_them:
        return SupportLevel.NONE, _OF_SOMEBODY_ELSE
    return SupportLevel.DOUBTFUL, "the other speaker says it"


def check_subject(case: LocatedClaim) -> Outcome:
    """Check that the clause is about the speaker: “My mother is a nurse” states nothing about the speaker's own work."""
    speaker, is_fact_subject = case.first_named_speaker
    if speaker != case.source.name or (case.language == "en" and not is_fact_subject):
        return SUPPORTED
    check = _check_english_subject if case.language == "en" else _check_relation
    support, objection = max((check(case, clause) for clause in case.relevant_clauses), default=SUPPORTED)
    return (support if is_fact_subject else max(support, SupportLevel.DOUBTFUL)), objection


def _check_english_subject(case: LocatedClaim, clause: MessageClause) -> Outcome:
    subject, relation = find_clause_subject(clause.text)
    others = find_relations(case.fact) or set(case.other_names(case.fact))
    if subject is ClauseSubject.RELATION:
        is_mentioned = is_relation_mentioned(relation, case.fact)
        return SUPPORTED if is_mentioned else (SupportLevel.NONE, f"it is said of {relation}")
    if subject is ClauseSubject.THIRD:
        return (SupportLevel.DOUBTFUL if others else SupportLevel.NONE), _OF_SOMEBODY_ELSE
    if subject is ClauseSubject.LISTENER:
        return (SupportLevel.DOUBTFUL if _is_listener_named(case) else SupportLevel.NONE), "it is said of the listener"
    # Without a pronoun, a clause that begins with the name of another person may be about that one.
    is_named = subject is ClauseSubject.UNSPOKEN and others & set(split_words(clause.text)[:1])
    return (SupportLevel.DOUBTFUL, _OF_SOMEBODY_ELSE) if is_named else SUPPORTED


def _is_listener_named(case: LocatedClaim) -> bool:
    others = (name for name, speaker in case.speakers_by_name.items() if speaker != case.source.name)
    return any(find_name_index(name, case.fact) >= 0 for name in others)


def _check_relation(case: LocatedClaim, clause: MessageClause) -> Outcome:
    table = load_table("claims", case.language)
    pattern = table.get("related_clause", "(?!)").replace("{relations}", alternatives(table.get("relations", ())))
    match = re.search(pattern, clause.text, re.IGNORECASE)
    if not match or case.find("first_person", clause.text[: match.start()]):
        return SUPPORTED
    is_mentioned = fold(match["who"].split()[-1])[:5] in fold(case.fact)
    return SUPPORTED if is_mentioned else (SupportLevel.NONE, f"it is said of {match['who']}")


def check_possessors(case: LocatedClaim) -> Outcome:
    """Check that a possession of somebody else is not assigned to the speaker: “My sister's dog”, “her dog”."""
    fact_stems = {stem(word) for word in split_words(case.fact)}
    for found in _POSSESSIVE.finditer(case.relevant_text):
        owner, thing = found["who"] or "", found["what"].lower()
        if fact_stems.isdisjoint({stem(word) for word in (thing, found["more"]) if word}):
            continue
        relations = find_relations(case.fact)
        if not owner:
            names = {name for name in case.other_names(case.fact) if name not in case.relevant_text}
            is_kept = re.search(rf"\b(?:his|her|their) (?:\w+ )?{re.escape(thing)}\b", case.fact)
            is_missing = not (names or is_kept or {word for word in relations if not is_same_word(stem(word), stem(thing))})
        else:
            is_person = find_relations(owner) or (owner[:1].isupper() and owner.lower() not in STOP_WORDS | EVERYDAY_WORDS)
            is_missing = is_person and not (is_relation_mentioned(owner.lower(), case.fact) or stem(owner) in fact_stems)
        if is_missing:
            return SupportLevel.NONE, f"it belongs to {owner.lower() or 'somebody else'}"
    return SUPPORTED


def check_hedges(case: LocatedClaim) -> Outcome:
    """Check that a possibility, wish or condition in the quotation is not stated as a fact."""
    if case.find("hedged_fact", case.fact):
        return SUPPORTED
    return max((_check_hedge(case, clause.text) for clause in case.relevant_clauses), default=SUPPORTED)


def _check_hedge(case: LocatedClaim, text: str) -> Outcome:
    markers = list(compile_table("claims", "hedge", case.language).finditer(text))
    if not markers:
        return SUPPORTED
    is_governed = any(_governs_fact(case, text, marker) for marker in markers)
    return (SupportLevel.NONE if is_governed else SupportLevel.DOUBTFUL), "it is no more than possible or wished"


def _governs_fact(case: LocatedClaim, text: str, marker: re.Match[str]) -> bool:
    """Return whether what a marker governs is the fact's content."""
    if case.language != "en":
        return bool(count_shared_words(case.fact_words, content_words(text, case.language)))
    words = [words for word in split_words(text[marker.end() :]) if (words := content_words(word))]
    return any(count_shared_words(case.fact_words, each) for each in words[:WORDS_GOVERNED])


def check_negations(case: LocatedClaim) -> Outcome:
    """Check that a negated fact comes from a negated clause and an affirmative fact from an affirmative one."""
    return max((_check_negation(case, clause.text) for clause in case.relevant_clauses), default=SUPPORTED)


def _check_negation(case: LocatedClaim, text: str) -> Outcome:
    objection, fact = "one denies what the other asserts", case.fact
    idle = compile_table("claims", "idle_negation", case.language)
    text, fact = idle.sub(" ", text), idle.sub(" ", fact)
    if case.language != "en":  # in the other languages a comma separates main clauses
        text = max(_COMMA.split(text), key=lambda part: count_shared_words(case.fact_words, content_words(part, case.language)))
    marker, is_fact_negated = case.find("negation", text), bool(case.find("negation", fact))
    if bool(marker) == is_fact_negated:
        return SUPPORTED
    if case.find("implied_negation", fact) or case.find("implied_negation", text):
        return SupportLevel.DOUBTFUL, objection
    if marker is None:
        return (SupportLevel.DOUBTFUL if case.find("negation", case.message_text) else SupportLevel.NONE), objection
    return (SupportLevel.NONE if _governs_fact(case, text, marker) else SupportLevel.DOUBTFUL), objection


def check_questions(case: LocatedClaim) -> Outcome:
    """Check that the fact does not come from a question alone; one that also states something is only doubtful."""
    if not all(clause.is_question for clause in case.relevant_clauses):
        return SUPPORTED
    is_open = case.find("question_opening", case.relevant_text)
    return (SupportLevel.NONE if is_open else SupportLevel.DOUBTFUL), "it is a question"


def check_tenses(case: LocatedClaim) -> Outcome:
    """Check that something in the past tense is not stated in the present tense."""
    past_verbs = {stem(word) for clause in case.relevant_clauses for word in _find_past_verbs(clause.text)}
    present_verbs = {stem(word) for word in split_words(case.fact) if word.endswith("s") and word.islower()}
    is_over = past_verbs & present_verbs and not case.find("ongoing", case.relevant_text)
    return (SupportLevel.DOUBTFUL, "it was so once") if is_over else SUPPORTED


def _find_past_verbs(text: str) -> Iterator[str]:
    for match in re.finditer(r"[^\W\d_]+", text):
        low = match[0].lower()
        base = irregular_forms().get(low, "be")
        is_past = low.endswith("ed") or (base not in _AUXILIARIES and not low.endswith(("s", "ing")))
        if is_past and not _PERFECT_AUXILIARY.search(text[: match.start()]):
            yield low


def check_names(case: LocatedClaim) -> Outcome:
    """Check that every name and number was said; a date may follow from the date of the message."""
    has_names = case.language and not load_table("claims", case.language).get("has_capitalized_nouns")
    names = list(case.other_names(case.fact)) if has_names else []
    numbers = {word for word in _normalized_words(case.fact) if word.isdigit()}
    required = numbers.union(*map(_normalized_words, [*names, *_KATAKANA.findall(case.fact)]))
    required -= set().union(*map(_normalized_words, case.speakers_by_name))
    source_words = set(_source_words(case))
    missing = {word for word in required if not any(is_same_word(word, other) for other in source_words)}
    if not missing:
        return SUPPORTED
    uncertain = {word for word in missing if word.isdigit() and int(word) <= MAX_COUNTED_NUMBER}
    uncertain |= _normalized_words(case.session_text)
    if case.language != "en":
        uncertain |= {*MONTHS, *numbers}
    return (SupportLevel.DOUBTFUL if missing <= uncertain else SupportLevel.NONE), f"nobody said {min(missing)}"


def _source_words(case: LocatedClaim) -> Iterator[str]:
    """Yield the names and numbers around the message, and those that follow from its date."""
    day = case.source.time.date()
    words = set(map(fold, split_words(case.window)))
    yield from _normalized_words(case.window)
    for clause in split_clauses(case.window):
        yield from _normalized_words(resolve.resolve_dates(clause.text, day, event=True))
    for near in (day + timedelta(offset) for offset in range(-7, 15)):
        name = WEEKDAYS[near.weekday()]
        if near == day or not words.isdisjoint((name, name[:3])):
            yield from (str(near.day), MONTHS[near.month - 1], str(near.year))
    is_month_named = any(word in words or word[:3] in words for word in MONTHS)
    if is_month_named or case.find("year", case.message_text):
        yield from (str(day.year - 1), str(day.year + 1))


def check_wording(case: LocatedClaim) -> Outcome:
    """Check that the fact shares enough content words with its source; otherwise it may be another fact."""
    if not case.fact_words:
        return SupportLevel.NONE, "it says nothing"
    words = {word for word in case.fact_words if not word.isdigit()}
    shared = count_shared_words(words, content_words(case.text_around(1, 0), case.language))
    quoted = content_words(" ".join(clause.text for clause in case.quotation.clauses), case.language)
    min_share = MIN_WORD_SHARE if case.language == "en" else MIN_FOREIGN_WORD_SHARE
    if case.language == "en" and len(words) <= MAX_WORDS_ALL_REQUIRED:
        min_share = 1.0
    is_supported = count_shared_words(case.fact_words, quoted) > 0 and shared >= min_share * len(words)
    return SUPPORTED if is_supported else (SupportLevel.DOUBTFUL, "the words are others")


def _normalized_words(text: str) -> set[str]:
    """Return the folded words of a text, small numbers as digits."""
    return {normalize_number(fold(word)) for word in [*split_words(text), *_KATAKANA.findall(text)]}


CHECKS: Sequence[Callable[[LocatedClaim], Outcome]] = (
    check_language,
    check_speaker,
    check_subject,
    check_possessors,
    check_hedges,
    check_negations,
    check_questions,
    check_tenses,
    check_names,
    check_wording,
)


@dataclass(frozen=True)
class CheckedClaim:
    """Result of checking a claim, with the actual location of its quotation."""

    support: SupportLevel
    reason: str = ""
    """Strongest objection; empty if there is none."""
    quotation: Quotation | None = None


def check_claim(claim: Claim, lines: Sequence[Utterance], parts: Sequence[MessageParts]) -> CheckedClaim:
    """Check one claim against the session it was extracted from; `parts` are those of `lines`.

    The support is FULL only if the quoted message states the claim plainly. It is DOUBTFUL if rules cannot decide, for
    example because the language is unknown; a model must then be asked whether the message states it.
    """
    quotation = find_quotation(claim.quote, claim.message_index, parts)
    if quotation is None:
        return CheckedClaim(SupportLevel.NONE, "the quotation does not stand there")
    case = LocatedClaim(claim, quotation, lines, parts)
    support, reason = min((check(case) for check in CHECKS), key=lambda outcome: outcome[0])
    return CheckedClaim(support, reason, quotation)
