"""Digest of a session without a model: title, extractive summary, keywords, goals and relevance."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.brain.dialogue.dialogue_acts import read_pieces
from lethe_app.brain.fact_rules.third_person import possessive
from lethe_app.brain.summary import endorsed_lines
from lethe_app.brain.summary import plans as wishes
from lethe_app.brain.summary.candidates import Material, SummaryCandidate, candidates, lasting, outdated, says_nothing
from lethe_app.brain.summary.endorsed_lines import TAKEN_UP, names_in, told_sentences
from lethe_app.brain.summary.keywords import SummaryTopic, keywords, topics
from lethe_app.brain.summary.reported_facts import reported_facts
from lethe_app.brain.summary.salience import ConversationVocabulary, SentenceSigns, read_signs, salience
from lethe_app.brain.summary.selection import choose
from lethe_app.brain.summary.title_events import News, news_in
from lethe_app.brain.summary.titles import titled
from lethe_app.brain.text.reported_speech import Quote, shorten, written
from lethe_app.brain.text.sentences import Sentence, parts, plain, words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.domain.facts import FactKind
from lethe_app.retrieval.passage_builder import SENTENCE_END

LONGEST = 1200
"""Maximum characters of a summary, about 300 tokens."""
MOST_WORDS = 6
"""Maximum number of words of a title taken from the beginning of the session."""
LONGEST_TITLE = 48
"""Maximum characters of a title taken from the beginning of the session."""
FADED = 0.7
"""Weight of the oldest report of a rolling summary against 1 of the newest."""
FLEETING = 0.6
"""Weight for the title of a sentence that is not worth remembering, against 1 of one that is."""
LEAST = 250
"""Characters that a summary may always have, in addition to its share of the text."""
SHARE = 0.5
"""Share of the characters of the endorsed sentences that a summary may have in addition to `LEAST`."""
SHARE_OF_FACTS = 0.7
"""The same share for the facts of a summary."""
FEWEST_FACTS = 6
"""Number of facts from which a title may name their general subjects."""
_MATTERS = {
    FactKind.PEOPLE: "family",
    FactKind.WORK: "work",
    FactKind.HOME: "home",
    FactKind.HEALTH: "health",
    FactKind.TASTE: "tastes",
    FactKind.PLAN: "plans",
    FactKind.IDENTITY: "life",
}
_FRAMED = re.compile(r'(?P<name>[^"\n]{1,40}?)(?: (?:said|asked|wrote), "|：「)')


@dataclass(frozen=True)
class Digest:
    """Result that the session list and the prompt show of a finished session."""

    title: str = ""
    summary: str = ""
    keywords: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    relevance: int = 1
    is_roleplay: bool = False


def digest(lines: Sequence[Utterance], *, longest: int = LONGEST) -> Digest:
    """Return title, summary, keywords, goals and relevance of a session; an empty digest for no lines."""
    told = _read(lines)
    about = topics(told.certain, told.vocabulary)
    return Digest(
        title=_title(lines, told, about),
        summary=_summary(told, longest),
        keywords=keywords(about),
        goals=wishes.goals(told.certain, [sign.plan for sign in told.certain_signs]),
        relevance=_relevance(told.certain, told.certain_signs, len(lines)),
        is_roleplay=told.is_played,
    )


def summary(lines: Sequence[Utterance], longest: int = LONGEST) -> str:
    """Return the most salient lines in their order, one report per line, at most `longest` characters, fewer for a short
    session.

    They are taken from the user's utterances and from those of the persona that the user took up
    (brain/summary/endorsed_lines).
    """
    return _summary(_read(lines), longest)


def title(lines: Sequence[Utterance]) -> str:
    """Return a title of two to seven words; if no topic stands out, the beginning of the user's first message."""
    told = _read(lines)
    return _title(lines, told, topics(told.certain, told.vocabulary))


