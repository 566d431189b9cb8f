"""Checks of a claim's content against its quotation: hedges, negation, questions, tenses, names, numbers and wording."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from lethe_app.brain.dates import resolve
from lethe_app.brain.fact_guard.claims import (
    NUMBER_DIGITS,
    SUPPORTED,
    LocatedClaim,
    Outcome,
    SupportLevel,
    comparable_words,
    count_shared_words,
    find_names,
    is_same_word,
    join_parts,
)
from lethe_app.brain.fact_guard.languages import ENGLISH, Language, detect_language
from lethe_app.brain.fact_guard.quotations import MessageClause, split_clauses
from lethe_app.brain.vocabulary.stems import irregular_forms, stem
from lethe_app.dates.words import MONTHS, WEEKDAYS
from lethe_app.retrieval.query_terms import fold, split_words

MIN_WORD_SHARE = 0.4
"""Minimum share of the fact's content words that occur, in any form, in its message and the one before (English)."""
MIN_WORD_SHARE_OTHER_LANGUAGES = 0.34
"""The same share for other languages, whose word forms are compared by their beginnings only."""
_AUXILIARIES = frozenset({"be", "have", "do"})
_MAX_WORDS_ALL_REQUIRED = 2
"""Number of content words up to which all must be supported: “allergic to peanuts” is not “allergic to walnuts”."""
_MAX_COUNTED_NUMBER = 10
"""Largest number that a model may have counted from the messages; a missing one up to it is doubtful rather than
unsupported.
"""
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\Z")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_YEAR_WORD = re.compile(r"jahr|ann[ée]e|\ban\b|\baños?\b|年", re.IGNORECASE)
_IMPLICIT_NEGATION = re.compile(
    r"\b(?:avoid\w*|refus\w*|stop\w*|quit\w*|lack\w*|unable|hat(?:e|es|ed|ing)|dislik\w*|free|vegetarian|vegan|"
    r"allerg\w*|los[te]\w*|"
    r"miss\w*|only|single|unemployed|childless|against|gave up|giv\w+ up|fail\w*|skip\w*|struggl\w*|difficult\w*|hard|ceas\w*|"
    r"reject\w*|declin\w*|un\w{4,}|in(?:toler|abil)\w*|rarely|seldom|hardly|instead|bad(?:ly)?|poorly|wrong|forg[eo]t\w*|few|"
    r"little|prefers?|afraid|fear\w*|scared|phobia|uncomfortable|worr\w+)\b",
    re.IGNORECASE,
)
"""Words that negate without a negation marker."""
_NEGATION_IDIOM = re.compile(
    r"\b(?:can(?:'?t| ?not) (?:wait|believe|help|get enough|imagine|stop|thank|stand|bear)|could(?:n'?t| not) (?:be (?:happier|"
    r"prouder|more)|agree more|have (?:done|asked))|no (?:problem|worries|doubt|idea|kidding|way|matter)|not (?:only|just|to "
    r"mention|bad|sure|certain)|never (?:been (?:happier|better|more)|gets? old|thought)|nothing (?:beats|better|like)|"
    r"(?:do|don|does|is|was|are)(?:n'?t| not)? you|why not|don'?t (?:mind|worry|forget|know (?:what i'd|where i'd|how))|"
    r"isn'?t it|(?:wouldn'?t|would not) (?:trade|change|miss|have))\b",
    re.IGNORECASE,
)
"""Idioms with a negation marker that negate nothing."""
_LIKING = re.compile(r"\b(?:like|likes|liked|love|loves|loved|enjoy\w*|fond|ador\w*|favou?rite)\b", re.IGNORECASE)
_DISLIKING = re.compile(
    r"\b(?:hat(?:e|es|ed|ing)|dislik\w*|detest\w*|loath\w*|despis\w*|can(?:'?t| ?not) (?:stand|bear)|sick of|not a fan)\b",
    re.IGNORECASE,
)
_ABSOLUTE_WORD = re.compile(r"\b(?:always|only|every(?:one|body|thing)|all|favou?rite|best|worst)\b", re.IGNORECASE)
_ENDED_ACTIVITY = re.compile(r"\b(?:stopp?\w*|quit|gave up|given up)\b", re.IGNORECASE)
_NO_LONGER = re.compile(r"\bno longer\b|\b(?:not|n't)\b(?=.*\bany ?more\b)", re.IGNORECASE)
_PERFECT_AUXILIARY = re.compile(r"(?:\b(?:have|has|had)|'(?:ve|s|d))(?: \w+ly| been| always| never| just)? $", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|used to)\b", re.IGNORECASE)
_PRESENT = re.compile(r"\b(?:am|is|are|has|have)\b|'(?:m|re|ve)\b", re.IGNORECASE)
_PAST_FACT = re.compile(r"\b(?:was|were|had|did|been|used|once|former\w*|previous\w*|[a-z]{2,}ed|ago|gone)\b", re.IGNORECASE)
_TAG_QUESTION = re.compile(
    r",\s*(?:you know|right|eh|huh|ok|no|oder|gell|ne|non|hein|verdad|isn't it|don't you think)\s*\?", re.IGNORECASE
)
_QUESTION_OPENING = re.compile(
    r"\W*(?:do|did|does|have|has|is|are|was|can|could|should|shall|would|will|what|how|why|where|when|who|which)\b",
    re.IGNORECASE,
)
_REPORTING_VERB = re.compile(r"\b(?:tell|told|know|mention|said|say|remember)\b", re.IGNORECASE)
_DATE_WORDS = frozenset({*map(stem, (*MONTHS, *WEEKDAYS)), *MONTHS, *WEEKDAYS})
_WORD = re.compile(r"[^\W\d_]+")
_COMMA = re.compile(r"[,，]\s*")


