"""Keeps what the user tells of their life in their own words, where no rule has put all of it into a statement.

A sentence is kept if `fact_classifier` finds it worth keeping. One in the first person that stands alone is told in the third
person; any other is quoted, with the sentence or the question it refers to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lethe_app.brain import dating, fact_classifier
from lethe_app.brain.dialogue_acts import Meaning, Piece
from lethe_app.brain.fact_sentences import features, is_telling
from lethe_app.brain.fragments import asked_about
from lethe_app.brain.gist import content_words
from lethe_app.brain.kinds import ANIMALS, RELATIVES
from lethe_app.brain.lasting import is_figurative
from lethe_app.brain.phrases import OFTEN
from lethe_app.brain.quotable import parts, split_sentences
from lethe_app.brain.said import Said
from lethe_app.brain.spelling import tidy
from lethe_app.brain.third_person import rewrite
from lethe_app.brain.verbs import is_past
from lethe_app.domain.facts import FactKind
from lethe_app.retrieval.when import WEEKDAYS
from lethe_app.retrieval.words import MONTHS, WORD, unaddressed

WORTH_KEEPING = 0.5
"""Probability from which a sentence is kept."""
TELLS_SOMETHING = 0.12
"""Probability below which a sentence is a mere reaction, to which no other refers."""
NEW = 0.3
"""Share of the content words of a sentence that no statement of its message has, from which it is kept beside them."""
CLEAR = 3
"""Content words from which a sentence tells something though nobody knows what it refers to."""
LONGEST = 400
"""Characters of what is kept of a message at a time."""
MOST_BEFORE = 3
"""Sentences before one among which the one that it refers to is looked for."""
MOST_POINTING = 20
"""Words of a sentence up to which it may need the speaker's message before; a longer one explains itself."""
LONGEST_QUESTION = 16
"""Words of a question of the persona that is quoted with its answer."""
_LEAD = re.compile(
    r"^(?:(?:oh|and|also|so|but|well|ok|okay|anyway|anyways|btw|by the way|(?:ha)+h?|heh|lol|lmao|yes|yeah|yep|ya|hey|hi|hello|"
    r"ugh|omg|wow|fair|true|thanks|thank you|sorry|tbh|honestly|actually|hmm+|um+|uh+|er|right|cool|great|nice|sure|exactly|"
    r"see|look|listen|plus|aw+|ah|aye|god|damn|anyhow|grand|like|dude|bro|girl|man|then|though|tho|cause|cuz|because|bc|"
    r"since (?:we|I) (?:last )?(?:talked|spoke|chatted)|I (?:forgot|meant|wanted) to (?:say|mention|tell you)|wait|"
    r"scratch that|"
    r"(?:small )?(?:change of plans?|update)|(?:we|I)(?:'ve| have)? changed (?:my|our) minds?(?! (?:about|on)))\b"
    r"[\s,.!;:…-]*|\W+(?=\w))+(?=\S)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[\s,.!?;:…-]*\b(?:lol|lmao|(?:ha){2,}h?|xd+|btw|tho|though|tbh|fr|ngl|you know|yk|innit|anyway|i guess|pls|plz|please|"
    r"no fuss|imagine(?: that)?|wh(?:at|o) (?:do|did|else do) I expect|go figure|don't (?:laugh|judge|ask)(?: me)?|who knew|"
    r"as you do|"
    r"fingers crossed|wish me luck|so yeah|if that makes sense)\b|"
    r"[\s\u2600-\u27bf\ufe0f\u200d\U0001f300-\U0001faff]+)+[\s.!]*$",
    re.IGNORECASE,
)
_INNER = re.compile(r",? \b(?:btw|tbh|ngl|imo|lol|lmao|pls|plz)(?=[,.!?])", re.IGNORECASE)
_DENIAL = re.compile(r"^(?:no|nah|nope|not really)\b[\s,.!-]+(?=(?:I|I'm|I've|my)\b)", re.IGNORECASE)
"""What is denied is the question; the sentence stands without it."""
_POINTS = re.compile(
    r"\b(?:he|she|they|him|her|them|his|their|theirs|hers|he's|she's|they're|he'll|she'll|he'd|she'd)\b|"
    r"^(?:it|its|it's|that|that's|this|those|these|there|both|one|which|who|where)\b|"
    r"\bit(?!'s| is| was| has| will| would)\b|\b(?:that|this|those|there)$",
    re.IGNORECASE,
)
"""May refer to what was said before."""
_LINKS = re.compile(r"(?:not|same|only|just|since|until|till|for|with|in|at|on|to|from)\b", re.IGNORECASE)
"""Begins a mere part of a sentence, if there is no subject."""
_DUMMY = re.compile(
    r"^(?:it's|its|it is|it was|that's|this is) (?:my|a|an|the|our|been|so|too|in|on|at|\d)\b|"
    r"^(?:there's|there is|there are|there was|there were) \w",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(r"(?:it's|it is|it was|she's|he's|they're) (?:an?|the|\d)\b", re.IGNORECASE)
"""Says more of what was just spoken of: “It's a 2009 Octavia.”"""
_PERSON_OR_THING = re.compile(r"\b(?:my|our|an?|the|some|two|three|\d+) [\w'-]{2,}|(?<!^)(?<![.!?] )\b[A-Z][a-z]+")
_WHEN = re.compile(
    r"^(?:(?:last|next|this|every|on|in|at|by) (?:[\w']+ ){0,5}?(?:\d+(?:st|nd|rd|th)?|mornings?|afternoons?|evenings?|nights?|"
    r"days?|weeks?|weekends?|months?|years?|summer|winter|autumn|fall|spring|christmas|xmas|easter|"
    rf"(?:{'|'.join(WEEKDAYS)})s?|{'|'.join(MONTHS)})|yesterday|today|tomorrow|tonight|recently|currently|now|sometimes|"
    r"usually),? (?=(?:I|I'm|I've|I'd|I'll|my)\b)",
    re.IGNORECASE,
)
"""“Last Friday I …”"""
_OWN = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|me|mine|we|we're|we've|our|us)\b", re.IGNORECASE)
_SHOWS = re.compile(
    r"(?:here's|here is|here are|check out|look at|(?:I|we) (?:100%|\w+ )?agree\b|I swear (?:on|to|by)\b|"
    r"(?:I|we) (?:talked|spoke|chatted) about)",
    re.IGNORECASE,
)
"""Agrees, asserts, or shows something that nobody sees later."""
_ANNOUNCES = re.compile(
    r"\bsomething\b(?! (?:to|for|about|with|on)\b)|"
    r"\b(?:an?|one more|another|some|the (?:most|best))(?: [\w-]+){0,2}? (?:experience|hobby|games?|thing|news|ideas?|"
    r"surprise|opportunity|milestone|project|adventure|decision|place|show|book|movie)\b"
    r"(?! (?:called|about|of|in|at|with|for|to|by)\b| on (?!(?:mon|tues|wednes|thurs|fri|satur|sun)day))",
    re.IGNORECASE,
)
"""What it is follows in the next sentence: “I have a new hobby. I look for coins on the beach.”"""
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
_BARE_THING = re.compile(r"^my (?:[\w'-]+ ){0,3}[\w'-]+\W*$", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:you|your|yours|yourself|we|us|our|ours|ourselves|this|these|here)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\b(?:I|I'm|I've|I'd|I'll|my|we|we're|we've|our|she|he|they|he's|she's|it's|they're|there's)\b|^(?:it|there)\b",
    re.IGNORECASE,
)
_HAS_SUBJECT = re.compile(
    r"(?!(?:who|which|where|what|that|this|those|these|there|it|both|one|some|same|only|not|just)\b)[\w'-]+(?: [\w'-]+){0,3}? "
    r"(?:is|isn't|are|aren't|was|wasn't|were|has|hasn't|had|will|won't|works|lives|plays|got|moved|died|left)\b",
    re.IGNORECASE,
)
"""“Saoirse's sister is a pilot”."""
_SHORT = 6
"""Words of a sentence without a subject up to which it is taken for the rest of the one before."""
_AFFIRMATION = re.compile(
    r"\b(?:yes|yeah|yea|yep|yup|ya|aye|no|nope|nah|sure|definitely|absolutely|totally|of course|certainly|indeed|true|"
    r"correct|exactly|right|not really|a bit|i guess)\b",
    re.IGNORECASE,
)
_ASKS_WHAT = re.compile(r"\b(?:what|who|whom|whose|which|when|where|why|how)\b", re.IGNORECASE)
"""A question to which yes and no are no answers."""
_IMAGINED = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|now)\W+)*(?:if (?:you|we|I)|imagine|suppose|pretend|what if|let's say|"
    r"(?:what|where|how|who|which)(?: \w+)? would you|would you rather(?! not)|(?:\w+ ){0,6}if (?:you|money|time)\b)",
    re.IGNORECASE,
)
"""A question whose answer is made up."""
_EVASION = re.compile(
    r"(?:(?:I|i'm|i am|i've|well|honestly|still|just|really|actually|have|got|there's)[ ,]+)*(?:(?:do not|don't) (?:really )?"
    r"(?:know|remember|recall|care|mind)|dunno|idk|no idea|no clue|not (?:too |quite |really )?sure|(?:can't|cannot) (?:say|"
    r"tell|remember|recall)|won't (?:say|tell)|not telling(?: you)?|rather not say|haven't decided|(?:you )?guess|secret|"
    r"(?:it )?depends|forgot|no comment|none of your business)(?:[ ,]+(?:yet|really|tbh|honestly|actually|any ?more|either|"
    r"sorry|to be honest|though|again|exactly|at all|right now))*\W*|(?:I )?(?:gtg|g2g|brb|ttyl|bbl|(?:have|got) to (?:go|"
    r"run))\b.{0,40}",
    re.IGNORECASE,
)
"""An answer that says nothing."""
_MOMENTARY = re.compile(
    r"(?:(?:so|really|just|kinda|bit|a bit|totally) )*(?:bored|tired|exhausted|knackered|hungry|starving|sleepy|hungover|drunk|"
    r"lonely|stressed|annoyed|excited|gutted|buzzing|freezing|sweating|shattered|wrecked)\b(?!.*\b(?:since|for (?:a|two|\w+)"
    r" (?:years?|months?)|always|every)\b)|"
    r"(?:I )?(?:had|did|took|made|answered|sent|drank) (?:\d+|two|three|four|five|six|several|a few|a couple of) [\w-]+ "
    r"(?:before|by) (?:noon|lunch|breakfast|dinner|\d+|[a-z]+ o'?clock|eight|nine|ten|eleven)\b",
    re.IGNORECASE,
)
"""A mood or a trifle of the day."""
_REMINDS = re.compile(
    r"(?:I did (?:not )?(?:mention|tell|say)|(?:have|did) I (?:not )?(?:mention(?:ed)?|tell|told|said?))\b.*"
    r"\b(?:right|yeah|yes|no|eh)\W*$|I(?:'m| am) (?:just |only )?an? (?:AI|bot|chatbot|robot|language model)\b",
    re.IGNORECASE,
)
"""Asks whether something was told before, or denies being a person."""
_SOME_PERSON = re.compile(
    r"\b(?:some|an?|the|this|that) (?:[\w-]+ )?(?:woman|man|girl|boy|guy|lady|bloke|kid|person|colleague|doctor|neighbou?r)\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(rf"{OFTEN}|\b(?:when|whenever|every|each|always|usually)\b", re.IGNORECASE)
_NAMES_SOMEBODY = re.compile(
    rf"(?<!^)\b(?!I\b|I')[A-Z][a-z]+\b|\b[Yy]our (?:\w+ )?(?:{RELATIVES}|{ANIMALS})\b",
)
_ENDS = re.compile(r"[.!?…](?= )")
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
    features: Mapping[str, float]
    probability: float
    """Of being worth keeping."""

    @property
    def kind(self) -> FactKind:
        return fact_classifier.kind(self.features)

    @property
    def is_kept(self) -> bool:
        return self.probability >= WORTH_KEEPING


@dataclass(frozen=True)
class Turn:
    """One message of the user, as it is read."""

    line: Said
    asked: Said | None
    """The message it replies to."""
    question: str
    """At the end of that."""
    sentences: list[_Sentence]


def read(line: Said, pieces: Sequence[Piece], asked: Said | None) -> Turn:
    """Return what the user states as themselves in a message, which replies to the message `asked`."""
    question = question_of(asked.text) if asked else ""
    present = [asked.name] if asked else []
    own_name = re.escape(line.name)
    introduction = re.compile(
        rf"^\W*(?:(?:it's |this is )?{own_name} here|(?:I'm|I am|im|my name is|"
        rf"my name's) {own_name})\b(?!'s)[\s,.!:;-]*(?:and )?(?=\w)",
        re.IGNORECASE,
    )
    plain = [introduction.sub("", unaddressed(piece.text, present)) for piece in pieces if piece.meaning is Meaning.PLAIN]
    sentences = [_judged(text, question if place == 0 else "", place) for place, text in enumerate(plain)]
    return Turn(line, asked, question, sentences)


def with_subjects_kept(turn: Turn, subjects: frozenset[str]) -> Turn:
    """Return a message with every statement kept that is about one of the `subjects` (stems), as news of them."""

    def judged(sentence: _Sentence) -> _Sentence:
        is_news = sentence.probability > 0 and not subjects.isdisjoint(content_words(sentence.tidied))
        return replace(sentence, probability=max(sentence.probability, WORTH_KEEPING)) if is_news else sentence

    return replace(turn, sentences=list(map(judged, turn.sentences)))


def find(turn: Turn, before: Turn | None, stated: Iterable[str], heard: Collection[str] = ()) -> Iterator[Told]:
    """Yield what a message of the user tells beyond what rules have `stated` of it.

    `before` is their message before, `heard` the `fact_sentences.question_words` of all they have said before.
    """
    known = frozenset[str]().union(*map(content_words, stated), content_words(turn.line.name))
    is_plain = fact_classifier.knows_question(turn.question, heard)
    first = next((place for place, one in enumerate(turn.sentences) if content_words(one.tidied)), 0)
    for start, found in _groups(turn.sentences):
        group = _unworded(found, known, turn.line)
        if _SHOWS.match(group[0].tidied) or (start == 0 and _IMAGINED.match(turn.question)) or _only_denies(group, turn.asked):
            continue
        answers = turn.asked is not None and start <= first and _needs(turn.question, group[0])
        if not _says_more(group, turn.question if answers else "", known, turn.line):
            continue
        if answers and is_plain:
            yield _told(turn, group, turn.asked, before)
        elif not (answers and _is_lost(group[0], turn.question)):
            refers = before if start <= first and _goes_back(turn, group[0]) else None
            spoken_of = _spoken_of(refers) if refers else None
            if refers and spoken_of:
                yield _told(turn, [spoken_of, *group], refers.line)
            elif not _refers(group[0]) or _is_clear(group):
                yield _told(turn, group, None)


def _told(turn: Turn, said: Sequence[_Sentence], source: Said | None, before: Turn | None = None) -> Told:
    """Return sentences as a fact; `source` is the question they answer, or the message before that they refer to.

    A question about “him” or “her” is told with the sentence of the user, in the message `before`, that names somebody.
    """
    line, kind = turn.line, next(one.kind for one in reversed(said) if one.is_kept)
    alone = _in_third_person(said[0], line) if len(said) == 1 and source is None else ""
    question = turn.question if source is not None and source is turn.asked else ""
    sources = (source.id, line.id) if source is not None else (line.id,)
    text = alone or _quoted(said, line, question)
    asks_who = _SOMEBODY.search(question) and not _NAMES_SOMEBODY.search(question)
    of_whom = _spoken_of(before) if before and asks_who else None
    if before and of_whom:
        return Told(f"{_quoted([of_whom], before.line, '')} {_answer(text, line)}", (before.line.id, *sources), kind)
    return Told(text, sources, kind)


def _answer(told: str, line: Said) -> str:
    """Return a question with its answer as it follows another quotation: “Asked “How old is he?”: “nine”.”"""
    return told.replace(f", {line.name} said", "", 1)


def _only_denies(group: Sequence[_Sentence], asked: Said | None) -> bool:
    """Return whether sentences only say that what the persona spoke of does not exist."""
    words = frozenset[str]().union(*(content_words(one.tidied) for one in group))
    return asked is not None and bool(_DENIES_THING.match(group[0].tidied)) and words <= content_words(asked.text)


def _spoken_of(turn: Turn) -> _Sentence | None:
    """Return the last sentence of a message that names somebody or something to speak of."""
    named = (one for one in reversed(turn.sentences) if _PERSON_OR_THING.search(one.text))
    return next((one for one in named if one.probability >= TELLS_SOMETHING and not _refers(one)), None)


def _is_clear(group: Sequence[_Sentence]) -> bool:
    """Return whether sentences tell something of their speaker though nobody knows what they refer to."""
    text = " ".join(one.tidied for one in group if one.is_kept)
    is_own = bool(_OWN.search(text)) or not (_SUBJECT.search(text) or _POINTS.search(text))
    return len(content_words(text)) >= CLEAR and is_own


def question_of(message: str) -> str:
    """Return the question at the end of a message, without what its speaker does; empty if it ends otherwise."""
    spoken = [sentence for part in parts(message) if not part.narrates for sentence in split_sentences(part.text)]
    asked = _bare(spoken[-1]).strip("' ") if spoken else ""
    return asked if asked.endswith("?") else ""


def _judged(text: str, question: str, place: int) -> _Sentence:
    described = features(text, question, place)
    tidied = _TAIL.sub("", _LEAD.sub("", _INNER.sub("", tidy(text))))
    says_nothing = text.rstrip("\"”’') ").endswith("?") or _EVASION.fullmatch(tidied) or _MOMENTARY.match(tidied)
    says_nothing = says_nothing or _REMINDS.match(tidied) or is_figurative(tidied)
    probability = 0.0 if says_nothing else fact_classifier.probability(described)
    return _Sentence(text, tidied, described, probability)


def _says_more(group: Sequence[_Sentence], question: str, known: frozenset[str], line: Said) -> bool:
    """Return whether enough of what is kept of a group is not `known`; for a mere yes or no to a question, of the question."""
    kept = [one.tidied for one in group if one.is_kept]
    words = frozenset[str]().union(*(content_words(_resolved(text, line)) for text in kept))
    if question and not content_words(_AFFIRMATION.sub(" ", " ".join(kept))):
        words = frozenset() if _ASKS_WHAT.search(question) else content_words(question)
    elif not question and (len(words) == 1 or all(map(str.isdigit, words))) and not any(map(_SUBJECT.search, kept)):
        return False
    new = words - known
    if len(new) == 1 and len(words) > 1:  # “… so no satay for me” adds nothing to what a rule has worded, an illness does
        return any(is_telling(word) for text in kept for word in WORD.findall(text)[1:] if content_words(word) == new)
    return bool(words) and len(new) >= NEW * len(words)


def _unworded(group: list[_Sentence], known: frozenset[str], line: Said) -> list[_Sentence]:
    """Return sentences without the last ones if a rule has worded them better."""
    if len(group) > 1 and any(one.is_kept for one in group[:-1]) and content_words(_resolved(group[-1].tidied, line)) <= known:
        return _unworded(group[:-1], known, line)
    return group


def _groups(sentences: Sequence[_Sentence]) -> Iterator[tuple[int, list[_Sentence]]]:
    """Yield the sentences that are kept together, each with the one that it refers to, and the place of the first."""
    start, group, before = 0, list[_Sentence](), -1
    for place, sentence in enumerate(sentences):
        is_announced = before == place - 1 and len(group) == 1 and _is_announced(sentence, by=group[0])
        of_joke = place > 0 and _refers(sentence) and is_figurative(sentences[place - 1].tidied)
        if of_joke or not (sentence.is_kept or is_announced):
            continue
        first = [place] if is_announced else _referred(sentences, place)
        goes_on = _refers(sentence) or bool(_DESCRIBES.match(sentence.tidied))
        if group and (is_announced or before in first or (before + 1 == first[0] == place and goes_on)):
            group += [sentences[one] for one in first if one > before]
        else:
            if group:
                yield start, group
            start, group = first[0], [sentences[one] for one in first]
        before = place
    if group:
        yield start, group


def _is_announced(sentence: _Sentence, by: _Sentence) -> bool:
    """Return whether a sentence tells what the one before only announced."""
    is_telling = sentence.probability >= TELLS_SOMETHING and not sentence.text.rstrip().endswith("?")
    return is_telling and bool(_ANNOUNCES.search(by.tidied))


def _referred(sentences: Sequence[_Sentence], place: int) -> list[int]:
    """Return the place of a sentence behind those that it refers to.

    Mere reactions are left out, unless there is nothing else that it can refer to.
    """
    first = [place]
    for earlier in range(place - 1, max(-1, place - 1 - MOST_BEFORE), -1):
        if not _refers(sentences[first[0]]):
            break
        if sentences[earlier].probability >= TELLS_SOMETHING or _SOME_PERSON.search(sentences[earlier].text):
            first.insert(0, earlier)
    if len(first) == 1 and place and _refers(sentences[place]) and _PERSON_OR_THING.search(sentences[place - 1].text):
        first.insert(0, place - 1)
    return first


def _refers(sentence: _Sentence) -> bool:
    """Return whether a sentence cannot be understood without the one before."""
    text = _WHEN.sub("", sentence.tidied)
    if _BARE_THING.match(text):
        return True
    if not _SUBJECT.search(text) and not _HAS_SUBJECT.match(text):
        return len(text.split()) <= _SHORT or bool(_LINKS.match(text))
    found = _POINTS.search(text)
    return bool(found) and not _DUMMY.match(text) and not _PERSON_OR_THING.search(text[: found.start()] if found else "")


def _goes_back(turn: Turn, sentence: _Sentence) -> bool:
    """Return whether a sentence refers to its speaker's message before; a part of one rather answers the question asked."""
    if not _refers(sentence) or len(sentence.tidied.split()) > MOST_POINTING:
        return False
    return not turn.question or bool(_SOMEBODY.search(sentence.tidied) and not _NAMES_SOMEBODY.search(turn.question))


def _in_third_person(sentence: _Sentence, line: Said) -> str:
    """Return a sentence in the first person that stands alone with its speaker's name; empty if it cannot be told so."""
    dated = _resolved(_DENIAL.sub("", sentence.tidied), line, is_plan=sentence.kind is FactKind.PLAN)
    bare = _WHEN.sub("", dated)
    if len(dated) > LONGEST:
        return ""
    if not _FIRST_PERSON.match(bare) or _OTHERS.search(dated) or '"' in dated or "?" in dated:
        return ""
    if _ELLIPSIS.match(bare) or _FRAGMENT.match(bare):
        return ""
    return "" if dating.MOVING.search(dated) else rewrite(dated, line.name, "") or ""


def _needs(question: str, answer: _Sentence) -> bool:
    """Return whether an answer says little without its question."""
    asks = len(question.split()) > 1 or bool(_ASKS_WHAT.search(question))
    is_short = len(question.split()) <= LONGEST_QUESTION
    text = answer.tidied
    is_part = not _SUBJECT.search(text) or bool(_ELLIPSIS.match(text) or _FRAGMENT.match(text))
    return asks and is_short and (is_part or _refers(answer))


def _is_lost(answer: _Sentence, question: str) -> bool:
    """Return whether an answer would be taken for the speaker's life without its question: “moved to leeds” of a sister."""
    first = answer.tidied.split(" ", 1)[0].lower()
    says_deed = not _SUBJECT.search(answer.tidied) and (is_past(first) or first.endswith("ing"))
    return says_deed and asked_about(question) not in {"", "you"}


def _quoted(group: Sequence[_Sentence], line: Said, question: str) -> str:
    """Return sentences word for word, with the day they were said if that tells what their words of time mean."""
    dated = [_resolved(_bare(one.text), line, is_plan=one.kind is FactKind.PLAN) for one in group]
    whole = " ".join(_ended(text) for text in dated[:-1]) + " " + dated[-1] if len(dated) > 1 else dated[0]
    bare = _TAIL.sub("", _LEAD.sub("", whole))
    said = _cut(bare if WORD.search(bare) else whole)
    when = f" on {dating.spell(line.time.date())}" if dating.MOVING.search(said) else ""
    asked = f"Asked “{question}”, " if question else ""
    return f"{asked}{line.name} said{when}: “{said}”"


def _ended(text: str) -> str:
    """Return a sentence with a full stop if it ends with a word."""
    return f"{text}." if text[-1:].isalnum() else text


def _cut(text: str) -> str:
    """Return as many whole sentences of a text, or else words, as `LONGEST` characters hold."""
    if len(text) <= LONGEST:
        return text
    ends = [found.end() for found in _ENDS.finditer(text, 0, LONGEST)]
    return text[: ends[-1]] if ends else text[:LONGEST].rsplit(" ", 1)[0] + "…"


def _resolved(text: str, line: Said, *, is_plan: bool = False) -> str:
    """Return a text with its relative dates spelled out, and those of a plan with their year."""
    is_to_come = is_plan and not _OFTEN.search(text) and not dating.tells_past(text)
    return dating.resolve(text, line.time.date(), event=is_to_come)


def _bare(text: str) -> str:
    """Return a text on one line without quotation marks of its own."""
    return " ".join(text.translate(_QUOTES).split())
