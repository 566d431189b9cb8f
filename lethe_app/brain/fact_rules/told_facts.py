"""Facts in the user's own words, for sentences of which no rule has converted everything into a statement.

A sentence is kept if `sentence_classifier` rates it worth keeping. A first-person sentence that is understood alone is
converted into the third person; any other is quoted, with the sentence or the question it refers to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lethe_app.brain.dates import resolve
from lethe_app.brain.dialogue.dialogue_acts import DialoguePiece, SentenceMeaning
from lethe_app.brain.fact_rules import sentence_classifier
from lethe_app.brain.fact_rules.fragments import asked_about
from lethe_app.brain.fact_rules.judged_sentences import (
    PERSON_OR_THING,
    POINTS,
    SUBJECT,
    TELLS_SOMETHING,
    WHEN_FIRST,
    WORTH_KEEPING,
    JudgedSentence,
    bare_ends,
    groups,
    judge,
    refers,
)
from lethe_app.brain.fact_rules.sentence_features import is_telling
from lethe_app.brain.fact_rules.third_person import rewrite
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.sentences import parts, split_sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.entities import ANIMALS, RELATIVES
from lethe_app.brain.vocabulary.phrases import OFTEN
from lethe_app.brain.vocabulary.verbs import is_past
from lethe_app.domain.facts import FactKind
from lethe_app.retrieval.query_terms import WORD, unaddressed

NEW = 0.3
"""Share of a sentence's content words that must not be in any statement of its message for the sentence to be kept beside
them.
"""
CLEAR = 3
"""Content words from which a sentence is informative even if its antecedent is unknown."""
LONGEST = 400
"""Maximum characters of one fact."""
MOST_POINTING = 20
"""Words up to which a sentence may need the speaker's previous message; a longer one is understood alone."""
LONGEST_QUESTION = 16
"""Maximum words of a persona's question that is quoted with its answer."""
_ANNOUNCED = re.compile(
    r"^\W*(?:thanks?|thank you)(?: so much| a lot)? for (?:asking|listening|sharing|(?:the|"
    r"your) [\w ]{3,30})\s*[,.!–—-]+\s*(?=\w)|"
    r"^\W*(?:(?:hi|hey|hello|oh|ok|okay|so|well|also|and)\b[\s,]*)*(?:[A-Z]\w+, )?(?:(?:the|some|my|big|good|bad|great|sad|"
    r"exciting|"
    r"amazing|other|quick|small|little) )*(?:news|updates?|confession|announcement)(?: \w+)?\s*[:!,.–—-]+\s*(?=\w)",
    re.IGNORECASE,
)
"""Announcement before the content, as in “Big news: …”, “Thanks for asking! …”."""
_DENIAL = re.compile(r"^(?:no|nah|nope|not really)\b[\s,.!-]+(?=(?:I|I'm|I've|my)\b)", re.IGNORECASE)
"""Negative answer before the sentence. It belongs to the question, and the sentence is complete without it."""
_OWN = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|me|mine|we|we're|we've|our|us)\b", re.IGNORECASE)
_SHOWS = re.compile(
    r"(?:here's|here is|here are|check out|look at|(?:I|we) (?:100%|\w+ )?agree\b|I swear (?:on|to|by)\b|"
    r"(?:I|we) (?:talked|spoke|chatted) about)",
    re.IGNORECASE,
)
"""Agreement, assertion, or reference to something shown that is not visible later."""
_DENIES_THING = re.compile(r"there(?:'s| is| was| are| were) (?:no|not an?)\b", re.IGNORECASE)
_SOMEBODY = re.compile(r"\b(?:he|she|him|her|his|they|them|their)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"^(?:I|I'm|I've|I'd|I'll|my)\b", re.IGNORECASE)
_ELLIPSIS = re.compile(
    r"^I(?:'m|'ve| am| do| did| have| will| can| was| would)?(?: not| too)?(?:[,.!;]|$)|"
    r"^I (?:do|did|have)(?: not)? (?:on|in|at|last|yesterday|already|once|for|since|until|so)\b",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"^my (?:[\w'-]+ ){0,3}?[\w'-]+(?:, (?:he|she|they|it|he's|she's|they're|it's|his|her|their|I|we|who|which)\b|\W*$)",
    re.IGNORECASE,
)
"""Incomplete sentence such as “My grandad, he was a cook”, which serves only as an answer."""
_OTHERS = re.compile(r"\b(?:you|your|yours|yourself|we|us|our|ours|ourselves|this|these|here)\b", re.IGNORECASE)
_AFFIRMATION = re.compile(
    r"\b(?:yes|yeah|yea|yep|yup|ya|aye|no|nope|nah|sure|definitely|absolutely|totally|of course|certainly|indeed|true|"
    r"correct|exactly|right|not really|a bit|i guess)\b",
    re.IGNORECASE,
)
_ASKS_WHAT = re.compile(r"\b(?:what|who|whom|whose|which|when|where|why|how)\b", re.IGNORECASE)
"""Question that cannot be answered by yes or no."""
_IMAGINED = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|now)\W+)*(?:if (?:you|we|I)|imagine|suppose|pretend|what if|let's say|"
    r"(?:what|where|who) would you (?:do|buy|be|go|live|spend|name|call)\b|would you rather(?! not)|(?:\w+ ){0,6}if (?:you|"
    r"money|time)\b)",
    re.IGNORECASE,
)
"""Question whose answer is invented."""
_OFTEN = re.compile(rf"{OFTEN}|\b(?:when|whenever|every|each|always|usually)\b", re.IGNORECASE)
_NAMES_SOMEBODY = re.compile(
    rf"(?<!^)\b(?!I\b|I')[A-Z][a-z]+\b|\b[Yy]our (?:\w+ )?(?:{RELATIVES}|{ANIMALS})\b",
)
_HEALTH = re.compile(
    r"\b(?:allerg(?:y|ic|ies)|intoleran(?:t|ce)|coeliac|celiac|diabet(?:es|ic)|asthma(?:tic)?|epilep(?:sy|tic)|epipen|inhaler|"
    r"insulin|"
    r"pacemaker|thyroid|migraines?|coumadin|warfarin)\b(?! to (?:people|mondays?|work))",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!?…](?= )")