def check_language(case: LocatedClaim) -> Outcome:
    """Return DOUBTFUL if the message's language is unknown or the fact is in another language, because rules cannot compare
    them.
    """
    if case.language is None:
        return SupportLevel.DOUBTFUL, "the language is unknown"
    fact_language = detect_language(case.claim.fact)
    return SUPPORTED if fact_language in {None, case.language} else (SupportLevel.DOUBTFUL, "it is told in another language")


def check_hedges(case: LocatedClaim) -> Outcome:
    """Check that a possibility, wish or condition in the quotation is not stated as a fact."""
    language = case.language
    if language is None or language.hedged_fact.search(case.fact):
        return SUPPORTED
    return max((_check_clause_hedge(clause, case, language) for clause in case.relevant_clauses), default=SUPPORTED)


def _check_clause_hedge(clause: MessageClause, case: LocatedClaim, language: Language) -> Outcome:
    markers = list(language.hedge.finditer(clause.text))
    has_ended = _ENDED_ACTIVITY.search(case.fact) is not None and all(
        marker[0].lower().startswith("used to") for marker in markers
    )
    if not markers or has_ended:
        return SUPPORTED
    governs_fact = any(_governs_fact(marker, clause.text, case, language) for marker in markers)
    return (SupportLevel.NONE if governs_fact else SupportLevel.DOUBTFUL), "it is no more than possible or wished"


def _governs_fact(marker: re.Match[str], text: str, case: LocatedClaim, language: Language) -> bool:
    """Return whether what follows a marker is the fact's content; in languages with final verbs, anything in the clause
    counts.
    """
    if language is not ENGLISH:
        return bool(count_shared_words(case.fact_words, comparable_words(text, language)))
    following_words = [words for word in split_words(text[marker.end() :]) if (words := comparable_words(word, language))]
    return any(count_shared_words(case.fact_words, words) for words in following_words[:2])


def check_negations(case: LocatedClaim) -> Outcome:
    """Check that a negated fact comes from a negated clause and an affirmative fact from an affirmative one."""
    language = case.language
    if language is None:
        return SUPPORTED
    return max((_check_clause_negation(clause.text, case, language) for clause in case.relevant_clauses), default=SUPPORTED)


