"""Wording of a topic as a part of a title, with the words around it that belong to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lethe_app.brain.summary.keywords import SummaryTopic
from lethe_app.brain.text.sentences import Sentence
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.common_words import NON_TOPIC_WORDS, RELATIVE_WORDS, VERBS_THIRD
from lethe_app.brain.vocabulary.phrases import RELATIVE_OR_ANIMAL
from lethe_app.brain.vocabulary.verbs import BASE_VERBS, is_past
from lethe_app.retrieval.query_terms import STOP_WORDS, fold

MAX_WORDS = 6
"""Maximum number of words of a title's part; a title has at most one more."""
_VAGUE = frozenset(
    """
    brb damper fam madam til yr yrs bloke lads lad lady mom dads obvi prob ppl ability accomplishment achievement action
    adventure advice age air amount answer approach area aspect attention attitude balance beauty blessing break brief
    bunch case cause challenge chapter choice comfort companionship company confidence connection control couple
    creativity deal decision detail dream effect effort emotion end energy environment escape event example excitement
    fact favor favorite favourite feel fri fun fund gamer gratitude group growth importance hour hurt inclusivity input
    inspiration issue joke journey kindness level lol love luck meaning mess message middle mind mix mood motivation
    nature need news number option order part passion path peace people perk perspective photo pic picture piece point
    positivity potential progress purpose question reality reason relief reminder respect result risk routine sake self
    sense setback share shot side sign situation snap solution someone space spirit spot stage start state step strength
    stress struggle style success support surprise system talk team thanks theme therapy thought thread today topic
    touch track trick truth turn use value version vibe view way well wonder word world worry year yesterday min mins
    minute hr hrs bit lass mate guy spare mouth eyebrow wind weather
    """.split()  # noqa: SIM905 - see retrieval/query_terms
)
"""Singular nouns that do not help to recognise a session."""
_NATIONALITY = re.compile(r"(?!finish|polish|radish|rubbish|varnish)[a-z]{3,}(?:ish|ese)")
"""Adjectives of nationality such as “turkish”, which are a topic only with their noun."""
_ABSTRACT = re.compile(
    r"(?<!^ill)(?<!^fit)(?<!^busi)(?<!^wilder)ness$|(?<!^univers)(?<!^char)(?<!^c)(?<!^commun)(?<!^electric)(?<!^matern)ity$"
)
_NOUNS_IN_ING = frozenset(
    """
    driving moving reading writing swimming running cooking gaming shopping hiking camping cycling wedding dining living
    training fishing painting sewing knitting climbing riding boxing teaching nursing building parking fencing
    sailing
    """.split()  # noqa: SIM905 - see retrieval/query_terms
)
"""Words in -ing that may precede a noun: a driving test."""
_LINKS = r"(?:to|in|into|at|for|from|on|about|with|of)"
_ACTIVITY_CONTEXTS = (
    r"(?:I'm|I am|we're|we are|been|started?|starting|am|thinking (?:of|about)|love|enjoy|about|after|before|from|is|"
    r"are|finally|just|keep)"
)
_NOT_ACTIVITIES = frozenset(
    """
    going being having doing getting thinking something anything nothing everything morning evening thing during looking trying
    talking saying seeing making taking putting keeping coming amazing exciting interesting feeling missing including according
    spring string king ring bring sing wing boring loving existing following upcoming inspiring starting asking telling giving
    """.split()  # noqa: SIM905 - see retrieval/query_terms
)
"""Words in -ing that do not introduce a topic."""
_DETERMINED = re.compile(
    r"\b(?:the|my|our|his|her|their|this|that)(?P<kind> (?:new|old|first|second|third|last|own|big|"
    r"little))? $",
    re.IGNORECASE,
)
_INDEFINITE = re.compile(r"\b(?:an?) (?:(?P<kind>(?:new|old|big|little) )|(?!of\b|lot\b|few\b)[a-z]+ )?$", re.IGNORECASE)
_OWNED = re.compile(
    rf"\b(?!(?:It|He|She|That|What|There|Here|Let|Who|How|Where|Everything|One)\b)(?P<owner>[A-Z][a-zà-ÿ]+|"
    rf"{RELATIVE_OR_ANIMAL})(?:'s|’s) (?:\w+ )?$"
)
_AFTER = re.compile(
    r"^ (?P<link>at|in|for|with|to|of) (?P<the>the |my |our |a |an )?(?P<kind>new "
    r")?(?P<what>[A-Za-zà-ÿ][\w'-]{2,}(?: [A-Z]\w+)?)"
)


class TitlePhrase(NamedTuple):
    """Part of a title and its words."""

    text: str
    words: frozenset[str]


def is_nominal(topic: SummaryTopic) -> bool:
    """Return whether the topic is a noun that is meaningful in a list of titles."""
    if topic.is_name:
        return True
    words, last = topic.key.split(), topic.spelling.split()[-1].lower()
    if (
        last in VERBS_THIRD
        or (len(words) > 1 and last.endswith("s") and last[:-1] in BASE_VERBS)
        or is_past(last)
        or words[-1] in _VAGUE
        or _ABSTRACT.search(words[-1])
        or topic.spelling[0].isdigit()
        or words[0].endswith("ly")
        or (len(words) == 1 and _NATIONALITY.fullmatch(topic.spelling))
    ):
        return False
    if len(words) == 1:
        if last.endswith("ing") and last not in _NOUNS_IN_ING and not topic.definite:
            return False
        if last.endswith("s") and last[:-1] in BASE_VERBS and not topic.definite:
            return False
        return words[0] not in RELATIVE_WORDS and topic.spelling.lower() not in RELATIVE_WORDS
    return not words[0].endswith("ing") or words[0] in _NOUNS_IN_ING or topic.definite > 0


