"""Comparison of two facts: whether they may be compared at all, state the same, or state the same attribute of the same
person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from lethe_app.brain.text.fingerprint import compute_fingerprint, content_words
from lethe_app.dates.expressions import find_times
from lethe_app.dates.resolve import ABSOLUTE_DATE
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy
from lethe_app.language_tables import compile_entry, compile_table, load_table, table_pattern, word_class
from lethe_app.searchable_text import WORD, fold

MIN_WORD_SHARE = 0.75
"""Minimum share of a fact's content words that must occur in a sentence that ends or changes it."""
MIN_COMPARED_WORDS = 2
"""Minimum number of content words of a fact for another one to count as its change."""
ENDINGS_CACHED = 64
"""New facts of which the things that they end are cached: each is compared with thousands of known facts."""
_TABLE = "fact_changes"
_RELATION = re.compile(rf"\b{word_class('RELATION')}\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?:['’]s|['’])$")
_OWNED_RELATION = re.compile(rf"^\S+['’]s? (?:[\w-]+ ){{0,2}}?(?P<who>{word_class('RELATIVE')}|{word_class('ANIMAL')})\b")
_NAMED_RELATION = re.compile(rf"(?:\b{word_class('RELATION')},?|\b(?:called|named)) (?P<name>[A-ZÀ-ÖØ-Þ][\w'’-]*)")


def are_comparable(one: ExtractedFact, other: ExtractedFact) -> bool:
    """Return whether two facts may confirm or supersede each other: both plain, or both of the same story."""
    if one.in_story != other.in_story:
        return False
    return not one.in_story or not set(one.source_memories).isdisjoint(other.source_memories)


def owned_relation(fact: ExtractedFact) -> str:
    """Return the relative or animal of its subject with which a fact begins, as “sister” of “Tomas's sister sings.”; else an
    empty string.
    """
    relation = _OWNED_RELATION.match(fact.fact)
    return relation["who"].lower() if relation else ""


def subject_words(fact: ExtractedFact) -> tuple[str, ...]:
    """Return the subject of a fact as folded words: the name, and the relative whose attribute it states.

    The relative is omitted if the key names it: “Tomas's sister Ines lives in Porto.” is about the sister under the key
    “home” and about Tomas under the keys “sister home” and “ines home”.
    """
    words = [fold(_POSSESSIVE.sub("", word.strip(".,;:!?"))) for word in fact.fact.split()]
    name_words = tuple(map(fold, WORD.findall(fact.subject)))
    relation = owned_relation(fact)
    is_in_key = bool(_RELATION.search(fact.key)) or not set(words).isdisjoint(fact.key.split()[:1])
    if not name_words or (name_words[0] not in words and not is_in_key):
        name_words = tuple(words[:1])
    return (*name_words, relation) if relation and not is_in_key else name_words


def is_same_subject(one: ExtractedFact, other: ExtractedFact) -> bool:
    """Return whether two facts are about the same person; a full name may be shortened to its first words."""
    shorter, longer = sorted((subject_words(one), subject_words(other)), key=len)
    return longer[: len(shorter)] == shorter and not any(_RELATION.fullmatch(word) for word in longer[len(shorter) :])


def is_same_attribute(one: ExtractedFact, other: ExtractedFact) -> bool:
    """Return whether two facts state the same attribute of the same person, of which only one can be true."""
    if not one.key or one.key != other.key or not is_same_subject(one, other):
        return False
    if (
        not _RELATION.search(one.key)
        or compile_table(_TABLE, "unique_relations").search(one.key)
        or compile_table(_TABLE, "renamed").search(max(one, other, key=lambda fact: fact.last_seen).fact)
    ):
        return True
    return not _have_other_names(one, other)


def contradicts(new: ExtractedFact, old: ExtractedFact) -> bool:
    """Return whether two facts exclude each other: another value of one attribute, another count of the same thing, or its
    negation.
    """
    if is_same_attribute(new, old):
        return not denies_other_value(new, old)
    if new.key != old.key or not is_same_subject(new, old):
        return False
    new_fingerprint, old_fingerprint = (
        compute_fingerprint(compile_table(_TABLE, "temporal").sub("", new.fact)),
        compute_fingerprint(compile_table(_TABLE, "temporal").sub("", old.fact)),
    )
    if new_fingerprint.words != old_fingerprint.words or not new_fingerprint.words:
        return False
    if new_fingerprint.is_negated != old_fingerprint.is_negated:
        return new_fingerprint.numbers == old_fingerprint.numbers
    if not (new_fingerprint.numbers and old_fingerprint.numbers and new_fingerprint.numbers != old_fingerprint.numbers):
        return False
    return compile_table(_TABLE, "counting_verbs").search(new.fact) is not None and not any(map(_is_dated, (new, old)))


def denies_other_value(one: ExtractedFact, other: ExtractedFact) -> bool:
    """Return whether exactly one of two facts is a denial, and of something else than the other states: “doesn't live in Leeds
    any more” leaves “has moved to York” true. A denial without a value, as “doesn't work any more”, is one of all values.
    """
    values = sorted((_value_words(fact) for fact in (one, other)), key=len)
    return _differ_in_negation(one.fact, other.fact) and 2 * len(values[0] & values[1]) <= len(values[0]) > 0


