"""Keeps what the user tells of their life in their own words, where no rule has put all of it into a statement.

A sentence is kept if `fact_classifier` finds it worth keeping. One in the first person that stands alone is told in the third
person; any other is quoted, with the sentence or the question it refers to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from lethe_app.brain import dating, fact_classifier
from lethe_app.brain.dialogue_acts import Meaning, Piece
from lethe_app.brain.fact_sentences import features
from lethe_app.brain.gist import content_words
from lethe_app.brain.quotable import parts, split_sentences
from lethe_app.brain.said import Said
from lethe_app.brain.spelling import tidy
from lethe_app.brain.third_person import rewrite
from lethe_app.domain.facts import FactKind

WORTH_KEEPING = 0.5
"""Probability from which a sentence is kept."""
TELLS_SOMETHING = 0.12
"""Probability below which a sentence is a mere reaction, to which no other refers."""
NEW = 0.3
"""Share of the content words of a sentence that no statement of its message has, from which it is kept beside them."""
CLEAR = 3
"""Content words from which a sentence tells something though nobody knows what it refers to."""
LONGEST = 400
"""Characters of a quotation."""
MOST_BEFORE = 3
"""Sentences before one among which the one that it refers to is looked for."""
LONGEST_QUESTION = 16
"""Words of a question of the persona that is quoted with its answer."""
_LEAD = re.compile(
    r"^(?:(?:oh|and|also|so|but|well|ok|okay|anyway|anyways|btw|by the way|(?:ha)+h?|heh|lol|lmao|yes|yeah|yep|ya|hey|hi|hello|"
    r"ugh|omg|wow|fair|true|thanks|thank you|sorry|tbh|honestly|actually|hmm+|um+|uh+|er|right|cool|great|nice|sure|exactly|"
    r"see|look|listen|plus|aw+|ah|aye|god|damn|anyhow|grand|like|dude|bro|girl|man|then|though|tho|cause|cuz|because|bc)\b"
    r"[\s,.!;:…-]*|\W+(?=\w))+(?=\S)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[\s,.!;:…-]*\b(?:lol|lmao|(?:ha){2,}h?|xd+|btw|tho|though|tbh|fr|ngl|you know|yk|innit|anyway|i guess)\b|"
    r"[\s\u2600-\u27bf\ufe0f\u200d\U0001f300-\U0001faff]+)+[\s.!]*$",
    re.IGNORECASE,
)
_DENIAL = re.compile(r"^(?:no|nah|nope|not really)\b[\s,.!-]+(?=(?:I|I'm|I've|my)\b)", re.IGNORECASE)
"""What is denied is the question; the sentence stands without it."""
_POINTS = re.compile(
    r"\b(?:he|she|they|him|her|them|his|their|theirs|hers|he's|she's|they're|he'll|she'll|he'd|she'd)\b|"
    r"^(?:it|its|it's|that|that's|this|those|these|there|both|one|which|who|where|not|same|only|just|since|until|till|for|"
    r"with|in|at|on|to|from)\b|\bit(?!'s| is| was| has| will| would)\b|\b(?:that|this|those|there)$",
    re.IGNORECASE,
)
"""May refer to what was said before."""
_DUMMY = re.compile(
    r"^(?:it's|its|it is|it was|that's|this is) (?:my|a|an|the|our|been|so|too|in|on|at|\d)\b|"
    r"^(?:there's|there is|there are|there was|there were) \w",
    re.IGNORECASE,
)
_PERSON_OR_THING = re.compile(r"\b(?:my|our|an?|the|some|two|three|\d+) [\w'-]{2,}|(?<!^)(?<![.!?] )\b[A-Z][a-z]+")
_FIRST_PERSON = re.compile(r"^(?:I|I'm|I've|I'd|I'll|my)\b", re.IGNORECASE)
_ELLIPSIS = re.compile(
    r"^I(?:'m|'ve| am| do| did| have| will| can| was| would)?(?: not| too)?(?:[,.!;]|$)|"
    r"^I (?:do|did|have)(?: not)? (?:on|in|at|last|yesterday|already|once|for|since|until|so)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"\b(?:you|your|yours|yourself|we|us|our|ours|ourselves|this|these|here)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\b(?:I|I'm|I've|I'd|I'll|my|we|we're|we've|our|she|he|they|he's|she's|it's|they're|there's)\b|^(?:it|there)\b",
    re.IGNORECASE,
)
_SHORT = 6
"""Words of a sentence without a subject up to which it is taken for the rest of the one before."""
_QUOTES = str.maketrans({"“": "'", "”": "'", '"': "'"})


@dataclass(frozen=True)
class Told:
    """One thing worth keeping, as a sentence about its speaker that stands alone."""

    text: str
    messages: tuple[UUID, ...]
    """The message that says it; for an answer its question first."""
    kind: FactKind


@dataclass(frozen=True)
class _Sentence:
    text: str
    tidied: str
    """Spelt as rules read it, without what introduces or ends it."""
    features: frozenset[str]
    probability: float
    """Of being worth keeping."""

    @property
    def is_kept(self) -> bool:
        return self.probability >= WORTH_KEEPING


def find(
    line: Said, pieces: Sequence[Piece], asked: Said | None, stated: Iterable[str], said: Collection[str] = ()
) -> Iterator[Told]:
    """Yield what a message of the user tells beyond what rules have `stated` of it.

    `asked` is the message it replies to. Its question is quoted only if personas ask such things or its words are among the
    `said` content words of the user: nothing that a persona makes up gets into a fact.
    """
    question = question_of(asked.text) if asked else ""
    is_plain = fact_classifier.knows_question(question, said)
    known = frozenset[str]().union(*map(content_words, stated), content_words(line.name))
    plain = [piece.text for piece in pieces if piece.meaning is Meaning.PLAIN]
    sentences = [_judged(text, question if place == 0 else "", place) for place, text in enumerate(plain)]
    for start, group in _groups(sentences):
        words = frozenset[str]().union(*(content_words(one.tidied) for one in group if one.is_kept))
        if not words or len(words - known) < NEW * len(words):
            continue
        kind = fact_classifier.kind(next(one.features for one in group if one.is_kept))
        answers = asked is not None and start == 0 and is_plain and _needs(question, group[0])
        if not answers and _refers(group[0]) and len(words) < CLEAR:
            continue
        if len(group) == 1 and (told := _in_third_person(group[0].tidied, line)):
            yield Told(told, (line.id,), kind)
            continue
        quotation = f"{line.name} said: “{_quoted(group, line)}”"
        if answers:
            quotation = f"Asked “{question}”, {quotation}"
        yield Told(quotation, (*((asked.id,) if asked and answers else ()), line.id), kind)


def question_of(message: str) -> str:
    """Return the question at the end of a message, without what its speaker does; empty if it ends otherwise."""
    spoken = [sentence for part in parts(message) if not part.narrates for sentence in split_sentences(part.text)]
    asked = _bare(spoken[-1]).strip("' ") if spoken else ""
    return asked if asked.endswith("?") else ""


def _judged(text: str, question: str, place: int) -> _Sentence:
    described = frozenset(features(text, question, place))
    is_asked = text.rstrip("\"”’') ").endswith("?")
    probability = 0.0 if is_asked else fact_classifier.probability(described)
    return _Sentence(text, _TAIL.sub("", _LEAD.sub("", tidy(text))), described, probability)


def _groups(sentences: Sequence[_Sentence]) -> Iterator[tuple[int, list[_Sentence]]]:
    """Yield the sentences that are kept together, each with the one that it refers to, and the place of the first."""
    start, group, before = 0, list[_Sentence](), -1
    for place, sentence in enumerate(sentences):
        if not sentence.is_kept:
            continue
        first = _referred(sentences, place)
        if group and (before in first or (before + 1 == first[0] == place and _refers(sentence))):
            group += [sentences[one] for one in first if one > before]
        else:
            if group:
                yield start, group
            start, group = first[0], [sentences[one] for one in first]
        before = place
    if group:
        yield start, group


def _referred(sentences: Sequence[_Sentence], place: int) -> list[int]:
    """Return the place of a sentence behind those that it refers to, of which mere reactions are left out."""
    first = [place]
    for earlier in range(place - 1, max(-1, place - 1 - MOST_BEFORE), -1):
        if not _refers(sentences[first[0]]):
            break
        if sentences[earlier].probability >= TELLS_SOMETHING:
            first.insert(0, earlier)
    return first


def _refers(sentence: _Sentence) -> bool:
    """Return whether a sentence cannot be understood without the one before."""
    text = sentence.tidied
    if not _SUBJECT.search(text):
        return len(text.split()) <= _SHORT
    found = _POINTS.search(text)
    return bool(found) and not _DUMMY.match(text) and not _PERSON_OR_THING.search(text[: found.start()] if found else "")


def _in_third_person(text: str, line: Said) -> str:
    """Return a sentence in the first person that stands alone with its speaker's name; empty if it cannot be told so."""
    bare = _DENIAL.sub("", text)
    if not _FIRST_PERSON.match(bare) or _OTHERS.search(bare) or _ELLIPSIS.match(bare) or '"' in bare or "?" in bare:
        return ""
    return rewrite(dating.resolve(bare, line.time.date()), line.name, "") or ""


def _needs(question: str, answer: _Sentence) -> bool:
    """Return whether an answer says little without its question."""
    is_short = bool(question) and len(question.split()) <= LONGEST_QUESTION
    return is_short and (_refers(answer) or not _SUBJECT.search(answer.tidied) or bool(_ELLIPSIS.match(answer.tidied)))


def _quoted(group: Sequence[_Sentence], line: Said) -> str:
    text = _bare(" ".join(one.text for one in group))
    return dating.resolve(_TAIL.sub("", _LEAD.sub("", text)), line.time.date())[:LONGEST]


def _bare(text: str) -> str:
    """Return a text on one line without quotation marks of its own."""
    return " ".join(text.translate(_QUOTES).split())
