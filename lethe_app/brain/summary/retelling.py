"""Conversion of an utterance into a statement about its speaker: “I'm moving to Porto” becomes “Tomas is moving to Porto”."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lethe_app.brain.reading.third_person import finish_sentence, rewrite_in_third_person
from lethe_app.brain.text.clauses import strip_fillers
from lethe_app.brain.text.reported_speech import MAX_QUOTE_LENGTH, STORY_PREFIX, remove_opener, shorten
from lethe_app.brain.text.sentences import Sentence, split_sentences
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.common_words import DETERMINERS, NON_TOPIC_WORDS, RELATIVE_WORDS, VERBS_THIRD
from lethe_app.brain.vocabulary.phrases import RELATIVE_OR_ANIMAL
from lethe_app.brain.vocabulary.verbs import BASE_VERBS, VERBS_ALSO_NOUNS, is_past, third_person_form
from lethe_app.dates import resolve
from lethe_app.retrieval.query_terms import STOP_WORDS, WORD, fold

_FIRST_PERSON = re.compile(r"(?<![\w'])(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)(?![\w])")
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself|you're|you've)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,:;]| and | but | [-–—]+ ")
_WISH_ME = re.compile(r"(?:I )?wish (?:me|us)\b", re.IGNORECASE)
_ON_ONES_OWN = re.compile(r"(?:\w+ )?on (?:my|our) own\W*$", re.IGNORECASE)
_GENERIC_YOU = re.compile(
    r"\b(?:if|when|where|because|how|unless|until|while) you\b|\byou(?:'re| are| can| can't| cannot| could| never| always|"
    r" have to|"
    r" need| get| see| want| would|'d| just| don't| must| shouldn't| end up| go)\b",
    re.IGNORECASE,
)
"""“You” in the sense of anybody."""
_WE = {"we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves"}
_FIRST_PERSON_PLURAL = re.compile(r"(?<![\w.'])(?:[Ww]e|us|[Oo]urs?|ourselves)(?![\w.])")
_LETS = re.compile(r"\blet'?s\b", re.IGNORECASE)
_UNCONVERTED = re.compile(r"(?<![\w'])(?:I|I'm|I've|I'll|I'd|my|me|we|our)(?![\w'])")
_LEADING_PRONOUN = re.compile(
    r"^(?:it|it's|its|that|that's|they|they're|their|he|he's|his|she|she's|this|these|those|them|there|there's|which|such|so|"
    r"then|one|both|neither)\b|^(?:I|we) (?:\w+ ){1,3}(?:it|them|"
    r"him|her|one)(?:$| (?!who|that))|^(?:(?:really|also|just|totally|definitely|always) )?(?:made|makes|reminded|reminds|"
    r"helped|helps|"
    r"gave|gives|means|meant|showed|shows|inspired|pushed|kept|keeps) (?:me|us)\b",
    re.IGNORECASE,
)
_ANNOUNCEMENT = re.compile(
    r"^(?:[\w' ]{1,30}: |dear \w+, |[^.!?]{0,60}\bsince we(?:'ve)? (?:last )?(?:talked|spoke|chatted|met)(?: last)?\s*"
    r"(?:[-–—,:]+|\band\b)\s*)(?=(?:I|I've|I'm|my|we|we've)\b)",
    re.IGNORECASE,
)
"""Announcement before the content: “Big news: I …”, “Things have been great since we last talked - I …”."""
_SHOWN_MEDIA = re.compile(
    r"\b(?:(?:here's|here is|here are|check out|look at|this is|these are) (?:an? |the |this |my |some )?(?:\w+ )?"
    r"(?:pic|photo|picture|link|video|snap|shot)s?|here(?:'s| is| are) (?:what|how|the|some)|check (?:it|this|them) out|"
    r"take a look)\b",
    re.IGNORECASE,
)
_FINITE_VERB = re.compile(
    r"\b(?:is|are|was|were|am|isn't|aren't|wasn't|weren't|does|do|did|has|have|had|will|would|can|could|should|might|must|may|"
    r"don't|doesn't|didn't|can't|won't|couldn't|hasn't|haven't|goes|gets|makes|says|came|means|helps|feels|looks|"
    r"seems|keeps)\b|"
    r"\b(?:it|he|she|that|there|here|what|who|where|how|everything|name)'s\b|'(?:re|ve|ll|m|d)\b",
    re.IGNORECASE,
)
_THIRD_FORMS = frozenset(map(third_person_form, BASE_VERBS)) | VERBS_THIRD | (BASE_VERBS - VERBS_ALSO_NOUNS)
_INVERSION = re.compile(
    r"^(?:do|does|did|can|could|will|would|is|are|was|were|have|has|should|"
    r"please|wish me|kindly|tell|show|give|help|myself|you|you're|your)\b",
    re.IGNORECASE,
)
_GUESS_WHO = re.compile(r"^guess who (?=\w)", re.IGNORECASE)
_FOR_ME = re.compile(r"^(?:as )?for me, (?=I\b)|^I(?:'ll| will) be honest, |^(?:but )?about \w+, (?=I\b)", re.IGNORECASE)
_AND_I = re.compile(r",? and (?=I(?:'\w+)? )")
_PICTOGRAM = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]|(?<=[\\s.!?])(?:[:;]-?[)(DPp]|<3|\\^\\^|xD)")
_INNER_SENTENCE_END = re.compile(r"\s*[!?]+ (?P<joined>(?=(?:and|but|so)\b))?(?=\w)")
_CHAT_ABBREVIATION = re.compile(r"[\s,]*\b(?:lol|lmao|haha+|xd|tho|tbh|imo|ngl|rn|pls|plz)\b(?=[\s,.!]|$)", re.IGNORECASE)
_RELATION_AND_NAME = re.compile(rf"\b(?P<who>[Mm]y (?:\w+ )?{RELATIVE_OR_ANIMAL}) (?P<name>[a-z]{{3,}})\b")
_GERUND = re.compile(
    r"^(?!(?:during|nothing|something|anything|everything|being|morning|evening|king|thing|bring|spring|ring|string)\b)"
    r"[a-z]{2,}ing\b",
    re.IGNORECASE,
)
_FEELING_WITHOUT_SUBJECT = re.compile(
    r"(?:looking forward to|(?:(?:so|very|really|super|pretty|too) )?(?:busy|happy|glad|excited|tired|proud|grateful|thankful|"
    r"nervous|"
    r"scared|exhausted|relieved|ready))\b",
    re.IGNORECASE,
)
_NO_SUBJECT = re.compile(
    r"^(?:love|hate|miss|need|want|hope|feel|think|guess|wish|can't|cannot|couldn't|didn't|don't|haven't|had|got|"
    r"been(?! (?:an?|the|so|such|too)\b))\b",
    re.IGNORECASE,
)


def retell(sentence: Sentence, listener: str) -> str | None:
    """Return an English sentence as a statement in the third person with a full stop.

    `listener` is the name of the listener. None if it cannot be converted: a question, a fragment, a pronoun without its noun,
    or a “we” whose members are unknown.
    """
    text = _prepare_text(sentence, listener)
    if (
        _WISH_ME.match(text)
        or sentence.asks
        or text.isupper()
        or not is_statement(text)
        or starts_with_pronoun(sentence.text)
        or is_showing_media(text)
    ):
        return None
    statement = _retell_text(text, sentence.name, listener)
    return add_story_prefix(statement, sentence) if statement else None


def retell_joined(sentence: Sentence, earlier: Sentence, listener: str) -> str | None:
    """Return a sentence that refers to an earlier one joined with that one, as one statement; None if they cannot be
    converted.
    """
    first = retell(earlier, listener)
    text = _prepare_text(sentence, listener)
    if first is None or sentence.asks or not is_statement(text) or _LETS.search(text) or _SECOND_PERSON.search(text):
        return None
    rest = _rewrite_in_third_person(text, sentence.name, listener) if _FIRST_PERSON.search(text) else finish_sentence(text)
    if not rest or _UNCONVERTED.search(rest) or len(first) + len(rest) > MAX_QUOTE_LENGTH:
        return None
    first_word = rest.partition(" ")[0]
    return f"{first.rstrip('.')}; {rest if first_word == sentence.name else rest[:1].lower() + rest[1:]}"


def retell_all(sentences: Sequence[Sentence]) -> str | None:
    """Return the sentences of one speaker in the third person, one after the other; the first must be understood alone.

    None if one of them cannot be converted.
    """
    result = ""
    for sentence in sentences:
        text = _prepare_text(sentence, "")
        statement, separator = retell(sentence, "") if has_subject(sentence.text) else None, " "
        if statement is None and result and not sentence.asks and is_statement(text) and not _SECOND_PERSON.search(text):
            statement = (
                _rewrite_in_third_person(text, sentence.name, "") if _FIRST_PERSON.search(text) else finish_sentence(text)
            )
            result, separator = result.rstrip("."), "; "  # a pronoun stays with what it stands for
        if not statement or _UNCONVERTED.search(statement):
            return None
        is_name = statement.startswith(sentence.name)
        result = (
            f"{result}{separator}{statement[:1].lower() + statement[1:] if separator == '; ' and not is_name else statement}"
            if result
            else statement
        )
    return result or None


def add_story_prefix(statement: str, sentence: Sentence) -> str:
    """Return the statement, with the prefix of the story if the sentence is in character."""
    return f"{STORY_PREFIX}{statement}" if sentence.in_story else statement


def is_statement(text: str) -> bool:
    """Return whether an English text has a verb, so that it is a sentence by itself."""
    found = [word.lower() for word in re.findall(r"[\w']+", text)]
    if len(found) < 3:
        return False
    has_verb = bool(_FINITE_VERB.search(text)) or any(word in _THIRD_FORMS or is_past(word) for word in found[1:])
    return has_verb or bool(_NO_SUBJECT.match(text)) or found[0] in {"i", "we", "they"} or is_past(found[0])


def starts_with_pronoun(text: str) -> bool:
    """Return whether an English sentence begins with a pronoun whose noun is in the sentence before."""
    return bool(_LEADING_PRONOUN.match(strip_fillers(correct_spelling(remove_opener(text)))))


def starts_with_he_or_she(text: str) -> bool:
    """Return whether that pronoun is “he” or “she”."""
    return bool(re.match(r"(?:he|she|his|her)\b", strip_fillers(correct_spelling(remove_opener(text))), re.IGNORECASE))


def is_showing_media(text: str) -> bool:
    """Return whether the sentence only hands over a picture or a link."""
    return bool(_SHOWN_MEDIA.search(text))


def _prepare_text(sentence: Sentence, listener: str) -> str:
    """Return the content of the sentence with corrected spelling, a subject, and its dates spelt out."""
    text = _remove_lead(correct_spelling(remove_opener(sentence.text)))
    text = _PICTOGRAM.sub("", _ANNOUNCEMENT.sub("", text)).replace("`", "'").strip(" \t,.!?;:-–—")
    if listener:
        name = re.escape(listener.split(maxsplit=1)[0])
        text = re.sub(rf",? {name}$|^{name},? (?=(?:I|my)\b)", "", text, flags=re.IGNORECASE)
    text = _RELATION_AND_NAME.sub(
        _capitalise_name,
        _INNER_SENTENCE_END.sub(lambda end: "; " if end["joined"] is None else " ", _CHAT_ABBREVIATION.sub("", text)),
    )
    text = _FIRST_PERSON_PLURAL.sub(lambda found: _third_plural(found[0]), _add_subject(text))
    resolved = resolve.resolve_dates(text, sentence.day) if sentence.day is not None else text
    return shorten(resolved, MAX_QUOTE_LENGTH).rstrip("…")


def _remove_lead(text: str) -> str:
    """Remove the fillers before the content."""
    content = strip_fillers(text)
    start = text.find(content[:12]) if content else -1
    return text[start:] if start >= 0 else text


def _capitalise_name(match: re.Match[str]) -> str:
    """Return “my sister ana” as “my sister Ana”."""
    name = match["name"]
    is_word = (
        name in NON_TOPIC_WORDS
        or name in STOP_WORDS
        or name in _THIRD_FORMS
        or name in BASE_VERBS
        or is_past(name)
        or name in RELATIVE_WORDS
    )
    return match[0] if is_word or name.endswith(("ing", "ly", "'s")) else f"{match['who']} {name.capitalize()}"


def _add_subject(text: str) -> str:
    """Add the missing “I” to “Had a wild week” or “Looking for a flat — it's hard”."""
    text = _FOR_ME.sub("", _GUESS_WHO.sub("I ", text))
    first = text.partition(" ")[0].lower()
    predicate = f"{text[:1].lower()}{text[1:]}"
    is_negation = first == "not" and not predicate.lower().startswith(
        ("not only", "not just", "not everyone", "not all", "not many")
    )
    if is_negation or _FEELING_WITHOUT_SUBJECT.match(text) or text.lower().startswith(("gonna ", "going to ")):
        return f"I'm {predicate}"
    if _NO_SUBJECT.match(text) or is_past(first):
        return f"I {predicate}"
    if _GERUND.match(text):
        clause = re.split(r"\s+[-–—]+\s+|,? but |, (?=(?:it|so|I|they|he|she)\b)", text)[0]
        words = clause.lower().split()
        if not _FINITE_VERB.search(clause) and not any(is_past(word) or word in _THIRD_FORMS for word in words):
            return f"I'm {predicate}"
    return text