@dataclass(frozen=True)
class _Told(Material):
    """Session material, restricted to what counts as stated."""

    is_played: bool
    """True if most of the user's words are in character."""

    @property
    def certain(self) -> list[Sentence]:
        """The user's own sentences and those the user took up."""
        return [sentence for sentence in self.sentences if sentence.standing >= TAKEN_UP]

    @property
    def certain_signs(self) -> list[SentenceSigns]:
        """The signs of the certain sentences."""
        return [sign for sentence, sign in zip(self.sentences, self.signs, strict=True) if sentence.standing >= TAKEN_UP]


def _read(lines: Sequence[Utterance], known: Sequence[Sentence] = ()) -> _Told:
    """Analyse the lines. `known` are sentences of an earlier summary, whose words count for the vocabulary as well."""
    pieces = read_pieces(lines)
    told = told_sentences(lines, pieces)
    vocabulary = ConversationVocabulary.of([*known, *told], names_in(lines))
    signs = [read_signs(sentence, vocabulary.speakers) for sentence in told]
    is_played = endorsed_lines.is_roleplay(lines, pieces)
    # Facts and news are found by English rules only.
    if not vocabulary.is_english:
        return _Told(told, signs, [None] * len(told), [], vocabulary, is_played)
    left_out = outdated(told, signs, vocabulary)
    news = [None if place in left_out else _news(sentence) for place, sentence in enumerate(told)]
    return _Told(told, signs, news, reported_facts(lines, pieces), vocabulary, is_played)


def _news(sentence: Sentence) -> News | None:
    """Return the event a sentence of the user reports; None if it reports none, is a joke or is in character."""
    is_plain = sentence.role is Role.USER and not (sentence.in_story or sentence.asks or sentence.narrates)
    return news_in(sentence.text) if is_plain and not says_nothing(sentence.text) else None


def is_roleplay(lines: Sequence[Utterance]) -> bool:
    """Return whether most of the user's words are in character. The persona's lines are not considered."""
    return endorsed_lines.is_roleplay(lines, read_pieces(lines))


def _summary(told: _Told, longest: int) -> str:
    if longest <= 0:
        return ""
    said = sum(len(sentence.text) for sentence in told.certain)
    room, room_of_facts = (min(longest, LEAST + int(share * said)) for share in (SHARE, SHARE_OF_FACTS))
    facts, others = candidates(told, longest)
    chosen = choose(facts, others, dict(told.vocabulary.weights), room, room_of_facts)
    if not chosen and (facts or others):
        best = max([*facts, *others], key=lambda report: report.salience)
        return shorten(best.quote.alone, longest)
    return written(report.quote for report in chosen)