def is_denied(topic: SummaryTopic, text: str) -> bool:
    """Return whether the text negates the topic: somebody is not or does not have it."""
    denial = rf"(?:\bnot|n't|\bno|\bnever|\bwithout)\b[^,.;]{{0,15}}\b{re.escape(topic.spelling)}\b"
    return bool(re.search(denial, correct_spelling(text), re.IGNORECASE))


def is_lone_name(phrase: TitlePhrase) -> bool:
    """Return whether the phrase is nothing but the name of a person or place."""
    words = phrase.text.removeprefix("the ").split()
    named = words[-1][:1].isupper()
    return named and (len(words) == 1 or (len(words) == 2 and fold(words[0]) in RELATIVE_WORDS))


def build_phrase(topic: SummaryTopic, sentences: Sequence[Sentence], *, is_first: bool) -> TitlePhrase:
    """Return the topic as worded in the first of the sentences that contains it, with its owner, adjective and place.

    With `is_first` it begins the title and may be preceded by an activity: “Moving to Porto”.
    """
    pattern = re.compile(rf"(?<![\w'’]){re.escape(topic.spelling)}\b", re.IGNORECASE)
    for sentence in sentences:
        if (
            sentence.line in topic.lines
            and not sentence.narrates
            and (found := pattern.search(correct_spelling(sentence.text)))
        ):
            return _extend_topic(topic, correct_spelling(sentence.text), found, is_first=is_first)
    return TitlePhrase(topic.spelling, phrase_words(topic.spelling))


def _extend_topic(topic: SummaryTopic, text: str, match: re.Match[str], *, is_first: bool) -> TitlePhrase:
    before, after = text[: match.start()], text[match.end() :]
    if is_first and (activity := _add_activity(before, topic)):
        return TitlePhrase(activity, phrase_words(activity))
    name = _capitalise_name(topic)
    if owner_match := _OWNED.search(before):
        owner = owner_match["owner"]
        name = f"{owner[:1].upper() + owner[1:] if owner[:1].isupper() else 'the ' + owner}'s {name}"
    elif determiner_match := _DETERMINED.search(before):
        name = (
            name
            if topic.is_name or fold(name.partition(" ")[0]) in RELATIVE_WORDS
            else f"the{determiner_match['kind'] or ''} {name}"
        )
    elif indefinite_match := _INDEFINITE.search(before):
        name = f"the {indefinite_match['kind'] or ''}{name}"
    after_match = _AFTER.match(after) if topic.word_count <= 2 else None
    if after_match and _is_noun(after_match["what"]) and _ends_noun_phrase(after[after_match.end() :]):
        article = "" if not after_match["the"] else after_match["the"] if after_match["the"] in {"a ", "an "} else "the "
        tail = f" {after_match['link']} {article}{after_match['kind'] or ''}{after_match['what']}"
        if len((name + tail).split()) <= MAX_WORDS:
            name += tail
    return TitlePhrase(name.removeprefix("the ") if is_first else name, phrase_words(name))


def _ends_noun_phrase(rest: str) -> bool:
    """Return whether the noun phrase ends here: no further noun follows."""
    following = re.match(r" (?P<word>[A-Za-z]+)", rest)
    return following is None or fold(following["word"]) in STOP_WORDS or fold(following["word"]) in NON_TOPIC_WORDS


def _add_activity(before: str, topic: SummaryTopic) -> str:
    """Return the topic after an activity, if the sentence has one; else an empty string."""
    link = rf"(?:{_LINKS} )?(?:(?:the|a|an|my|our) )?(?:new )?"
    found = re.search(rf"{_ACTIVITY_CONTEXTS} (?P<lead>(?P<verb>[a-z]{{2,}}ing) {link})$", before, re.IGNORECASE)
    if not found or found["verb"].lower() in _NOT_ACTIVITIES or (topic.is_name and " " not in found["lead"].strip()):
        return ""
    return f"{re.sub(r' (?:my|our) ', ' the ', found['lead'])}{topic.spelling}"


def _capitalise_name(topic: SummaryTopic) -> str:
    """Return “sister ana” as “sister Ana”."""
    first, _space, rest = topic.spelling.partition(" ")
    return (
        f"{first} {rest[:1].upper()}{rest[1:]}"
        if rest and fold(first) in RELATIVE_WORDS and rest not in NON_TOPIC_WORDS
        else topic.spelling
    )


def _is_noun(word: str) -> bool:
    folded = fold(word)
    return folded not in NON_TOPIC_WORDS and folded not in VERBS_THIRD and not folded.endswith(("ing", "ly", "ed"))


def phrase_words(text: str) -> frozenset[str]:
    """Return the normalised content words of a part of a title."""
    return frozenset(fold(word) for word in re.findall(r"\w+", text) if fold(word) not in STOP_WORDS)