def has_value_of(one: ExtractedFact, other: ExtractedFact) -> bool:
    """Return whether a fact gives an attribute the value that another one gives it, in whatever words."""
    value, is_same = _value_words(one), is_same_attribute(one, other) and not _differ_in_negation(one.fact, other.fact)
    return is_same and bool(value) and value <= content_words(other.fact)


def restates(new: ExtractedFact, old: ExtractedFact) -> bool:
    """Return whether a new fact states nothing of an attribute that the known one does not state as well. A denial with fewer
    words denies more.
    """
    words, known_words = _words_without_subject(new), _words_without_subject(old)
    return (
        is_same_attribute(new, old)
        and not _differ_in_negation(new.fact, old.fact)
        and (words == known_words or (words < known_words and not compute_fingerprint(new.fact).is_negated))
    )


def extends(new: ExtractedFact, old: ExtractedFact) -> bool:
    """Return whether a new fact states all that the known one states of an attribute, and more."""
    if _differ_in_negation(new.fact, old.fact):
        return False
    words, known_words = _words_without_subject(new), _words_without_subject(old)
    return known_words < words or (words < known_words and compute_fingerprint(new.fact).is_negated)


def is_ended_by(old: ExtractedFact, ended_sentence: str, new: ExtractedFact) -> bool:
    """Return whether `ended_sentence`, a sentence about something that has ended and that accompanied the fact `new`, refers to
    the known fact.
    """
    # Without the keys, one of which may name the relative: “Ines lives in Porto” under “ines home” is about the sister.
    sentence, known = new.model_copy(update={"fact": ended_sentence, "key": ""}), old.model_copy(update={"key": ""})
    if not is_same_subject(known, sentence) or _differ_in_negation(old.fact, ended_sentence):
        return False
    if _have_other_names(known, sentence):
        return False
    known_words, ended_words = _words_without_subject(old), _words_without_subject(sentence)
    shared = len(known_words & ended_words)
    owned_words = ended_words - content_words(owned_relation(sentence))
    return shared > 0 and (
        frozenset() < owned_words <= content_words(" ".join(_named_thing(old)))  # “has Rex” or “has a dog” of a dog called Rex
        or shared >= MIN_WORD_SHARE * len(known_words)
        or (ended_words <= known_words and 2 <= len(ended_words) >= len(known_words) / 2)
    )


def is_name_in_only_one(one: ExtractedFact, other: ExtractedFact) -> bool:
    """Return whether exactly one of two facts states a name: “her son is called Ben” says nothing about Ben's job.

    Embedding models place such facts close together because of the shared name.
    """
    return _is_name(one) != _is_name(other)


def states_change(new: ExtractedFact, old: ExtractedFact) -> bool:
    """Return whether a new fact states that a known one has changed: “my test is on the 20th now, not on the 13th”.

    Only facts without a key are compared by words; those with a key are superseded by key.
    """
    if not set(new.source_messages).isdisjoint(old.source_messages):
        return False
    if _is_opposed(new, old):
        return True
    if not compile_table(_TABLE, "change").search(new.fact) or not is_same_subject(new, old):
        return False
    known_words, new_words = _words_without_subject(old), _words_without_subject(new)
    ended_numbers = compile_table(_TABLE, "ended_number").finditer(new.fact)
    if any(content_words(match["number"]) <= known_words for match in ended_numbers):
        return True
    if compile_table(_TABLE, "renamed").search(new.fact) and _named_thing(new)[:1] == _named_thing(old)[:1] != ():
        return True
    is_comparable = not new.key and (not old.key or old.kind is FactKind.PLAN)
    return (
        is_comparable
        and len(known_words) >= MIN_COMPARED_WORDS
        and len(known_words & new_words) >= MIN_WORD_SHARE * len(known_words)
    )


@cache
def _opposed_patterns() -> list[tuple[re.Pattern[str], re.Pattern[str], bool]]:
    """Return the pattern of a fact that ends another, that of this other, and whether both must name the thing in full."""
    rows = [(row["other"], row["one"], "both_ways" in row) for row in load_table(_TABLE)["opposed"]]
    rows += [(old, new, True) for new, old, is_both in rows if is_both]
    return [(compile_entry(new), compile_entry(old), is_both) for new, old, is_both in rows]


@lru_cache(ENDINGS_CACHED)
def _find_endings(text: str) -> list[tuple[re.Pattern[str], str, bool]]:
    """Return for each thing that a fact ends the pattern of such a fact, the thing, and whether it must be named in full."""
    found = ((new.search(text), old, is_whole) for new, old, is_whole in _opposed_patterns())
    return [(old, next(filter(None, match.groups())), is_whole) for match, old, is_whole in found if match]


