"""Detect, by rules for English, where the user corrects the persona's way of talking: what they want instead, and how
strongly.

Quoted text and text between asterisks is not addressed to the persona and is ignored. A bare “don't …” counts only with a
verb of talking, because “don't worry” and “don't go” are no requests about the conversation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from lethe_app.brain.text.fingerprint import content_words


class CorrectionStrength(IntEnum):
    """Irritation with which a correction was made; the value is how often it must occur before it counts as a lasting
    preference.
    """

    STRONG = 1
    MILD = 2
    CASUAL = 3


@dataclass(frozen=True)
class Correction:
    """Request about the persona's way of talking."""

    words: str
    """Sentence as the user wrote it."""
    strength: CorrectionStrength
    unwanted: str = ""
    """What the persona shall not do, as it follows “don't”; empty for a request that forbids nothing."""
    instead: str = ""
    """What the persona shall do instead; empty if it was not stated."""

    @property
    def topic_stems(self) -> frozenset[str]:
        """Return the stems of the content words, without words that only express the request."""
        plain = _COMPARED.sub(lambda match: _PLAIN[match[0].lower()], self.unwanted or self.words)
        return content_words(plain) - REQUEST_STEMS

    @property
    def is_prohibition(self) -> bool:
        """Return whether the correction forbids something."""
        return bool(self.unwanted)


_REQUEST_WORDS = (
    "please stop don't told tell wish would could maybe perhaps prefer rather like want hate try keep going again already time "
    "times asked ask go d next little bit nice never ever just really bother annoying annoy"
)
REQUEST_STEMS = content_words(_REQUEST_WORDS)
"""Stems of words that only express a request, whatever its content."""
_PLAIN = {
    "shorter": "short", "briefer": "short", "brief": "short", "longer": "long", "simpler": "simple", "slower": "slow",
    "faster": "fast", "kinder": "kind", "gentler": "gentle", "quieter": "quiet", "funnier": "funny", "warmer": "warm",
}  # fmt: skip


def _rule(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.IGNORECASE)