def _check_clause_negation(text: str, case: LocatedClaim, language: Language) -> Outcome:
    objection = "one denies what the other asserts"
    if language is ENGLISH:
        text, fact = _NEGATION_IDIOM.sub(" ", text), _NEGATION_IDIOM.sub(" ", case.fact)
        # An ended activity (“stopped”) already implies “no longer”.
        if _ENDED_ACTIVITY.search(text):
            fact = _NO_LONGER.sub(" ", fact)
    else:  # in the other languages a comma separates main clauses
        text, fact = (
            max(_COMMA.split(text), key=lambda part: count_shared_words(case.fact_words, comparable_words(part, language))),
            case.fact,
        )
    markers, is_fact_negated = list(language.negation.finditer(text)), bool(language.negation.search(fact))
    if bool(markers) == is_fact_negated:
        return SUPPORTED
    if language is ENGLISH and (_IMPLICIT_NEGATION.search(fact) or _IMPLICIT_NEGATION.search(text)):
        return SupportLevel.DOUBTFUL, objection
    if is_fact_negated:
        return SupportLevel.DOUBTFUL if language.negation.search(case.message_text) else SupportLevel.NONE, objection
    if _governs_fact(markers[0], text, case, language):
        return SupportLevel.NONE, objection
    words_after_marker = comparable_words(text[markers[0].end() :], language)
    return (SupportLevel.DOUBTFUL, objection) if count_shared_words(case.fact_words, words_after_marker) else SUPPORTED


def check_sentiments(case: LocatedClaim) -> Outcome:
    """Check that a dislike is not stated as a liking, and vice versa."""
    text = " ".join(clause.text for clause in case.relevant_clauses)
    if _DISLIKING.search(text) and not _LIKING.search(text) and _LIKING.search(case.fact) and not _is_negated(case.fact):
        return SupportLevel.NONE, "the speaker does not like it"
    if _LIKING.search(text) and not _DISLIKING.search(text) and _DISLIKING.search(case.fact) and not _is_negated(text):
        return SupportLevel.NONE, "the speaker likes it"
    return SUPPORTED


def _is_negated(text: str) -> bool:
    return bool(ENGLISH.negation.search(text))


def check_questions(case: LocatedClaim) -> Outcome:
    """Check that the fact does not come from a question alone; a question that also states something is only doubtful."""
    clause_text = " ".join(clause.text for clause in case.relevant_clauses)
    if not all(clause.is_question for clause in case.relevant_clauses) or _TAG_QUESTION.search(clause_text):
        return SUPPORTED
    is_open = _QUESTION_OPENING.match(clause_text) and not _REPORTING_VERB.search(clause_text)
    return (SupportLevel.NONE if is_open else SupportLevel.DOUBTFUL), "it is a question"


def check_tenses(case: LocatedClaim) -> Outcome:
    """Check that something in the past tense is not stated in the present tense."""
    is_past = all(_PAST.search(clause.text) and not _PRESENT.search(clause.text) for clause in case.relevant_clauses)
    if is_past and _PRESENT.search(case.fact) and not _PAST_FACT.search(case.fact):
        return SupportLevel.DOUBTFUL, "it was so once"
    past_verbs = {stem(word) for clause in case.relevant_clauses for word in _find_past_verbs(clause.text)}
    present_verbs = {stem(word) for word in split_words(case.fact) if word.endswith("s") and word.islower()}
    is_ongoing = any(re.search(r"\b(?:still|now|since)\b", clause.text, re.IGNORECASE) for clause in case.relevant_clauses)
    return (SupportLevel.DOUBTFUL, "it was so once") if past_verbs & present_verbs and not is_ongoing else SUPPORTED