def _rewrite_in_third_person(text: str, name: str, listener: str) -> str | None:
    """Return the text in the third person; None if that fails."""
    second_clause = _AND_I.search(text)
    is_separate = second_clause is not None and is_statement(text[: second_clause.start()])
    # The “and” is hidden from the rewriter, which would take “…, and I have …” for a plural subject.
    statement = rewrite_in_third_person(
        _AND_I.sub(lambda found: found[0].replace("and", "&"), text) if is_separate else text, name, listener
    )
    if not statement:
        return None
    statement = replace_repeated_name(statement.replace(" & ", " and "), name)
    if not listener:
        return statement
    wrong_form = re.compile(rf"(?P<let>\b(?:let|lets|help|helps|make|makes|made) {re.escape(listener)} \w{{3,}}?)s\b")
    return wrong_form.sub(lambda found: found["let"], statement)


def _third_plural(word: str) -> str:
    pronoun = _WE[word.lower()]
    return pronoun.capitalize() if word[0].isupper() else pronoun


def remove_pictograms(text: str) -> str:
    """Return the text without emoji and emoticons."""
    return re.sub(r"  +", " ", _PICTOGRAM.sub("", text)).replace(" .", ".").strip()


def has_subject(text: str) -> bool:
    """Return whether an English sentence has a subject of its own; “Left when I was six” does not say who left."""
    plain = _remove_lead(correct_spelling(remove_opener(text)))
    return _add_subject(plain) == plain and not _ON_ONES_OWN.match(plain)


