"""Keeps what the user tells of their life in their own words, where no rule has put all of it into a statement.

A sentence is kept if `fact_classifier` finds it worth keeping. One in the first person that stands alone is told in the third
person; any other is quoted, with the sentence or the question it refers to.
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
"""Share of the content words of a sentence that no statement of its message has, from which it is kept beside them."""
CLEAR = 3
"""Content words from which a sentence tells something though nobody knows what it refers to."""
LONGEST = 400
"""Characters of what is kept of a message at a time."""
MOST_POINTING = 20
"""Words of a sentence up to which it may need the speaker's message before; a longer one explains itself."""
LONGEST_QUESTION = 16
"""Words of a question of the persona that is quoted with its answer."""
_ANNOUNCED = re.compile(
    r"^\W*(?:thanks?|thank you)(?: so much| a lot)? for (?:asking|listening|sharing|(?:the|"
    r"your) [\w ]{3,30})\s*[,.!–—-]+\s*(?=\w)|"
    r"^\W*(?:(?:hi|hey|hello|oh|ok|okay|so|well|also|and)\b[\s,]*)*(?:[A-Z]\w+, )?(?:(?:the|some|my|big|good|bad|great|sad|"
    r"exciting|"
    r"amazing|other|quick|small|little) )*(?:news|updates?|confession|announcement)(?: \w+)?\s*[:!,.–—-]+\s*(?=\w)",
    re.IGNORECASE,
)
"""“Big news: …”, “Thanks for asking! …”."""
_DENIAL = re.compile(r"^(?:no|nah|nope|not really)\b[\s,.!-]+(?=(?:I|I'm|I've|my)\b)", re.IGNORECASE)
"""What is denied is the question; the sentence stands without it."""
_OWN = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|me|mine|we|we're|we've|our|us)\b", re.IGNORECASE)
_SHOWS = re.compile(
    r"(?:here's|here is|here are|check out|look at|(?:I|we) (?:100%|\w+ )?agree\b|I swear (?:on|to|by)\b|"
    r"(?:I|we) (?:talked|spoke|chatted) about)",
    re.IGNORECASE,
)
"""Agrees, asserts, or shows something that nobody sees later."""
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
"""“My grandad, he was a cook”: an answer, but no sentence."""
_OTHERS = re.compile(r"\b(?:you|your|yours|yourself|we|us|our|ours|ourselves|this|these|here)\b", re.IGNORECASE)
_AFFIRMATION = re.compile(
    r"\b(?:yes|yeah|yea|yep|yup|ya|aye|no|nope|nah|sure|definitely|absolutely|totally|of course|certainly|indeed|true|"
    r"correct|exactly|right|not really|a bit|i guess)\b",
    re.IGNORECASE,
)
_ASKS_WHAT = re.compile(r"\b(?:what|who|whom|whose|which|when|where|why|how)\b", re.IGNORECASE)
"""A question to which yes and no are no answers."""
_IMAGINED = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|now)\W+)*(?:if (?:you|we|I)|imagine|suppose|pretend|what if|let's say|"
    r"(?:what|where|who) would you (?:do|buy|be|go|live|spend|name|call)\b|would you rather(?! not)|(?:\w+ ){0,6}if (?:you|"
    r"money|time)\b)",
    re.IGNORECASE,
)
"""A question whose answer is made up."""
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


@dataclass(frozen=True)
class ToldFact:
    """One thing worth keeping, as a sentence about its speaker that stands alone."""

    text: str
    messages: tuple[UUID, ...]
    """The message that says it; for an answer its question first."""
    kind: FactKind


@dataclass(frozen=True)
class UserMessage:
    """One message of the user, as it is read."""

    line: Utterance
    asked: Utterance | None
    """The message it replies to."""
    question: str
    """At the end of that."""
    sentences: list[JudgedSentence]


def read(line: Utterance, pieces: Sequence[DialoguePiece], asked: Utterance | None) -> UserMessage:
    """Return what the user states as themselves in a message, which replies to the message `asked`."""
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
    """Return a message with every statement kept that is about one of the `subjects` (stems), as news of them."""

    def judged(sentence: JudgedSentence) -> JudgedSentence:
        is_news = sentence.probability > 0 and not subjects.isdisjoint(content_words(sentence.tidied))
        return replace(sentence, probability=max(sentence.probability, WORTH_KEEPING)) if is_news else sentence

    return replace(turn, sentences=list(map(judged, turn.sentences)))


def find(
    turn: UserMessage, before: UserMessage | None, stated: Iterable[str], heard: Collection[str] = ()
) -> Iterator[ToldFact]:
    """Yield what a message of the user tells beyond what rules have `stated` of it.

    `before` is their message before, `heard` the `fact_sentences.question_words` of all they have said before.
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
    """Return sentences as a fact; `source` is the question they answer, or the message before that they refer to.

    A question about “him” or “her” is told with the sentence of the user, in the message `before`, that names somebody.
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
    """Return the kind of the surest of these sentences, unless one names what only health can mean."""
    if any(_HEALTH.search(one.tidied) for one in said if one.is_kept):
        return FactKind.HEALTH
    return max((one for one in said if one.is_kept), key=lambda one: one.probability).kind