def _find_past_verbs(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        low = match[0].lower()
        base = irregular_forms().get(low, "be")
        is_past = low.endswith("ed") or (base not in _AUXILIARIES and not low.endswith(("s", "ing")))
        if is_past and not _PERFECT_AUXILIARY.search(text[: match.start()]):
            yield low


def check_absolutes(case: LocatedClaim) -> Outcome:
    """Check that words such as “only” or “favourite” were said and not added by the model."""
    source_words = {stem(found) for found in _ABSOLUTE_WORD.findall(case.window)}
    added = {stem(found) for found in _ABSOLUTE_WORD.findall(case.fact)} - source_words
    return (SupportLevel.DOUBTFUL, f"nobody said {min(added)}") if added else SUPPORTED


def check_names(case: LocatedClaim) -> Outcome:
    """Check that every name and number was said; a date may follow from the date of the message."""
    are_names_capitalized = case.language is not None and case.language.has_capitalized_names
    names = find_names(case.fact, case.speakers_by_name) if are_names_capitalized else []
    leading_words = {token for word in names[:1] if case.fact.startswith(word) for token in _normalized_words(word)}
    numbers = {token for token in _normalized_words(case.fact) if token.isdigit()}
    required = numbers | {token for word in [*names, *_KATAKANA.findall(case.fact)] for token in _normalized_words(word)}
    source_words = set(_source_words(case))
    missing = {
        token
        for token in required - {token for name in case.speakers_by_name for token in _normalized_words(name)}
        if not any(is_same_word(token, source_word) or _is_abbreviated(token, source_word) for source_word in source_words)
    }
    if not missing:
        return SUPPORTED
    uncertain = (
        leading_words
        | {token for token in missing if token.isdigit() and int(token) <= _MAX_COUNTED_NUMBER}
        | _normalized_words(case.session_text)
    )
    if case.language is not ENGLISH:
        uncertain |= {*MONTHS, *numbers}
    return (SupportLevel.DOUBTFUL if missing <= uncertain else SupportLevel.NONE), f"nobody said {min(missing)}"


def _source_words(case: LocatedClaim) -> Iterator[str]:
    """Yield the names and numbers around the message, and those that follow from its date."""
    day = case.source.time.date()
    yield from _normalized_words(case.window)
    yield from (str(day.year), MONTHS[day.month - 1])
    for clause in split_clauses(case.window):
        yield from _normalized_words(resolve.resolve_dates(clause.text, day, event=True))
    for word in map(fold, split_words(case.window)):
        for number, name in enumerate(WEEKDAYS):
            if word in {name, name[:3]}:
                yield from _weekday_date_words(day, number)
    is_month_named = any(_is_abbreviated(month, word) for word in map(fold, split_words(case.window)) for month in MONTHS)
    if is_month_named or (case.language is not ENGLISH and _YEAR_WORD.search(case.message_text)):
        yield from (str(day.year - 1), str(day.year + 1))


def _weekday_date_words(day: date, weekday: int) -> Iterator[str]:
    """Yield the day, month and year of a weekday's dates from the week before `day` to two weeks after it."""
    for offset in range(-7, 15):
        nearby_day = day + timedelta(offset)
        if nearby_day.weekday() == weekday:
            yield from (str(nearby_day.day), MONTHS[nearby_day.month - 1], str(nearby_day.year))


def _is_abbreviated(word: str, abbreviation: str) -> bool:
    return word in {*WEEKDAYS, *MONTHS} and len(abbreviation) >= 3 and word.startswith(abbreviation)


def check_wording(case: LocatedClaim) -> Outcome:
    """Check that the fact shares enough content words with its source; otherwise it may be another fact."""
    fact_words = {word for word in case.fact_words if not (word.isdigit() or word in _DATE_WORDS)}
    for sentiment in (_LIKING, _DISLIKING):
        if sentiment.search(case.message_text):  # “can't stand” supports “dislikes”, though they share no word
            fact_words -= {stem(word) for found in sentiment.findall(case.fact) for word in split_words(found)}
    if not case.fact_words:
        return SupportLevel.NONE, "it says nothing"
    index = case.quotation.message_index
    quoted_words = comparable_words(" ".join(clause.text for clause in case.quotation.clauses), case.language)
    source_words = comparable_words("\n".join(map(join_parts, case.parts[max(0, index - 1) : index + 1])), case.language)
    min_share = MIN_WORD_SHARE if case.language is ENGLISH else MIN_WORD_SHARE_OTHER_LANGUAGES
    min_overlap = (
        len(fact_words)
        if len(fact_words) <= _MAX_WORDS_ALL_REQUIRED and case.language is ENGLISH
        else min_share * len(fact_words)
    )
    is_supported = (
        count_shared_words(case.fact_words, quoted_words) > 0 and count_shared_words(fact_words, source_words) >= min_overlap
    )
    return SUPPORTED if is_supported else (SupportLevel.DOUBTFUL, "the words are others")


def _normalized_words(text: str) -> set[str]:
    """Return the folded words of a text, small numbers as digits."""
    words = [fold(word) for word in [*split_words(text), *_KATAKANA.findall(text)]]
    return {NUMBER_DIGITS.get(word) or NUMBER_DIGITS.get(word.removesuffix("s")) or _ORDINAL.sub("", word) for word in words}