_END_MARK = re.compile(r"[.!?…][\"')\]]*$")
_QUOTES = str.maketrans({"“": "'", "”": "'", '"': "'"})
"""Replaces quotation marks of the user, which would end the quotation."""


@dataclass(frozen=True)
class ToldFact:
    """Fact worth keeping, as a sentence about its speaker that is understood alone."""

    text: str
    messages: tuple[UUID, ...]
    """Ids of the messages that state it; for an answer the question comes first."""
    kind: FactKind


@dataclass(frozen=True)
class UserMessage:
    """Message of the user with its rated sentences."""

    line: Utterance
    asked: Utterance | None
    """The message it replies to."""
    question: str
    """The question at the end of that message; empty if there is none."""
    sentences: list[JudgedSentence]


def read(line: Utterance, pieces: Sequence[DialoguePiece], asked: Utterance | None) -> UserMessage:
    """Return the user's message with its rated sentences, without those in character. `asked` is the message it replies to."""
    question = question_of(asked.text) if asked else ""
    present = [asked.name] if asked else []
    own_name = re.escape(line.name)
    introduction = re.compile(
        rf"^\W*(?:(?:it's |this is )?{own_name} here|(?:I'm|I am|im|my name is|"
        rf"my name's) {own_name})\b(?!'s)[\s,.!:;-]*(?:and )?(?=\w)",
        re.IGNORECASE,
    )
    said = [unaddressed(piece.text, present) for piece in pieces if piece.meaning is SentenceMeaning.PLAIN]
    plain = [_ANNOUNCED.sub("", introduction.sub("", text)) for text in said]
    sentences = [judge(text, question if place == 0 else "", place) for place, text in enumerate(plain)]
    return UserMessage(line, asked, question, sentences)


def with_subjects_kept(turn: UserMessage, subjects: frozenset[str]) -> UserMessage:
    """Return the message with every sentence kept that mentions one of the `subjects` (stems), because it is news about
    them.
    """

    def judged(sentence: JudgedSentence) -> JudgedSentence:
        is_news = sentence.probability > 0 and not subjects.isdisjoint(content_words(sentence.tidied))
        return replace(sentence, probability=max(sentence.probability, WORTH_KEEPING)) if is_news else sentence

    return replace(turn, sentences=list(map(judged, turn.sentences)))


