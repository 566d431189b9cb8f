"""How telling a sentence is: what it says of a life, a plan or a feeling, and how much of what the conversation was about."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lethe_app.brain.summary.plans import StatedPlan, plan_in
from lethe_app.brain.text.sentences import Sentence
from lethe_app.brain.vocabulary.common_words import DULL, FEELINGS, FOREIGN, GRAVE, GRAVE_PAIRS, KIN, WHEN
from lethe_app.retrieval.query_terms import STOP_WORDS, WORD, fold

_FIRST = frozenset(
    """
    i my mine me we our us ich mein meine meinen meiner meinem wir je mon ma mes yo mi io mio mia eu meu minha ik mijn
    """.split()  # noqa: SIM905 - see retrieval/query_terms
)
_FIRST_UNSPACED = re.compile("[我私僕俺]|ฉัน|ผม|나는|저는")
_HEDGE = r"(?:(?:so|and|but|yeah|yes|no|wow|oh|well),? )*"
_SECOND = re.compile(_HEDGE + r"(?:you|your|you're|you've|that|that's|sounds?|looks?|what an?|how)\b", re.IGNORECASE)
_DANGLING = re.compile(
    _HEDGE + r"(?:it|it's|its|that|that's|they|they're|he|he's|she|she's|this|these|those|them)\b", re.IGNORECASE
)
_GREETING = re.compile(
    _HEDGE + r"(?:(?:hey|hi+|hiya|hello|yo|greetings|good (?:morning|evening|night|afternoon)|bye|goodbye|see (?:you|ya)"
    r"|take care|talk (?:soon|later)|(?:i'm )?sorry|thanks|thank you|thx|wow|whoa|congrats|congratulations|cool"
    r"|nice|awesome|great|glad|aww?|good luck|no (?:worries|problem)|you're welcome|have (?:a|fun)|keep (?:up|it|me|going|on)"
    r"|welcome|sounds|let me know|hope (?:you|to hear)|can't wait to (?:hear|see (?:it|you|what))|hallo|guten|danke|tschüss"
    r"|bonjour|salut|merci|hola|gracias|ciao|grazie|привет|спасибо|مرحبا|שלום)\b"
    r"|你好|您好|嗨|早上好|晚安|谢谢|謝謝|真的|こんにちは|こんばんは|おはよう|ありがとう|本当|안녕|감사|สวัสดี|ขอบคุณ)",
    re.IGNORECASE,
)
_ADDRESSED = frozenset({"you", "your", "yours", "yourself"})
_EMPTY = re.compile(
    _HEDGE + r"(?:i(?:'m| am)? (?:totally |really |just |so |also |can )?(?:sure|understand|agree|bet|hope (?:you|it|that)|"
    r"know (?:what|how|that|you)|see\b|guess|appreciate|glad|happy (?:for|to hear|you)|proud of you|here for|imagine|owe you|"
    r"will keep|feel you|hear you|love (?:that|it|your|how)|think (?:you|that's|so)|wish you|get (?:it|that|what))\b"
    r"|i'll (?:keep|let|be (?:here|there|sure)|make sure|always)\b|tell me\b)",
    re.IGNORECASE,
)
"""Assent and sympathy, which tell nothing of the one who says it."""
_NAME = re.compile(r"(?<=[^\s.!?…\"“:*] )[A-Z][a-zà-ÿ]+")


@dataclass(frozen=True)
class SentenceSigns:
    """What a sentence shows of itself, whatever the conversation."""

    own: bool = False
    """Somebody speaks of themselves."""
    plan: StatedPlan | None = None
    feeling: bool = False
    grave: bool = False
    kin: bool = False
    when: bool = False
    named: bool = False
    """It names a person or place."""

    @property
    def tells(self) -> bool:
        """Is there something of a life in it?"""
        return self.grave or self.plan is not None or (self.own and (self.feeling or self.kin or self.when or self.named))


def read_signs(sentence: Sentence, speakers: frozenset[str]) -> SentenceSigns:
    """`speakers` are the folded words of the names of those who speak, who are not worth naming."""
    text, said = sentence.text, sentence.words
    return SentenceSigns(
        own=not _FIRST.isdisjoint(said)
        or said[:2] == ("guess", "who")
        or bool(not text.isascii() and _FIRST_UNSPACED.search(text)),
        plan=plan_in(sentence),
        feeling=not FEELINGS.isdisjoint(said),
        grave=not GRAVE.isdisjoint(said) or not GRAVE_PAIRS.isdisjoint(pairwise(said)),
        kin=not KIN.isdisjoint(said),
        when=not WHEN.isdisjoint(said) or any(map(str.isdigit, said)),
        named=any(name.casefold() not in speakers and name.casefold() not in DULL for name in _NAME.findall(text)),
    )


@dataclass(frozen=True)
class ConversationVocabulary:
    """What the words of this conversation are worth."""

    dull: frozenset[str]
    """Folded words that say nothing here."""
    speakers: frozenset[str]
    """Folded words of the names of those who speak."""
    names: tuple[str, ...] = ()
    """Those who speak."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Of every word that is not dull: 1 + ln of the number of messages it stands in."""

    @classmethod
    def of(cls, sentences: Sequence[Sentence], names: Sequence[str]) -> ConversationVocabulary:
        """The words of these sentences, of a conversation of speakers with these names."""
        counts: Counter[str] = Counter()
        for sentence in sentences:
            counts.update(sentence.words)
        called = {fold(word) for name in names for word in WORD.findall(name)}
        speakers = frozenset(called | {word for word in counts if _is_short_for(word, called)} - DULL)
        dull = DULL if _is_english(counts) else DULL | FOREIGN
        return cls(dull, speakers, tuple(names), _weights(sentences, dull | speakers))

    @property
    def is_english(self) -> bool:
        return self.dull is DULL

    def other(self, name: str) -> str:
        """The one to whom a speaker speaks where there are two; empty where there are more."""
        others = [other for other in self.names if other != name]
        return others[0] if len(others) == 1 else ""

    def telling(self, words: Iterable[str]) -> set[str]:
        """Those of the words that say something."""
        return {word for word in words if word in self.weights}