def _is_opposed(new: ExtractedFact, old: ExtractedFact) -> bool:
    """Return whether a new fact ends a known one by its verb: “sold the Volvo” ends “drives an old Volvo”."""
    for pattern, thing, is_whole in _find_endings(new.fact):
        if known := pattern.search(old.fact):
            words, known_words = _thing_words(thing), _thing_words(next(filter(None, known.groups())))
            is_same = words == known_words or (words < known_words and not is_whole)
            is_named = thing[:1].isupper() and new.subject == old.subject
            if words and is_same and (is_named or is_same_subject(new, old)):
                return True
    return False


def _thing_words(text: str) -> frozenset[str]:
    """Return the content words of what a fact is about, without dates and words of time."""
    return content_words(ABSOLUTE_DATE.sub("", compile_table(_TABLE, "temporal").sub("", text)))


def is_contained_in(fact: ExtractedFact, other: ExtractedFact) -> bool:
    """Return whether another fact without a key, from the same message, contains all content words of this fact."""
    is_from_same = not set(fact.source_messages).isdisjoint(other.source_messages)
    return is_from_same and not other.key and _words_without_subject(fact) <= _words_without_subject(other)


def reword_fact(fact: ExtractedFact, text: str, known: Iterable[ExtractedFact]) -> ExtractedFact:
    """Return a fact with another text. It keeps its attribute only if it still has one of the old words, and it is about
    the person with whose name the text begins; `known` are the facts that name people.
    """
    first_word = _POSSESSIVE.sub("", text.split(maxsplit=1)[0].strip(".,;:!?"))
    subjects = {other.subject for other in (fact, *known) if other.subject}
    named = max((name for name in subjects if fold(name.split()[0]) == fold(first_word)), key=len, default="")
    reworded = fact.model_copy(update={"fact": text, "subject": named})
    old_words, new_words = _words_without_subject(fact), _words_without_subject(reworded)
    return reworded if old_words & new_words else reworded.model_copy(update={"key": ""})


def find_duplicates(fact: ExtractedFact, known: Iterable[ExtractedFact]) -> list[ExtractedFact]:
    """Return the other facts with the same words in the same order, those not superseded first."""
    fingerprint = compute_fingerprint(fact.fact)
    duplicates = [
        other
        for other in known
        if other.guid != fact.guid and are_comparable(fact, other) and compute_fingerprint(other.fact) == fingerprint
    ]
    return sorted(duplicates, key=lambda other: other.superseded)


def is_paraphrase(fact: ExtractedFact, others: Iterable[ExtractedFact]) -> bool:
    """Return whether a fact paraphrases one of the others: from a common message, sharing half of the content words of the
    shorter one.

    The words of its subject are ignored, because they occur in every fact about that person. A fact by the user never counts
    as a paraphrase.
    """
    if fact.made_by is MadeBy.USER:
        return False
    messages, fact_words = set(fact.source_messages), content_words(fact.fact)
    for other in others:
        if messages.isdisjoint(other.source_messages):
            continue
        other_words = content_words(other.fact)
        shared_subject = content_words(fact.fact.split(" ", 1)[0]) & content_words(other.fact.split(" ", 1)[0])
        shared, fewer = (
            (fact_words & other_words) - shared_subject,
            min(len(fact_words - shared_subject), len(other_words - shared_subject)),
        )
        if fewer and 2 * len(shared) >= fewer:
            return True
    return False


def _is_name(fact: ExtractedFact) -> bool:
    return fact.key.rsplit(" ", 1)[-1] == "name"


def _words_without_subject(fact: ExtractedFact) -> frozenset[str]:
    """Return the content words of a fact without the name of its subject."""
    return content_words(fact.fact) - content_words(" ".join(subject_words(fact)[:1]))


def _value_words(fact: ExtractedFact) -> frozenset[str]:
    """Return the words of a fact that tell the value of its attribute: without its subject, verb, dates and times."""
    words = compute_fingerprint(compile_table(_TABLE, "temporal").sub("", fact.fact))
    others = " ".join((*subject_words(fact), owned_relation(fact), fact.key, *load_table(_TABLE)["verbs_of_attributes"]))
    return (words.words - content_words(others)) or words.numbers


def _named_thing(fact: ExtractedFact) -> tuple[str, ...]:
    """Return what a fact says is called by a name, and the name: boat and Heron of “has a boat called the Heron”."""
    thing = table_pattern(_TABLE, "named_thing", flags=0).search(fact.fact)
    return tuple(map(fold, thing.groups())) if thing else ()


def _have_other_names(one: ExtractedFact, other: ExtractedFact) -> bool:
    """Return whether two facts name different people or animals."""
    names = {fold(match["name"]) for fact in (one, other) if (match := _NAMED_RELATION.search(fact.fact))}
    return len(names) > 1


def _is_dated(fact: ExtractedFact) -> bool:
    """Return whether the numbers of a fact may be a day or year, so that another number means another event."""
    if fact.kind in {FactKind.EVENT, FactKind.PLAN}:
        return True
    return any(time.is_calendar_date for time in find_times(fact.fact, fact.last_seen.date()))


def _differ_in_negation(one: str, other: str) -> bool:
    return compute_fingerprint(one).is_negated != compute_fingerprint(other).is_negated