def find(
    turn: UserMessage, before: UserMessage | None, stated: Iterable[str], heard: Collection[str] = ()
) -> Iterator[ToldFact]:
    """Yield the facts of a user message that go beyond what rules have `stated`.

    `before` is the user's previous message, `heard` the `sentence_features.question_words` of everything mentioned before.
    """
    known = frozenset[str]().union(*map(content_words, stated), content_words(turn.line.name))
    is_plain = sentence_classifier.knows_question(turn.question, heard)
    first = next((place for place, one in enumerate(turn.sentences) if content_words(one.tidied)), 0)
    for start, found in groups(turn.sentences):
        group = _unworded(found, known, turn.line)
        if _SHOWS.match(group[0].tidied) or (start == 0 and _IMAGINED.match(turn.question)) or _only_denies(group, turn.asked):
            continue
        answers = turn.asked is not None and start <= first and _needs(turn.question, group[0])
        if not _says_more(group, turn.question if answers else "", known, turn.line):
            continue
        if answers and is_plain:
            yield _told(turn, group, turn.asked, before)
        elif not (answers and _is_lost(group[0], turn.question)):
            earlier = before if start <= first and _goes_back(turn, group[0]) else None
            spoken_of = _spoken_of(earlier) if earlier else None
            if earlier and spoken_of:
                yield _told(turn, [spoken_of, *group], earlier.line)
            elif not refers(group[0]) or _is_clear(group):
                yield _told(turn, group, None)


def _told(
    turn: UserMessage, said: Sequence[JudgedSentence], source: Utterance | None, before: UserMessage | None = None
) -> ToldFact:
    """Return sentences as a fact; `source` is the question they answer, or the previous message they refer to.

    A question about “him” or “her” is quoted with the user's sentence in the message `before` that names somebody.
    """
    line, kind = turn.line, _kind(said)
    alone = _in_third_person(said[0], line) if len(said) == 1 and source is None else ""
    question = turn.question if source is not None and source is turn.asked else ""
    sources = (source.id, line.id) if source is not None else (line.id,)
    text = alone or _quoted(said, line, question)
    asks_who = _SOMEBODY.search(question) and not _NAMES_SOMEBODY.search(question)
    of_whom = _spoken_of(before) if before and asks_who else None
    if before and of_whom:
        return ToldFact(f"{_quoted([of_whom], before.line, '')} {_answer(text, line)}", (before.line.id, *sources), kind)
    return ToldFact(text, sources, kind)


def _kind(said: Sequence[JudgedSentence]) -> FactKind:
    """Return the kind of the most probable sentence, or HEALTH if one has a word that is only used for health."""
    if any(_HEALTH.search(one.tidied) for one in said if one.is_kept):
        return FactKind.HEALTH
    return max((one for one in said if one.is_kept), key=lambda one: one.probability).kind


def _answer(told: str, line: Utterance) -> str:
    """Return a question with its answer in the form that follows another quotation: “Asked “How old is he?”: “nine””."""
    return told.replace(f", {line.name} said", "", 1)


def _only_denies(group: Sequence[JudgedSentence], asked: Utterance | None) -> bool:
    """Return whether the sentences only deny the existence of something the persona mentioned."""
    words = frozenset[str]().union(*(content_words(one.tidied) for one in group))
    return asked is not None and bool(_DENIES_THING.match(group[0].tidied)) and words <= content_words(asked.text)


def _spoken_of(turn: UserMessage) -> JudgedSentence | None:
    """Return the last sentence of a message that names a person or a thing and is understood alone; None if there is none."""
    named = (one for one in reversed(turn.sentences) if PERSON_OR_THING.search(one.text))
    return next((one for one in named if one.probability >= TELLS_SOMETHING and not refers(one)), None)


def _is_clear(group: Sequence[JudgedSentence]) -> bool:
    """Return whether the sentences are informative about their speaker even if their antecedent is unknown."""
    text = " ".join(one.tidied for one in group if one.is_kept)
    is_own = bool(_OWN.search(text)) or not (SUBJECT.search(text) or POINTS.search(text))
    return len(content_words(text)) >= CLEAR and is_own


def question_of(message: str) -> str:
    """Return the question at the end of a message, without actions; empty if it does not end with a question."""
    spoken = [sentence for part in parts(message) if not part.narrates for sentence in split_sentences(part.text)]
    asked = _bare(spoken[-1]).strip("' ") if spoken else ""
    return asked if asked.endswith("?") else ""


def _says_more(group: Sequence[JudgedSentence], question: str, known: frozenset[str], line: Utterance) -> bool:
    """Return whether enough content words of the kept sentences are not `known`; for a plain yes or no, those of the
    question count.
    """
    kept = [one.tidied for one in group if one.is_kept]
    words = frozenset[str]().union(*(content_words(_resolved(text, line)) for text in kept))
    if question and not content_words(_AFFIRMATION.sub(" ", " ".join(kept))):
        words = frozenset() if _ASKS_WHAT.search(question) else content_words(question)
    elif not question and (len(words) == 1 or all(map(str.isdigit, words))) and not any(map(SUBJECT.search, kept)):
        return False
    new = words - known
    if len(new) == 1 and len(words) > 1:  # “… so no satay for me” adds nothing to what a rule has worded, an illness does
        return any(is_telling(word) for text in kept for word in WORD.findall(text)[1:] if content_words(word) == new)
    return bool(words) and len(new) >= NEW * len(words)


