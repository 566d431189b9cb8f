"""What can honestly be said of a session without a model: its title, the most telling lines, its keywords, goals and weight."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.brain import goals as wishes
from lethe_app.brain.quotable import Sentence, parts, plain, sentences, words
from lethe_app.brain.quoting import Quote, shorten, written
from lethe_app.brain.said import Said
from lethe_app.brain.salience import Signs, Vocabulary, read_signs, salience
from lethe_app.brain.selection import Report, choose, reports
from lethe_app.brain.titles import titled
from lethe_app.brain.topics import keywords, topics
from lethe_app.domain.chat import Role
from lethe_app.retrieval.render import SENTENCE_END
from lethe_app.retrieval.words import WORD

LONGEST = 1200
"""Characters of a summary: some 300 tokens."""
MOST_WORDS = 6
LONGEST_TITLE = 48
"""Of a title that is how the conversation began."""
FADED = 0.7
"""What the oldest report of a rolling summary weighs against the newest."""
LEAST = 150
SHARE = 0.3
"""A summary may have `LEAST` characters and so large a share of the conversation."""
_FRAMED = re.compile(r'(?P<name>[^"\n]{1,40}?)(?: (?:said|asked|wrote), "|：「)')


@dataclass(frozen=True)
class Digest:
    """What the session browser shows and the prompt tells of a session that is over."""

    title: str = ""
    summary: str = ""
    keywords: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    relevance: int = 1
    is_roleplay: bool = False


def digest(lines: Sequence[Said], *, longest: int = LONGEST) -> Digest:
    """Everything at once; no lines give an empty digest."""
    said = sentences(lines)
    vocabulary = Vocabulary.of(said)
    signs = [read_signs(sentence, vocabulary.speakers) for sentence in said]
    about = topics(said, vocabulary)
    return Digest(
        title=_title(lines, titled(about, said, is_english=vocabulary.is_english)),
        summary=_summary(said, signs, vocabulary, longest),
        keywords=keywords(about),
        goals=wishes.goals(said, [sign.plan for sign in signs]),
        relevance=_relevance(said, signs),
        is_roleplay=is_roleplay(lines),
    )


def summary(lines: Sequence[Said], longest: int = LONGEST) -> str:
    """The most telling lines in their order, one report to a line, in at most `longest` characters; short for a short talk."""
    said = sentences(lines)
    vocabulary = Vocabulary.of(said)
    return _summary(said, [read_signs(sentence, vocabulary.speakers) for sentence in said], vocabulary, longest)


def title(lines: Sequence[Said]) -> str:
    """Two to six words; where nothing stands out, how the user began."""
    said = sentences(lines)
    vocabulary = Vocabulary.of(said)
    return _title(lines, titled(topics(said, vocabulary), said, is_english=vocabulary.is_english))


def _summary(said: Sequence[Sentence], signs: Sequence[Signs], vocabulary: Vocabulary, longest: int) -> str:
    if longest <= 0:
        return ""
    room = min(longest, LEAST + int(SHARE * sum(len(sentence.text) for sentence in said)))
    candidates = reports(said, signs, vocabulary, longest)
    chosen = choose(candidates, dict(vocabulary.weights), room)
    if not chosen and candidates and longest > 0:
        best = max(candidates, key=lambda report: report.salience)
        return shorten(best.quote.alone, longest)
    return written(report.quote for report in chosen)


def rolling(lines: Sequence[Said], before: str, longest: int) -> str:
    """The rolling summary `before` with what `lines`, which just left the window, add to it; at most `longest` characters.

    While there is room, the new reports follow the old. When there is none, all of them compete again by the same rule as
    the sentences of a session, the older with less weight: old content fades, but what is most telling of it stays.
    """
    before = before.strip()
    known = [line for piece in before.split("\n") for line in _lines(piece, longest)]
    said = sentences(lines)
    vocabulary = Vocabulary.of([*map(_told, known), *said])
    signs = [read_signs(sentence, vocabulary.speakers) for sentence in said]
    fresh = _summary(said, signs, vocabulary, max(longest // 2, 1) if known else longest).split("\n")
    new = [line for line in fresh if line and line not in known]
    joined = "\n".join([before, *new] if before else new)
    if len(joined) <= longest:
        return joined
    together = list(dict.fromkeys([*known, *new]))
    candidates = [_again(line, place, len(together), vocabulary) for place, line in enumerate(together)]
    chosen = choose(candidates, dict(vocabulary.weights), longest)
    return "\n".join(report.quote.alone for report in chosen) or shorten(together[-1], longest)


def is_roleplay(lines: Sequence[Said]) -> bool:
    """Is nearly all of it played: four fifths of the words in messages with actions, narration or speech in quotation marks,
    and these at least half of the messages? A smile between asterisks does not make a play."""
    played = told = count = 0
    for line in lines:
        said = parts(plain(line.text))
        size = sum(len(WORD.findall(part.text)) for part in said)
        acted = sum(len(WORD.findall(part.text)) for part in said if part.narrates)
        if acted >= 3 and 5 * acted >= size:
            played += size
            count += 1
        told += size
    return count >= 2 and 2 * count >= len(lines) and 5 * played >= 4 * told


def _relevance(said: Sequence[Sentence], signs: Sequence[Signs]) -> int:
    """1 to 5: 1 + 5 x length x (1 + density + gravity) / 3, rounded, each of the three from 0 to 1.

    Length is log2(1 + telling sentences) / 6, full at 63 of them; density is the share of telling sentences, full at a half;
    gravity is the share of grave ones, of feelings and of plans, full at three in ten. A sentence is telling by `Signs.tells`.
    """
    told = [sign for sentence, sign in zip(said, signs, strict=True) if not sentence.asks]
    telling = sum(sign.tells for sign in told)
    if not telling:
        return 1
    heavy = sum(sign.grave + 0.5 * (sign.tells and sign.feeling) + 0.25 * (sign.plan is not None) for sign in told)
    length = min(1.0, math.log2(1 + telling) / 6)
    density, gravity = min(1.0, 2 * telling / len(said)), min(1.0, heavy / len(said) / 0.3)
    return min(5, 1 + round(5 * length * (1 + density + gravity) / 3))


def _title(lines: Sequence[Said], found: str) -> str:
    by_role = sorted(lines, key=lambda line: line.role is not Role.USER)
    return found or next(filter(None, map(_opening, by_role)), "")


def _opening(line: Said) -> str:
    """The first words of a message, without actions."""
    text = " ".join(part.text for part in parts(plain(line.text)) if not part.narrates) or plain(line.text).replace("*", "")
    kept = text.split()[:MOST_WORDS]
    return shorten(" ".join(kept).rstrip(" ,;:.!?…。！？"), LONGEST_TITLE)


def _lines(piece: str, longest: int) -> list[str]:
    """A report of an earlier summary as it is; of one that was written otherwise every sentence."""
    found = [piece] if _FRAMED.match(piece) else SENTENCE_END.split(piece)
    return [shorten(text, longest) for line in found if (text := " ".join(line.split()))]


def _told(line: str) -> Sentence:
    return Sentence(-1, "", Role.USER, line, words(line), narrates=False)


def _again(line: str, place: int, count: int, vocabulary: Vocabulary) -> Report:
    """A report of an earlier summary as a candidate for the next."""
    framed = _FRAMED.match(line)
    sentence = _told(line[framed.end() :] if framed else line)
    worth = salience(sentence, read_signs(sentence, vocabulary.speakers), vocabulary)
    faded = (FADED + (1 - FADED) * place / count) * max(worth, 0.1)
    speaker = framed["name"] if framed else ""
    return Report(Quote(place, "", line), speaker, place / count, frozenset(vocabulary.telling(sentence.words)), faded)
