"""Checks of a claim's content against its quotation: hedges, negation, questions, tenses, names, numbers and wording."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from lethe_app.brain.dates import resolve
from lethe_app.brain.fact_guard.claims import (
    GOOD,
    NUMBERS,
    Case,
    Outcome,
    Support,
    content,
    is_form,
    names_in,
    overlap,
    text_of,
)
from lethe_app.brain.fact_guard.languages import ENGLISH, Language, language_of
from lethe_app.brain.fact_guard.quotations import Clause, clauses_of
from lethe_app.brain.vocabulary.stems import IRREGULAR, stem
from lethe_app.retrieval.query_terms import MONTHS, cut, fold
from lethe_app.retrieval.time_expressions import WEEKDAYS

LEAST_SUPPORT = 0.4
"""Minimum share of the fact's content words that occur, in any form, in its message and the one before (English)."""
LEAST_SUPPORT_ELSEWHERE = 0.34
"""The same share for other languages, whose word forms are compared by their beginnings only."""
_AUXILIARIES = frozenset({"be", "have", "do"})
_FEW = 2
"""Number of content words up to which all must be supported: “allergic to peanuts” is not “allergic to walnuts”."""
_LARGEST_COUNT = 10
"""Largest number that a model may have counted from the messages; a missing one up to it is doubtful rather than
unsupported.
"""
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\Z")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_YEARS = re.compile(r"jahr|ann[ée]e|\ban\b|\baños?\b|年", re.IGNORECASE)
_DENYING = re.compile(
    r"\b(?:avoid\w*|refus\w*|stop\w*|quit\w*|lack\w*|unable|hat(?:e|es|ed|ing)|dislik\w*|free|vegetarian|vegan|"
    r"allerg\w*|los[te]\w*|"
    r"miss\w*|only|single|unemployed|childless|against|gave up|giv\w+ up|fail\w*|skip\w*|struggl\w*|difficult\w*|hard|ceas\w*|"
    r"reject\w*|declin\w*|un\w{4,}|in(?:toler|abil)\w*|rarely|seldom|hardly|instead|bad(?:ly)?|poorly|wrong|forg[eo]t\w*|few|"
    r"little|prefers?|afraid|fear\w*|scared|phobia|uncomfortable|worr\w+)\b",
    re.IGNORECASE,
)
"""Words that negate without a negation marker."""
_IDIOM = re.compile(
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
_TOTAL = re.compile(r"\b(?:always|only|every(?:one|body|thing)|all|favou?rite|best|worst)\b", re.IGNORECASE)
_ENDED = re.compile(r"\b(?:stopp?\w*|quit|gave up|given up)\b", re.IGNORECASE)
_NO_LONGER = re.compile(r"\bno longer\b|\b(?:not|n't)\b(?=.*\bany ?more\b)", re.IGNORECASE)
_PERFECT = re.compile(r"(?:\b(?:have|has|had)|'(?:ve|s|d))(?: \w+ly| been| always| never| just)? $", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|used to)\b", re.IGNORECASE)
_PRESENT = re.compile(r"\b(?:am|is|are|has|have)\b|'(?:m|re|ve)\b", re.IGNORECASE)
_PAST_FACT = re.compile(r"\b(?:was|were|had|did|been|used|once|former\w*|previous\w*|[a-z]{2,}ed|ago|gone)\b", re.IGNORECASE)
_TAG = re.compile(
    r",\s*(?:you know|right|eh|huh|ok|no|oder|gell|ne|non|hein|verdad|isn't it|don't you think)\s*\?", re.IGNORECASE
)
_OPEN = re.compile(
    r"\W*(?:do|did|does|have|has|is|are|was|can|could|should|shall|would|will|what|how|why|where|when|who|which)\b",
    re.IGNORECASE,
)
_TELLING = re.compile(r"\b(?:tell|told|know|mention|said|say|remember)\b", re.IGNORECASE)
_DATES = frozenset({*map(stem, (*MONTHS, *WEEKDAYS)), *MONTHS, *WEEKDAYS})
_WORD = re.compile(r"[^\W\d_]+")
_COMMA = re.compile(r"[,，]\s*")


def check_language(case: Case) -> Outcome:
    """Return DOUBTFUL if the message's language is unknown or the fact is in another language, because rules cannot compare
    them.
    """
    if case.language is None:
        return Support.DOUBTFUL, "the language is unknown"
    told = language_of(case.claim.fact)
    return GOOD if told in {None, case.language} else (Support.DOUBTFUL, "it is told in another language")


def check_hedges(case: Case) -> Outcome:
    """Check that a possibility, wish or condition in the quotation is not stated as a fact."""
    language = case.language
    if language is None or language.hedged_fact.search(case.fact):
        return GOOD
    return max((_hedge_in(clause, case, language) for clause in case.relevant), default=GOOD)


def _hedge_in(clause: Clause, case: Case, language: Language) -> Outcome:
    marks = list(language.hedge.finditer(clause.text))
    has_ended = _ENDED.search(case.fact) is not None and all(mark[0].lower().startswith("used to") for mark in marks)
    if not marks or has_ended:
        return GOOD
    governs = any(_governs(mark, clause.text, case, language) for mark in marks)
    return (Support.NONE if governs else Support.DOUBTFUL), "it is no more than possible or wished"


def _governs(mark: re.Match[str], text: str, case: Case, language: Language) -> bool:
    """Return whether what follows a marker is the fact's content; in languages with final verbs, anything in the clause
    counts.
    """
    if language is not ENGLISH:
        return bool(overlap(case.wanted, content(text, language)))
    told = [words for word in cut(text[mark.end() :]) if (words := content(word, language))]
    return any(overlap(case.wanted, words) for words in told[:2])


def check_negations(case: Case) -> Outcome:
    """Check that a negated fact comes from a negated clause and an affirmative fact from an affirmative one."""
    language = case.language
    if language is None:
        return GOOD
    return max((_negation_in(clause.text, case, language) for clause in case.relevant), default=GOOD)


def _negation_in(text: str, case: Case, language: Language) -> Outcome:
    why = "one denies what the other asserts"
    if language is ENGLISH:
        text, fact = _IDIOM.sub(" ", text), _IDIOM.sub(" ", case.fact)
        # An ended activity (“stopped”) already implies “no longer”.
        if _ENDED.search(text):  # who stopped does it no longer
            fact = _NO_LONGER.sub(" ", fact)
    else:  # a comma parts main clauses
        text, fact = max(_COMMA.split(text), key=lambda part: overlap(case.wanted, content(part, language))), case.fact
    marks, denies = list(language.negation.finditer(text)), bool(language.negation.search(fact))
    if bool(marks) == denies:
        return GOOD
    if language is ENGLISH and (_DENYING.search(fact) or _DENYING.search(text)):
        return Support.DOUBTFUL, why
    if denies:
        return Support.DOUBTFUL if language.negation.search(case.message) else Support.NONE, why
    if _governs(marks[0], text, case, language):
        return Support.NONE, why
    after = content(text[marks[0].end() :], language)
    return (Support.DOUBTFUL, why) if overlap(case.wanted, after) else GOOD


def check_sentiments(case: Case) -> Outcome:
    """Check that a dislike is not stated as a liking, and vice versa."""
    text = " ".join(clause.text for clause in case.relevant)
    if _DISLIKING.search(text) and not _LIKING.search(text) and _LIKING.search(case.fact) and not _negated(case.fact):
        return Support.NONE, "the speaker does not like it"
    if _LIKING.search(text) and not _DISLIKING.search(text) and _DISLIKING.search(case.fact) and not _negated(text):
        return Support.NONE, "the speaker likes it"
    return GOOD


def _negated(text: str) -> bool:
    return bool(ENGLISH.negation.search(text))


def check_questions(case: Case) -> Outcome:
    """Check that the fact does not come from a question alone; a question that also states something is only doubtful."""
    asked = " ".join(clause.text for clause in case.relevant)
    if not all(clause.asks for clause in case.relevant) or _TAG.search(asked):
        return GOOD
    is_open = _OPEN.match(asked) and not _TELLING.search(asked)
    return (Support.NONE if is_open else Support.DOUBTFUL), "it is a question"


def check_tenses(case: Case) -> Outcome:
    """Check that something in the past tense is not stated in the present tense."""
    past = all(_PAST.search(clause.text) and not _PRESENT.search(clause.text) for clause in case.relevant)
    if past and _PRESENT.search(case.fact) and not _PAST_FACT.search(case.fact):
        return Support.DOUBTFUL, "it was so once"
    bygone = {stem(word) for clause in case.relevant for word in _past_verbs(clause.text)}
    now = {stem(word) for word in cut(case.fact) if word.endswith("s") and word.islower()}
    still = any(re.search(r"\b(?:still|now|since)\b", clause.text, re.IGNORECASE) for clause in case.relevant)
    return (Support.DOUBTFUL, "it was so once") if bygone & now and not still else GOOD


def _past_verbs(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        low = found[0].lower()
        is_past = low.endswith("ed") or (IRREGULAR.get(low, "be") not in _AUXILIARIES and not low.endswith(("s", "ing")))
        if is_past and not _PERFECT.search(text[: found.start()]):
            yield low


def check_totals(case: Case) -> Outcome:
    """Check that words such as “only” or “favourite” were said and not added by the model."""
    said = {stem(found) for found in _TOTAL.findall(case.window)}
    added = {stem(found) for found in _TOTAL.findall(case.fact)} - said
    return (Support.DOUBTFUL, f"nobody said {min(added)}") if added else GOOD


def check_names(case: Case) -> Outcome:
    """Check that every name and number was said; a date may follow from the date of the message."""
    marks_of_names = case.language is not None and case.language.capitals_name
    names = names_in(case.fact, case.names) if marks_of_names else []
    first = {mark for word in names[:1] if case.fact.startswith(word) for mark in _marks(word)}
    numbers = {mark for mark in _marks(case.fact) if mark.isdigit()}
    wanted = numbers | {mark for word in [*names, *_KATAKANA.findall(case.fact)] for mark in _marks(word)}
    near = set(_heard(case))
    missing = {
        mark
        for mark in wanted - {mark for name in case.names for mark in _marks(name)}
        if not any(is_form(mark, other) or _is_shortened(mark, other) for other in near)
    }
    if not missing:
        return GOOD
    uncertain = first | {mark for mark in missing if mark.isdigit() and int(mark) <= _LARGEST_COUNT} | _marks(case.conversation)
    if case.language is not ENGLISH:
        uncertain |= {*MONTHS, *numbers}
    return (Support.DOUBTFUL if missing <= uncertain else Support.NONE), f"nobody said {min(missing)}"


def _heard(case: Case) -> Iterator[str]:
    """Yield the names and numbers around the message, and those that follow from its date."""
    day = case.source.time.date()
    yield from _marks(case.window)
    yield from (str(day.year), MONTHS[day.month - 1])
    for clause in clauses_of(case.window):
        yield from _marks(resolve.resolve(clause.text, day, event=True))
    for word in map(fold, cut(case.window)):
        for number, name in enumerate(WEEKDAYS):
            if word in {name, name[:3]}:
                yield from _nearest(day, number)
    is_month_named = any(_is_shortened(month, word) for word in map(fold, cut(case.window)) for month in MONTHS)
    if is_month_named or (case.language is not ENGLISH and _YEARS.search(case.message)):
        yield from (str(day.year - 1), str(day.year + 1))


def _nearest(day: date, weekday: int) -> Iterator[str]:
    """Yield the day, month and year of a weekday's dates from the week before `day` to two weeks after it."""
    for shift in range(-7, 15):
        other = day + timedelta(shift)
        if other.weekday() == weekday:
            yield from (str(other.day), MONTHS[other.month - 1], str(other.year))


def _is_shortened(mark: str, other: str) -> bool:
    return mark in {*WEEKDAYS, *MONTHS} and len(other) >= 3 and mark.startswith(other)


def check_wording(case: Case) -> Outcome:
    """Check that the fact shares enough content words with its source; otherwise it may be another fact."""
    wanted = {word for word in case.wanted if not (word.isdigit() or word in _DATES)}
    for feeling in (_LIKING, _DISLIKING):
        if feeling.search(case.message):  # whoever cannot stand it dislikes it
            wanted -= {stem(word) for found in feeling.findall(case.fact) for word in cut(found)}
    if not case.wanted:
        return Support.NONE, "it says nothing"
    place = case.quotation.place
    quoted = content(" ".join(clause.text for clause in case.quotation.clauses), case.language)
    said = content("\n".join(map(text_of, case.parts[max(0, place - 1) : place + 1])), case.language)
    least = LEAST_SUPPORT if case.language is ENGLISH else LEAST_SUPPORT_ELSEWHERE
    needed = len(wanted) if len(wanted) <= _FEW and case.language is ENGLISH else least * len(wanted)
    is_near = overlap(case.wanted, quoted) > 0 and overlap(wanted, said) >= needed
    return GOOD if is_near else (Support.DOUBTFUL, "the words are others")


def _marks(text: str) -> set[str]:
    """Return the folded words of a text, small numbers as digits."""
    words = [fold(word) for word in [*cut(text), *_KATAKANA.findall(text)]]
    return {NUMBERS.get(word) or NUMBERS.get(word.removesuffix("s")) or _ORDINAL.sub("", word) for word in words}