def replace_repeated_name(text: str, name: str) -> str:
    """Replace the name in the genitive by “their” where the name occurs earlier in the statement."""
    first, occurrence, rest = text.partition(name)
    return first + occurrence + re.sub(rf"\b{re.escape(name)}'s\b", "their", rest)


def _retell_text(text: str, name: str, listener: str) -> str | None:
    if _GENERIC_YOU.search(text) or _INVERSION.match(text) or _LETS.search(text):
        return None
    if _SECOND_PERSON.search(text) and not _FIRST_PERSON.search(text):
        return None
    if _FIRST_PERSON.search(text):
        statement = _rewrite_in_third_person(text, name, listener)
        is_whole = statement and not _UNCONVERTED.search(statement) and len(list(split_sentences(statement))) == 1
        return statement if is_whole else None
    if not is_statement(_CLAUSE_END.split(text)[0]):
        return None
    first = fold(WORD.findall(text)[0])
    if first == "been" or (first in VERBS_THIRD - RELATIVE_WORDS and not _FINITE_VERB.search(text)):
        return None  # it lacks its subject
    is_common = (
        first in STOP_WORDS
        or first in NON_TOPIC_WORDS
        or first in DETERMINERS
        or first in RELATIVE_WORDS
        or bool(_GERUND.match(text))
    )
    return finish_sentence(f"{name} said that {text[:1].lower() + text[1:] if is_common else text}")
