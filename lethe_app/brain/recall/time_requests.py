"""Detection of requests for the conversations of a time: “What did we talk about on May 2nd?”, “How was I last week?”.

Such a message asks for what was said then, although it may share no word with it. A message that only mentions a time (“I
was tired yesterday”, “my exam is on May 2nd”) is no request. English, and the basic forms of a few languages
(`translated_time_words`).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto

from lethe_app.brain.dates.past_times import PastTime, find_past_times, remove_past_times
from lethe_app.brain.recall.explicit_requests import OPENING_WORDS, RequestedTopic, parse_topic
from lethe_app.brain.recall.translated_time_words import translate_to_english
from lethe_app.brain.vocabulary.normalize import normalize_text

MAX_CHARACTERS = 2000
"""Characters of a message that are read."""


class TimelineEnd(Enum):
    """End of the list of all sessions."""

    FIRST = auto()
    LAST = auto()


@dataclass(frozen=True)
class TimeRequest:
    """Sessions that a message asks for."""

    times: tuple[PastTime, ...] = ()
    edge: TimelineEnd | None = None
    """With `times`, the first or last session of those days; alone, the first or last of all sessions."""
    skipped: int = 0
    """Sessions to skip from that end: 1 for “the time before last”."""
    topic: RequestedTopic | None = None
    """Topic the session must be about; with `times` it only decides which comes first."""

    @property
    def is_exact(self) -> bool:
        """True if every time is a single day."""
        return bool(self.times) and all(time.is_exact for time in self.times)


_TALKED = (
    r"(?:talk(?:ed|ing)?|spoke|speak(?:ing)?|spoken|chat(?:ted|ting)?|discuss(?:ed|ing)?|tell(?:ing)?|told|say(?:ing)?|said|"
    r"mention(?:ed|ing)?|wr[io]te|writing|written|text(?:ed|ing)?|messaged?|shared?|sharing|complain(?:ed|ing)?|"
    r"rant(?:ed|ing)?|vent(?:ed|ing)?|ask(?:ed|ing)?|confess(?:ed)?|promised?|agreed?|argu(?:ed?|ing)|decided?|recommend(?:ed)?|"
    r"suggest(?:ed)?|go(?:ing)? over|went over|went through|cover(?:ed)?|worried|worry(?:ing)?)"
)
_TALK = r"(?:conversation|convo|chat|talk|discussion|session|exchange|story|scene|adventure|game|rp|roleplay|call|meeting)s?"
_QUESTION_WORD = r"\b(?:what|whats|what's|which|who|whom|where|how|why)\b"
_ADVERB = r"(?:(?:really|just|even|ever|still|also|actually|already|again|both|first|last|originally|exactly) )*"
_TALK_ADJECTIVES = r"(?:(?:very|first|last|latest|previous|earlier|most recent|recent|long|little|whole|entire) )*"
_TOLD_ME = (
    r"(?:tell(?:ing)? me|told me|say(?:ing)?\b|said|suggest|recommend|advi[sc]e|promise|call(?:ed)? me|ask(?:ed)? me|give me|"
    r"remind me|teach me|show me|explain)"
)
_USER_STATE = r"(?:going on|new|up|wrong|bothering|troubling|on my mind|it about)"
_QUESTIONS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_QUESTION_WORD}(?: [\w'-]+){{0,4}}? (?:did|had|have|were|was) we\b",
        r"\b(?:what|whats|which|who|whom|where|how)\b(?: [\w'-]+){0,4}? (?:did|had|have|was) i\b(?! (?:supposed|meant|born))",
        r"\bwhy (?:was i (?:so |feeling |in )?|did i (?:feel|seem|sound) )(?!tired\b)\w+",
        rf"(?:did|have|had|were|was|when did|when was) we {_ADVERB}(?:{_TALKED}|meet|met|finish|play|leave|stop|start)\b",
        r"\bhow (?:was|were|has|had)(?: \w+)? (?:i|we|my)\b(?! (?:supposed|to))",
        r"\bdid i (?:tell|say|mention|share|write|ask)(?: to)?(?: you)? (?:any|some|every)(?:thing|body|one)\b",
        rf"\b(?:what|which|where|how|why)(?: [\w'-]+){{0,3}}? (?:did|had|have|were|was) you {_ADVERB}{_TOLD_ME}",
        rf"\b(?:when|how|where) (?:and \w+ )?did we {_ADVERB}(?:meet|met|start|begin|get to know)\b",
        r"\bwhen (?:did|was|were) (?:we|i|our)\b",
        rf"\b(?:did|have) we (?:have|had) (?:a|any) {_TALK}\b",
        r"\bwhat(?:'?s| is| was| were) the (?:very )?(?:first|last|latest) (?:thing|topic|subject)s?\b",
        r"\bwhat (?:was|were) my \w+",
        rf"\b(?:what|how) (?:was|were) (?:our|\w+'s) {_TALK_ADJECTIVES}{_TALK}\b",
    )
)
"""Questions about the past that are recognised by their word order, with or without a question mark."""
_OPENING_QUESTION = re.compile(
    rf"(?:was i|did i (?:feel|seem|sound|look|sleep|act)|have i been|had i been|"
    rf"(?:.*, ?)?what (?:happened|went on|was {_USER_STATE}))\b(?! (?:to|with) you\b)"
)
"""Further such questions, recognised only at the beginning of the sentence."""
_NOT_PRESENT = r"(?!(?:should|shall|will|would|could|can|might|must|do|does|am|is|are|if)\b)"
_WHAT_WAS_SAID = re.compile(
    rf"\b(?:what|that|the \w+|which|everything|anything|something|stuff|things?)"
    rf"(?: {_NOT_PRESENT}[\w'-]+){{0,3}}? (?:i|we|you) "
    rf"{_ADVERB}(?:was |were |had |have |did )?{_TALKED}\b"
)
_SHARED_TALK = re.compile(
    rf"\b(?:our|yesterday's|\w+day's|last \w+'s) {_TALK_ADJECTIVES}{_TALK}\b|"
    rf"\b(?:the|that) {_TALK_ADJECTIVES}(?:conversation|convo|chat|talk|discussion)s?\b|"
    rf"\bthe (?:last|previous|first) {_TALK}\b|\b(?:where|what) we (?:left|stopped|were|ended|did)\b"
)
_ASKS_TO_REMEMBER = re.compile(
    r"\b(?:(?:do|don't|did|didn't|can|can't|could|would) (?:you|u|ya|we) (?:\w+ ){0,2}?(?:remember|recall|know|forget)|"
    r"(?:you|u) (?:\w+ )?(?:remember|recall)|have you forgotten|any memory of|(?:^|[,.] ?)remember|"
    r"what do you (?:\w+ )?(?:remember|recall|know))\b(?! to\b| (?:that )?(?:i|my \w+) (?:have|has|am|is|need)\b)"
)
_ASKS_FOR_KNOWLEDGE = re.compile(r"\byou (?:\w+ )?know\b")
_ASKS_FOR_SUMMARY = re.compile(
    r"\b(?:recap|summari[sz]e|sum up|summary of|rundown of|catch me up|bring me up to speed|fill me in)\b"
)
_ASKS_TO_REMIND = re.compile(
    r"\b(?:remind me|refresh my memory|walk me through|go (?:back )?over|think back to|go back to|look back (?:at|on)|"
    r"(?:tell|show|give) me)\b(?! to\b)"
)
_OWN_PAST = re.compile(r"\b(?:what|how|where|who) (?:i|we) (?:was|were|did|had|felt|\w+ed)\b")
_ASKS_TO_RESUME = re.compile(
    rf"\b(?:continue|pick (?:it |things )?(?:back )?up|resume|carry on|go on|keep going|return|get back|go back)\b.*"
    rf"(?:\bfrom\b|\bwhere we\b|\bour\b|\bthe {_TALK}\b)"
)
_SAYS_FORGOTTEN = re.compile(
    r"\bi (?:can't|cannot|can not|don't|do not|couldn't) (?:\w+ )?(?:remember|recall)\b|"
    r"\bi(?:'ve| have)? (?:completely |totally )?forg[oe]t(?:ten)?\b|\bi wonder\b|"
    r"\bi'm (?:trying to remember|curious)\b|\bi(?:'d| would) like to know\b|\bi want to know\b"
)
_ANNOUNCEMENT = re.compile(
    r"(?:^|[,.;-] ?|\b(?:so|and|but|oh|hey|btw|well|anyway|now|ok) )(?:can|may|could|should|shall|did|have) i (?:already )?"
    r"(?:tell|told) (?!(?:you )?(?:any|some|every))|\b(?:guess|let me tell|lemme tell|"
    r"i(?:'ll| will| want to| wanna| have to| need to| gotta| should| must) tell|"
    r"(?:you|u) (?:want|wanna|like|care|curious) (?:to )?(?:hear|know)|wanna hear|you know what|you won't believe|you'll never|"
    r"(?:do|don't|did) you know what (?:happened|i did)|(?:hear|see) what)\b"
)
"""Phrases that announce news instead of asking for the past."""
_PRESENT = re.compile(
    r"\b(?:what|where|how|when|who|which)(?: \w+)? (?:should|shall|will|would|can|could|do|does|is|are|am|might|must) \w+|"
    r"\b(?:will|shall|going to|gonna|next|tomorrow|are we still|is (?:it|our|the)) \w+"
)
"""Phrases that ask about the present or the future."""

_THEY_TALKED = rf"(?:(?:i|we|you) {_ADVERB}(?:have |had |were |was )?{_TALKED}|(?:i|we|you) met)"
_FIRST = re.compile(
    rf"\b(?:(?:first|earliest)(?: ever)? (?:{_TALK}|messages?|words?|meeting|encounter|evening|night|day (?:together|we)|"
    rf"time (?:we|i|you) (?:ever )?(?:met|{_TALKED})|things? (?:i|we|you)(?: ever)? {_TALKED})|"
    rf"(?:we|i|you) (?:first|originally) (?:met|meet|{_TALKED}|started)|(?:met|meet|{_TALKED}) for the first time|"
    rf"(?:when|how|where|day|since)(?: did)? we (?:first )?(?:met|meet)\b|did we (?:first|originally) (?:meet|{_TALKED})|"
    rf"did i first {_TALKED}|we (?:started|began) (?:talking|chatting|writing|speaking)|"
    r"(?:very )?(?:beginning|start) of (?:us|our \w+|this \w+)|at the very (?:beginning|start)|in the very beginning)\b"
)
_LAST = re.compile(
    rf"\b(?:(?:the )?last times?(?! (?:i|you|my|he|she|they|it|the|we)\b)|last times? {_THEY_TALKED}|"
    rf"last times? we (?:saw|were here|played)|(?:last|previous|most recent|latest|prior) {_TALK}|"
    rf"(?:last|previous|most recent|latest) things? (?:i|we|you) (?:\w+ )?{_TALKED}|"
    rf"(?:we|i|you) last {_TALKED}|(?:did we|we) (?:leave|left|stop|stopped|end|ended)(?: off)?|"
    rf"where were we|(?:time|one|{_TALK}) before (?:last|that|the last)|"
    r"before this (?:one|conversation|chat|session|talk)|previously)\b"
)
_BEFORE_LAST = re.compile(rf"\b(?:time|one|{_TALK}) before (?:last|that|the last)\b")
_REQUEST_WORDS = re.compile(
    rf"\b(?:{_TALK}|{_TALKED}|remember\w*|recall\w*|forg[eo]t\w*|remind|recap|summar\w*|sum|rundown|refresh|memory|catch|speed|fill|"
    r"continue|pick|resume|happened|going|new|mood|feel\w*|felt|seem\w*|sound\w*|doing|busy|time|times|conversation|together|day|"
    r"topic|subject|session|messages?|words?|left|leave|off|stopped|previous\w*|earlier|recent|latest|originally|quick\w*|short|brief\w*|"
    r"meet|met|meeting|evening|night|morning|think|list|show|know|curious|wonder\w*|anything|something|exactly|please|pls|again)\b",
    re.IGNORECASE,
)
"""Words of the request itself, which are not its topic."""
_CONTRACTED_DID = re.compile(r"\b(what|where|who|how|why|when)'?d (?=i\b|we\b|you\b)")
"""Contracted “did”, as in “what'd we do”."""
_SENTENCE_END = re.compile(r"(?<=[?!…。？！])\s*|(?<=[^\d\W][.])\s+|[\n\"*]+")
"""End of a sentence. A full stop after a digit is none, as in “2. Mai”."""
_MEMORY_QUESTION = re.compile(
    r"(?:(?:do|can|don't) you (?:still )?)?(?:remember|recall)(?: (?:it|that|what|this))?\W*$|"
    r"(?:what|who|where|which one) was (?:it|that)\W*$"
)