def salience(sentence: Sentence, signs: SentenceSigns, vocabulary: ConversationVocabulary) -> float:
    """What a sentence is worth as a memory; 0 is a greeting, praise or filler.

    Signs add up; a sentence without any is general talk, and ways of saying little take away. How much of the conversation it
    covers is weighed where it is chosen (brain/selection).
    """
    telling = vocabulary.telling(sentence.words)
    if not (telling or signs.grave) or (_GREETING.match(sentence.text) and (len(sentence.words) < 6 or not signs.tells)):
        return 0.0
    worth = 1 + 0.5 * signs.own + 0.5 * (signs.plan is not None) + 0.25 * signs.feeling + 1.0 * signs.grave
    worth += 0.35 * signs.kin + 0.25 * signs.when + 0.35 * signs.named
    if worth == 1:
        worth = 0.45
    if sentence.asks:
        worth *= 0.25
    if _SECOND.match(sentence.text):
        worth *= 0.4
    if not signs.own and not _ADDRESSED.isdisjoint(sentence.words):
        worth *= 0.5
    if _EMPTY.match(sentence.text):
        worth *= 0.3
    if _DANGLING.match(sentence.text):
        worth *= 0.6
    return worth * min(1.0, 0.25 + 0.25 * (len(telling) + signs.grave + signs.kin))


def _is_english(counts: Counter[str]) -> bool:
    """A tenth of all words are English stop words, and not more are those of other languages; of few words none may be."""
    total = counts.total()
    english = sum(counts[word] for word in STOP_WORDS)
    if english < sum(counts[word] for word in FOREIGN - STOP_WORDS):
        return False
    return 10 * english >= total or (total < 30 and all(map(str.isascii, counts)))


def answers_nothing(sentence: Sentence) -> bool:
    """Does it only thank or praise, whatever was asked?"""
    return bool(_GREETING.match(sentence.text) or _SECOND.match(sentence.text))


def _is_short_for(word: str, names: Collection[str]) -> bool:
    """Is it a name's beginning, as Mel is of Melanie?"""
    return len(word) >= 2 and any(name.startswith(word) for name in names)


def _weights(sentences: Sequence[Sentence], dull: frozenset[str]) -> dict[str, float]:
    lines: Counter[str] = Counter()
    last: dict[str, int] = {}
    for sentence in sentences:
        for word in sentence.words:
            if word not in dull and last.get(word) != sentence.line:
                last[word] = sentence.line
                lines[word] += 1
    return {word: 1 + math.log(count) for word, count in lines.items()}