def _unworded(group: list[JudgedSentence], known: frozenset[str], line: Utterance) -> list[JudgedSentence]:
    """Remove the last sentences of a group that a rule has worded better."""
    if len(group) > 1 and any(one.is_kept for one in group[:-1]) and content_words(_resolved(group[-1].tidied, line)) <= known:
        return _unworded(group[:-1], known, line)
    return group


def _goes_back(turn: UserMessage, sentence: JudgedSentence) -> bool:
    """Return whether a sentence refers to the speaker's previous message. An incomplete one more likely answers the
    question.
    """
    if not (refers(sentence) and POINTS.search(sentence.tidied)) or len(sentence.tidied.split()) > MOST_POINTING:
        return False
    return not turn.question or bool(_SOMEBODY.search(sentence.tidied) and not _NAMES_SOMEBODY.search(turn.question))


def _in_third_person(sentence: JudgedSentence, line: Utterance) -> str:
    """Return a first-person sentence that is understood alone in the third person; empty if it cannot be converted."""
    dated = _resolved(_DENIAL.sub("", sentence.tidied), line, is_plan=sentence.kind is FactKind.PLAN)
    bare = WHEN_FIRST.sub("", dated)
    if len(dated) > LONGEST:
        return ""
    if not _FIRST_PERSON.match(bare) or _OTHERS.search(dated) or '"' in dated or "?" in dated:
        return ""
    if _ELLIPSIS.match(bare) or _FRAGMENT.match(bare):
        return ""
    return "" if resolve.MOVING.search(dated) else rewrite(dated, line.name, "") or ""


def _needs(question: str, answer: JudgedSentence) -> bool:
    """Return whether an answer is hardly understood without its question."""
    asks = len(question.split()) > 1 or bool(_ASKS_WHAT.search(question))
    is_short = len(question.split()) <= LONGEST_QUESTION
    text = answer.tidied
    is_part = not SUBJECT.search(text) or bool(_ELLIPSIS.match(text) or _FRAGMENT.match(text))
    return asks and is_short and (is_part or refers(answer))


def _is_lost(answer: JudgedSentence, question: str) -> bool:
    """Return whether an answer without its question would be attributed to the speaker: “moved to leeds” of a sister."""
    first = answer.tidied.split(" ", 1)[0].lower()
    says_deed = not SUBJECT.search(answer.tidied) and (is_past(first) or first.endswith("ing"))
    return says_deed and asked_about(question) not in {"", "you"}


def _quoted(group: Sequence[JudgedSentence], line: Utterance, question: str) -> str:
    """Return sentences word for word, with the date of the message if they contain relative times."""
    dated = [_resolved(_bare(one.text), line, is_plan=one.kind is FactKind.PLAN) for one in group]
    whole = " ".join(_ended(text) for text in dated[:-1]) + " " + dated[-1] if len(dated) > 1 else dated[0]
    bare = bare_ends(whole)
    said = _cut(bare if WORD.search(bare) else whole)
    when = f" on {resolve.spell(line.time.date())}" if resolve.MOVING.search(said) else ""
    asked = f"Asked “{question}”, " if question else ""
    return f"{asked}{line.name} said{when}: “{said}”"


def _ended(text: str) -> str:
    """Return a sentence with an end mark."""
    return text if _END_MARK.search(text) else f"{text.rstrip(' ,;:–—-/')}."


def _cut(text: str) -> str:
    """Return as many whole sentences of a text, or else words, as fit into `LONGEST` characters."""
    if len(text) <= LONGEST:
        return text
    ends = [found.end() for found in _ENDS.finditer(text, 0, LONGEST)]
    return text[: ends[-1]] if ends else text[:LONGEST].rsplit(" ", 1)[0] + "…"


def _resolved(text: str, line: Utterance, *, is_plan: bool = False) -> str:
    """Return a text with its relative dates spelt out, those of a plan with their year."""
    is_to_come = is_plan and not _OFTEN.search(text) and not resolve.tells_past(text)
    return resolve.resolve(text, line.time.date(), event=is_to_come)


def _bare(text: str) -> str:
    """Return a text on one line without quotation marks of its own."""
    return " ".join(text.translate(_QUOTES).split())