def rolling(lines: Sequence[Utterance], before: str, longest: int) -> str:
    """Return the rolling summary `before` extended by the `lines` that just left the context window, in at most `longest`
    characters.

    While there is room, the new reports follow the old ones. When there is none, all of them compete again by the same rule
    as the sentences of a session, older ones with less weight, so that only the most salient old reports stay.
    """
    before = before.strip()
    known = [line for piece in before.split("\n") for line in _lines(piece, longest)]
    told = _read(lines, [*map(_told, known)])
    fresh = _summary(told, max(longest // 2, 1) if known else longest).split("\n")
    new = [line for line in fresh if line and line not in known]
    joined = "\n".join([before, *new] if before else new)
    if len(joined) <= longest:
        return joined
    together = list(dict.fromkeys([*known, *new]))
    competing = [_again(line, place, len(together), told.vocabulary) for place, line in enumerate(together)]
    chosen = choose([], competing, dict(told.vocabulary.weights), longest, longest)
    return "\n".join(report.quote.alone for report in chosen) or shorten(together[-1], longest)


def _relevance(said: Sequence[Sentence], signs: Sequence[SentenceSigns], messages: int) -> int:
    """Return the relevance 1 to 5: 1 + 5 x length x (1 + density + gravity) / 3, rounded, each of the three from 0 to 1.

    Length is log2(1 + telling sentences) / 6, full at 63 of them. Density is the share of telling sentences, full at a half,
    and gravity that of life events, of feelings and of plans, full at three in ten; both are counted by the message where
    there are more messages than sentences. A sentence is telling by `SentenceSigns.tells`.
    """
    told = [sign for sentence, sign in zip(said, signs, strict=True) if not sentence.asks]
    telling = sum(sign.tells for sign in told)
    if not telling:
        return 1
    heavy = sum(sign.grave + 0.5 * (sign.tells and sign.feeling) + 0.25 * (sign.plan is not None) for sign in told)
    length, count = min(1.0, math.log2(1 + telling) / 6), max(len(said), messages)
    density, gravity = min(1.0, 2 * telling / count), min(1.0, heavy / count / 0.3)
    return min(5, 1 + round(5 * length * (1 + density + gravity) / 3))


def _title(lines: Sequence[Utterance], told: _Told, about: Sequence[SummaryTopic]) -> str:
    by_role = sorted(lines, key=lambda line: line.role is not Role.USER)
    begun = next(filter(None, map(_opening, by_role)), "")
    if not told.facts and all(sentence.asks or says_nothing(sentence.text) for sentence in told.certain):
        return begun  # a title made of what was only asked would say that something was told
    least = FLEETING if told.vocabulary.is_english else 1.0
    worth = [
        0.0
        if sentence.in_story and not told.is_played
        else salience(sentence, sign, told.vocabulary) * sentence.standing * lasting(sentence, least)
        for sentence, sign in zip(told.certain, told.certain_signs, strict=True)
    ]
    news = [one for sentence, one in zip(told.sentences, told.news, strict=True) if sentence.standing >= TAKEN_UP]
    found = titled(about, told.certain, worth, news, is_english=told.vocabulary.is_english, matters=_matters(told))
    return found or begun


def _matters(told: _Told) -> str:
    """Return the subjects of most facts, such as “Frank's family and work”; empty if there are fewer than `FEWEST_FACTS`."""
    kinds = Counter(_MATTERS[fact.kind] for fact in told.facts if fact.kind in _MATTERS)
    if sum(kinds.values()) < FEWEST_FACTS:
        return ""
    return f"{possessive(told.facts[0].speaker)} {' and '.join(matter for matter, _count in kinds.most_common(2))}"


def _opening(line: Utterance) -> str:
    """Return the first words of a message, without actions."""
    text = " ".join(part.text for part in parts(plain(line.text)) if not part.narrates) or plain(line.text).replace("*", "")
    kept = text.split()[:MOST_WORDS]
    return shorten(" ".join(kept).rstrip(" ,;:.!?…。！？"), LONGEST_TITLE)


def _lines(piece: str, longest: int) -> list[str]:
    """Split a line of an earlier summary: one of this module's reports stays whole, any other text is split into sentences."""
    found = [piece] if _FRAMED.match(piece) else SENTENCE_END.split(piece)
    return [shorten(text, longest) for line in found if (text := " ".join(line.split()))]


def _told(line: str) -> Sentence:
    return Sentence(-1, "", Role.USER, line, words(line), narrates=False)


def _again(line: str, place: int, count: int, vocabulary: ConversationVocabulary) -> SummaryCandidate:
    """Return a report of an earlier summary as a candidate for the next one."""
    framed = _FRAMED.match(line)
    sentence = _told(line[framed.end() :] if framed else line)
    worth = salience(sentence, read_signs(sentence, vocabulary.speakers), vocabulary)
    faded = (FADED + (1 - FADED) * place / count) * max(worth, 0.1)
    speaker = framed["name"] if framed else ""
    return SummaryCandidate(
        Quote(place, "", line), speaker, place / count, frozenset(vocabulary.telling(sentence.words)), faded
    )