def _answer(told: str, line: Utterance) -> str:
    """Return a question with its answer as it follows another quotation: “Asked “How old is he?”: “nine”.”"""
    return told.replace(f", {line.name} said", "", 1)


def _only_denies(group: Sequence[JudgedSentence], asked: Utterance | None) -> bool:
    """Return whether sentences only say that what the persona spoke of does not exist."""
    words = frozenset[str]().union(*(content_words(one.tidied) for one in group))
    return asked is not None and bool(_DENIES_THING.match(group[0].tidied)) and words <= content_words(asked.text)


def _spoken_of(turn: UserMessage) -> JudgedSentence | None:
    """Return the last sentence of a message that names somebody or something to speak of."""
    named = (one for one in reversed(turn.sentences) if PERSON_OR_THING.search(one.text))
    return next((one for one in named if one.probability >= TELLS_SOMETHING and not refers(one)), None)


def _is_clear(group: Sequence[JudgedSentence]) -> bool:
    """Return whether sentences tell something of their speaker though nobody knows what they refer to."""
    text = " ".join(one.tidied for one in group if one.is_kept)
    is_own = bool(_OWN.search(text)) or not (SUBJECT.search(text) or POINTS.search(text))
    return len(content_words(text)) >= CLEAR and is_own


def question_of(message: str) -> str:
    """Return the question at the end of a message, without what its speaker does; empty if it ends otherwise."""
    spoken = [sentence for part in parts(message) if not part.narrates for sentence in split_sentences(part.text)]
    asked = _bare(spoken[-1]).strip("' ") if spoken else ""
    return asked if asked.endswith("?") else ""


def _says_more(group: Sequence[JudgedSentence], question: str, known: frozenset[str], line: Utterance) -> bool:
    """Return whether enough of what is kept of a group is not `known`; for a mere yes or no to a question, of the question."""
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
    """Return sentences without the last ones if a rule has worded them better."""
    if len(group) > 1 and any(one.is_kept for one in group[:-1]) and content_words(_resolved(group[-1].tidied, line)) <= known:
        return _unworded(group[:-1], known, line)
    return group


def _goes_back(turn: UserMessage, sentence: JudgedSentence) -> bool:
    """Return whether a sentence refers to its speaker's message before; a part of one rather answers the question asked."""
    if not (refers(sentence) and POINTS.search(sentence.tidied)) or len(sentence.tidied.split()) > MOST_POINTING:
        return False
    return not turn.question or bool(_SOMEBODY.search(sentence.tidied) and not _NAMES_SOMEBODY.search(turn.question))


def _in_third_person(sentence: JudgedSentence, line: Utterance) -> str:
    """Return a sentence in the first person that stands alone with its speaker's name; empty if it cannot be told so."""
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
    """Return whether an answer says little without its question."""
    asks = len(question.split()) > 1 or bool(_ASKS_WHAT.search(question))
    is_short = len(question.split()) <= LONGEST_QUESTION
    text = answer.tidied
    is_part = not SUBJECT.search(text) or bool(_ELLIPSIS.match(text) or _FRAGMENT.match(text))
    return asks and is_short and (is_part or refers(answer))


def _is_lost(answer: JudgedSentence, question: str) -> bool:
    """Return whether an answer would be taken for the speaker's life without its question: “moved to leeds” of a sister."""
    first = answer.tidied.split(" ", 1)[0].lower()
    says_deed = not SUBJECT.search(answer.tidied) and (is_past(first) or first.endswith("ing"))
    return says_deed and asked_about(question) not in {"", "you"}


def _quoted(group: Sequence[JudgedSentence], line: Utterance, question: str) -> str:
    """Return sentences word for word, with the day they were said if that tells what their words of time mean."""
    dated = [_resolved(_bare(one.text), line, is_plan=one.kind is FactKind.PLAN) for one in group]
    whole = " ".join(_ended(text) for text in dated[:-1]) + " " + dated[-1] if len(dated) > 1 else dated[0]
    bare = bare_ends(whole)
    said = _cut(bare if WORD.search(bare) else whole)
    when = f" on {resolve.spell(line.time.date())}" if resolve.MOVING.search(said) else ""
    asked = f"Asked “{question}”, " if question else ""
    return f"{asked}{line.name} said{when}: “{said}”"


def _ended(text: str) -> str:
    """Return a sentence with a full stop where it has no end mark."""
    return text if _END_MARK.search(text) else f"{text.rstrip(' ,;:–—-/')}."


def _cut(text: str) -> str:
    """Return as many whole sentences of a text, or else words, as `LONGEST` characters hold."""
    if len(text) <= LONGEST:
        return text
    ends = [found.end() for found in _ENDS.finditer(text, 0, LONGEST)]
    return text[: ends[-1]] if ends else text[:LONGEST].rsplit(" ", 1)[0] + "…"


def _resolved(text: str, line: Utterance, *, is_plan: bool = False) -> str:
    """Return a text with its relative dates spelled out, and those of a plan with their year."""
    is_to_come = is_plan and not _OFTEN.search(text) and not resolve.tells_past(text)
    return resolve.resolve(text, line.time.date(), event=is_to_come)


def _bare(text: str) -> str:
    """Return a text on one line without quotation marks of its own."""
    return " ".join(text.translate(_QUOTES).split())