_COMPARED = _rule(r"\b(?:", "|".join(_PLAIN), r")\b")
_QUOTED_OR_ACTION = re.compile(r"“[^”]*”|\"[^\"]*\"|\*[^*]*\*|`[^`]*`", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
_SPEECH_NOUNS = (
    "you|answers?|replies|reply|messages?|sentences?|paragraphs?|words?|names?|called|jokes?|questions?|emojis?|stories|language|"
    "tone|short(?:er)?|long(?:er)?|simple|simpler|brief(?:er)?|direct|honest|honesty|serious|formal|casual"
)
_LEAD_IN = (
    "^(?:(?:oh|hey|well|ok(?:ay)?|and|but|so|also|no|look|again|seriously|for the last time|please|just|maybe|perhaps)[,:]? +)*"
)
_TOLD_YOU = r"i(?:'ve| have)? (?:already )?(?:told|asked) you"
_VERBS = (
    "call|say|use|write|talk|speak|ask|answer|repeat|tell|mention|do|start|begin|end|finish|interrupt|assume|apologi[sz]e|lecture|"
    "explain|summari[sz]e|flirt|joke|swear|curse|shout|act|pretend|describe|narrate|bring|refer|give|add|include|reply|respond|"
    "address|correct|translate|switch|invent|guess|decide|make|keep|put|quote|rhyme|ramble|preach|be so|be that|be too"
)
_GERUND = _rule(
    "(?:calling|saying|using|writing|talking|speaking|asking|answering|repeating|telling|mentioning|doing|starting|beginning|",
    "ending|interrupting|assuming|apologi[sz]ing|lecturing|explaining|summari[sz]ing|flirting|joking|swearing|cursing|shouting|",
    "acting|pretending|describing|narrating|bringing|referring|giving|adding|including|replying|responding|addressing|",
    "correcting|translating|switching|inventing|guessing|deciding|making|putting|quoting|rhyming|rambling|preaching|being)",
    r"\b",
)
_PROHIBITIONS = (
    _rule(_LEAD_IN, _TOLD_YOU, r"(?: \w+){0,3}? (?:not to|never to)(?P<what>(?: .+)?)"),
    _rule(_LEAD_IN, _TOLD_YOU, r"(?: \w+){0,3}? to stop (?P<doing>.+)"),
    _rule(_LEAD_IN, r"i (?:really )?(?:don't like|do not like|hate|can't stand|dislike)(?: it)? when you (?P<what>.+)"),
    _rule(
        _LEAD_IN,
        r"i(?:'d| would)? (?:wish|rather|prefer)(?: it)?(?: if)? you (?:wouldn't|would not|didn't|did not|don't) (?P<what>.+)",
    ),
    _rule(_LEAD_IN, r"(?:can|could|would|will) you (?:please )?(?:not|stop) (?P<either>.+)"),
    _rule(_LEAD_IN, r"(?:don't|do not|dont|never)(?: ever)? (?P<what>(?:", _VERBS, r")\b.*)"),
    _rule(
        _LEAD_IN,
        r"(?:stop|quit|enough with)(?: (?:it )?with)? (?P<doing>(?:the\b.+|(?:it|that)(?=[ .!]*$)|",
        _GERUND.pattern,
        ".*))",
    ),
    _rule(_LEAD_IN, "try not to (?P<what>.+)"),
)
_REQUESTS = (
    _rule(
        _LEAD_IN,
        r"i(?:'d| would)? (?:really )?(?:prefer|rather|like it (?:better|more|best) (?:when|if)|like it when you)\b",
        rf".*\b(?:{_SPEECH_NOUNS})\b.*",
    ),
    _rule(_LEAD_IN, r"i(?:'d| would) like (?:it if you|you to)\b.+"),
    _rule(_LEAD_IN, _TOLD_YOU, r" to\b.+"),
    _rule(_LEAD_IN, r"(?:could|can|would|will) you (?:please )?(?:be|keep|write|talk|speak|answer|reply|use|call|try)\b.+"),
    _rule(_LEAD_IN, r"call me(?! (?:tomorrow|later|when|if|at|back|tonight|soon|on|maybe|crazy|a\b))\b.+"),
    _rule(_LEAD_IN, r"(?:keep it|keep your|be (?:more|less)|try to be|use (?:more|less|fewer|shorter|longer))\b.+"),
    _rule(r"^(?:(?:a (?:little|bit) )?(?:less|fewer)|no more) .+"),
    _rule(r"^.*\b(?:shorter|longer|simpler|less|fewer|more)\b.*\b(?:would be (?:nice|good|great|better)|next time)\b.*"),
    _rule(r"^.*\bit would be (?:nice|good|great|better) if you\b.+"),
)
_STRONG = _rule(
    r"\b(?:", _TOLD_YOU, r"|how (?:many|often)|for the last time|(?:never|not|don't) .*\bagain\b|i hate|can't stand|sick of|",
    r"fed up|damn|goddamn|hell|fuck\w*|bloody|seriously|enough|so annoying|drives? me)\b|!!",
)  # fmt: skip
_CASUAL = _rule(
    r"\b(?:maybe|perhaps|a (?:little|bit)|would be (?:nice|good|great|better)|i(?:'d| would)? (?:prefer|rather)|i like it|",
    r"try (?:to|not)|next time|could you|i(?:'d| would) like|i(?:'d| would)? wish|kind of|sort of|",
    r"if you (?:can|like|don't mind)|less|fewer)\b",
)
_INSTEAD = _rule(r"(?:[,;:–—-] *|\band +)(?:instead|rather|just|but|say|use|call me)\b.*|\b(?:but rather)\b.*")
_LEADING = _rule(r"^[,;:–—\-\s]*(?:and +)?(?:instead|rather|just|but)?[,:]?\s*")
_NOT_A_REQUEST = _rule(
    r"^(?:don't|do not|never|stop|can you not|could you not) (?:you\b|tell me (?:you|that|it)|make me (?:laugh|cry|blush)|",
    r"say another word|mention it|call it|ask me (?:why|how))",
)
UNNAMED_BEHAVIOUR = "do that"
"""Placeholder for `unwanted` if only the criticised reply shows what was meant."""
MAX_SENTENCE_LENGTH = 240
"""Maximum length of a sentence in characters; a longer one is a narration."""


def find_corrections(text: str) -> list[Correction]:
    """Return every request about the way of talking in the user's text, in order."""
    plain = _QUOTED_OR_ACTION.sub(" ", text).replace("’", "'")
    found = (_parse_sentence(" ".join(sentence.split())) for sentence in _SENTENCE.findall(plain))
    return [one for one in found if one is not None]


def is_alike(first: Correction, second: Correction) -> bool:
    """Return whether two corrections request the same: they share half of the content words of the shorter one."""
    if first.is_prohibition != second.is_prohibition and (first.instead or second.instead):
        return False
    shared, fewer = first.topic_stems & second.topic_stems, min(len(first.topic_stems), len(second.topic_stems))
    return fewer > 0 and 2 * len(shared) >= fewer and (fewer > 1 or first.topic_stems == second.topic_stems or len(shared) == 1)


def _parse_sentence(sentence: str) -> Correction | None:
    if not sentence or len(sentence) > MAX_SENTENCE_LENGTH or _NOT_A_REQUEST.match(sentence):
        return None
    for pattern in _PROHIBITIONS:
        if match := pattern.match(sentence):
            return _parse_prohibition(sentence, match)
    if any(pattern.match(sentence) for pattern in _REQUESTS):
        return Correction(sentence, strength_of(sentence))
    return None


def _parse_prohibition(sentence: str, match: re.Match[str]) -> Correction:
    groups = {name: text.strip() for name, text in match.groupdict().items() if text and text.strip(" .!?…")}
    name, phrase = next(iter(groups.items()), ("what", ""))
    clean_phrase = phrase.rstrip(" .!?…")
    instead_match = _INSTEAD.search(clean_phrase)
    unwanted = (clean_phrase[: instead_match.start()] if instead_match else clean_phrase).strip(" ,;:–—-")
    instead = _LEADING.sub("", instead_match.group()).strip().removesuffix(" instead") if instead_match else ""
    if not unwanted or unwanted.lower() in {"it", "that", "this", "doing that", "doing this", "doing it"}:
        unwanted = UNNAMED_BEHAVIOUR
    elif _GERUND.match(unwanted):
        unwanted = f"go on {unwanted}"
    elif name == "doing":
        unwanted = f"go on with {unwanted}"
    return Correction(sentence, strength_of(sentence), unwanted, instead)


def strength_of(sentence: str) -> CorrectionStrength:
    """Return the strength of a request by its wording; a plain demand is mild."""
    letters = [letter for letter in sentence if letter.isalpha()]
    if _STRONG.search(sentence) or (len(letters) > 8 and all(letter.isupper() for letter in letters)):
        return CorrectionStrength.STRONG
    if _CASUAL.search(sentence):
        return CorrectionStrength.CASUAL
    return CorrectionStrength.MILD