def find_time_request(text: str, today: date, present_names: Collection[str] = ()) -> TimeRequest | None:
    """Return the last request for a time in a message written on `today`; None if there is none."""
    sentences = [
        each for part in _SENTENCE_END.split(text[:MAX_CHARACTERS]) if (each := normalize_text(part, keep_case=True).strip())
    ]
    for index in range(len(sentences) - 1, -1, -1):
        sentence = sentences[index]
        if index and _MEMORY_QUESTION.match(sentence.lower()):  # “I told you something yesterday. Do you remember?”
            sentence = f"{sentences[index - 1].rstrip('.')} - {sentence}"
        if (request := _parse_request(sentence, today, present_names)) is not None:
            return request
    return None


def _parse_request(sentence: str, today: date, present_names: Collection[str]) -> TimeRequest | None:
    translated = translate_to_english(sentence)
    lowered = translated or _CONTRACTED_DID.sub(r"\1 did ", sentence.lower())
    times = tuple(find_past_times(lowered, today))
    rest = remove_past_times(lowered)
    edge = TimelineEnd.FIRST if _FIRST.search(rest) else TimelineEnd.LAST if _LAST.search(rest) else None
    if (not times and edge is None) or not (translated or _is_past_question(lowered)):
        return None
    skipped = int(edge is TimelineEnd.LAST and _BEFORE_LAST.search(rest) is not None)
    # `parse_topic` reads English only, so a translated request has no topic.
    topic = None if translated else parse_topic(_REQUEST_WORDS.sub(" ", remove_past_times(sentence)), present_names)
    return TimeRequest(times, edge, skipped, topic)


def _is_past_question(lowered: str) -> bool:
    """Return whether the sentence asks for the past that both share, or for the user's own past."""
    if _ANNOUNCEMENT.search(lowered):
        return False
    if any(pattern.search(lowered) for pattern in _QUESTIONS) or _OPENING_QUESTION.match(
        OPENING_WORDS.sub("", lowered, count=1)
    ):
        return True
    shared = bool(_WHAT_WAS_SAID.search(lowered) or _SHARED_TALK.search(lowered))
    return (bool(_WHAT_WAS_SAID.search(lowered)) or not _PRESENT.search(lowered)) and _is_recount_request(
        lowered, shared=shared
    )


def _is_recount_request(lowered: str, *, shared: bool) -> bool:
    """Return whether the sentence asks to remember, to recount or to resume. `shared`: it refers to what was said between
    them.
    """
    is_question = lowered.rstrip().endswith("?")
    if _ASKS_TO_REMEMBER.search(lowered):
        return shared or (is_question and not _ASKS_FOR_KNOWLEDGE.search(lowered))
    if _ASKS_FOR_SUMMARY.search(lowered) or _ASKS_TO_RESUME.search(lowered):
        return True
    if _ASKS_TO_REMIND.search(lowered) or _SAYS_FORGOTTEN.search(lowered):
        return shared or bool(_OWN_PAST.search(lowered))
    return shared and is_question
