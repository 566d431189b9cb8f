"""Detection of plans and intentions in a sentence, with their extent, and the selection of a session's goals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lethe_app.brain.text.sentences import Sentence, normalized_words
from lethe_app.brain.vocabulary.common_words import NON_TOPIC_WORDS
from lethe_app.dates.words import MONTH, WEEKDAY

MAX_PLAN_LENGTH = 110
"""Maximum characters of one plan."""

_ADVERB = "definitely|probably|maybe|also|really|just|certainly|still|finally|totally|actually|now|even|both|all"
_ADVERBS = rf"(?:(?:{_ADVERB}|soon) ){{0,2}}"
_NOT_A_PLAN = (
    rf"(?:(?:{_ADVERB}|be sure to|make sure to) |keep (?:you|ya|u|my|that|it|up|going|on|\w+ing)\b"
    r"|take (?:a look|your|the bet|it|care|that)|check (?:it|that|them|those|this)\b|give (?:you|it)\b|show you"
    r"|(?:like|love) to see|go\b(?=[,.!]|$| now| try| train)|see\b(?! (?:the (?!impact)|my|a|him|her|them))|get (?:one|it)\b"
    r"|be (?:honest|here|there for|fine|ok|happy|proud|great)|say\b|admit|tell you\b|guess|bet\b|never|always|miss\b"
    r"|have to say|assume|think\b|know\b|hear\b|let you know|pass\b|stop there|not\b|thank|cry\b|die\b|point out|believe|echo"
    r"|support|do (?:it|that|my best|something)\b|make (?:it happen|a difference)|talk (?:again|soon|to you)|catch you|cherish"
    r"|continue|reach out|look into it\b|share (?:it|that|this)\b)"
)
"""Continuations of “I'll” and “let's” that announce no plan."""
_CUE_WORDS = frozenset(
    """
    ll will shall going gonna planning off hoping determined set signing starting meeting flying leaving moving visiting plan
    intend aim promise hope need have want wait got decided thinking like love should must let lets remind goal dream next
    looking about
    """.split()  # noqa: SIM905 - see retrieval/query_terms
)
"""Words of which an English sentence with a plan contains at least one; a cheap test before the regular expression."""
_LEAD = (
    r"(?:^|(?<=[,;:.!?—–(-])\s?|(?<=[,;:.!?—–(-] )|(?<= )(?:and|but|so|think|guess|then|because|cause|maybe|anyway|well"
    r"|now|today|tomorrow|tonight|weekend|year|month|week|summer|soon|also|yeah|yes|say|said|bet|swear|later|sure|ok|okay|please"
    r"|can you|could you) )"
)
"""Contexts in which a plan may begin. After other words “I want to” is part of a phrase such as “the place I want to see”."""
_UNDER_WAY = (
    r"going to|gonna|planning (?:to|on|a|an|for)|about to|off to|hoping to|determined to|set to|signing up|starting(?! to)"
    r"|meeting|flying|leaving|moving|visiting|looking forward to|thinking (?:of|about) (?=\w+ing)"
)
_ANNOUNCED = "|".join(
    (
        rf"(?:I|we)(?:'ll| will| shall) {_ADVERBS}",
        rf"(?:I'm|I am|we're|we are) {_ADVERBS}(?:{_UNDER_WAY}) ",
        rf"(?:I|we) {_ADVERBS}(?:plan|intend|aim|promise|hope|need|have|want|can't wait) {_ADVERBS}to ",
        r"(?:I|we)(?:'ve| have) (?:got to|decided to|been thinking (?:of|about) (?=\w+ing)) ",
        r"(?:I|we)(?:'d| would) (?:like|love) to ",
        rf"(?:we|I) (?:should|must) {_ADVERBS}",
        rf"let's {_ADVERBS}",
        r"remind me (?=to |about |that |when |tomorrow)",
        r"my (?:next )?(?:goal|plan|dream) is to ",
        r"next time,? (?:we|I|let's) ",
        r"looking forward to ",
    )
)
_ENGLISH = re.compile(rf"{_LEAD}(?P<plan>(?:{_ANNOUNCED})(?!{_NOT_A_PLAN})(?=\w))", re.IGNORECASE)
_FOREIGN_CUE_WORDS = frozenset(
    """
    werde werden sollten will mochte muss lass erinnere vais allons devrait veux voy vamos quiero tengo vou quero devo voglio
    andiamo ga wil moeten
    """.split()  # noqa: SIM905 - see retrieval/query_terms
)
_FOREIGN = re.compile(
    r"\b(?:ich werde |wir werden |wir sollten |ich möchte |ich will |ich muss |lass uns |erinnere mich |je vais |"
    r"nous allons |on devrait |je veux |j'aimerais |rappelle-moi |voy a |vamos a |quiero |deberíamos |tengo que |recuérdame |"
    r"vou |quero |devo |voglio |dobbiamo |andiamo |ik ga |ik wil |we moeten )(?=\w)"
    r"|(?:我要|我想|我打算|我会|我們|我们)(?=[^吗嗎？]*[去学學做买買看搬开開])|(?:たい|つもり|予定|しよう|ましょう)",
    re.IGNORECASE,
)
_SOON = re.compile(
    r"\b(?:tomorrow|tonight|next|weekend|soon|later|remind me|promise|morgen|nächste\w*|demain|mañana|domani"
    r"|this (?:week|month|year|summer|winter|autumn|fall|spring|evening|afternoon)"
    rf"|(?:on|by|until|before) (?:{WEEKDAY})"
    rf"|in (?:{MONTH})"
    r"|in (?:a|two|three|a few) (?:days?|weeks?|months?))\b|明天|下个|明日|来週|来月",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"(?:I|we)(?:'d| would)? (?:\w+ )?(?:hope|want|like|love|need|have|should|must)|.{0,9}thinking|let's|looking", re.IGNORECASE
)
_END = re.compile(
    r"\s+(?:but|although|though|because|so that|'?cause|since|as (?:it|I|we|they)|which|where)\s|\s+[-–—]+\s|;"
    r"|\s*[.!?…。！]+[\"”’)]*$|, (?:so|but|and (?:I|it|that|you)|you know|which|it|maybe|right|if you)\b"
)


class StatedPlan(NamedTuple):
    """Part of a sentence that states a plan."""

    text: str
    weight: float
    """1 for an intention, higher if it has a time, lower if it is a wish."""


def find_plan(sentence: Sentence) -> StatedPlan | None:
    """Return the first plan in a sentence, or None. A second one mostly repeats the first."""
    found = None if sentence.asks else _match_plan(sentence)
    if found is None:
        return None
    text = sentence.text.replace("’", "'")
    start = found.start("plan") if found.re is _ENGLISH else 0
    clause = _cut_clause(text[start:], found.end() - start)
    clause_words = normalized_words(clause)
    if clause.isascii() and (len(clause_words) < 4 or NON_TOPIC_WORDS.issuperset(clause_words)):
        return None
    return StatedPlan(clause, 1.0 + 1.5 * bool(_SOON.search(clause)) - 0.5 * bool(_WISH.match(clause)))


def shorten_plan(text: str) -> str:
    """Shorten the text to at most `MAX_PLAN_LENGTH` characters, cut between words where there are any."""
    if len(text) <= MAX_PLAN_LENGTH:
        return text
    cut = text[: MAX_PLAN_LENGTH - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut[40:] else cut}…"


def _match_plan(sentence: Sentence) -> re.Match[str] | None:
    text = sentence.text.replace("’", "'")
    found = None if _CUE_WORDS.isdisjoint(sentence.words) else _ENGLISH.search(text)
    if found or (text.isascii() and _FOREIGN_CUE_WORDS.isdisjoint(sentence.words)):
        return found
    return _FOREIGN.search(text)


def _cut_clause(text: str, min_length: int) -> str:
    """Return the text up to the end of the clause, but at least the words that announce the plan and one more."""
    end = _END.search(text, min_length + 1)
    return shorten_plan((text[: end.start()] if end else text).strip(" ,;:"))


MAX_GOALS = 5
"""Maximum number of goals of a session."""
_OFFER = re.compile(r"^(?:shall we|should we|why don't we|how about we|do you want to|want to|wanna) ", re.IGNORECASE)
_AGREED = re.compile(
    r"^(?:oh,? |wow,? )?(?:yes|yeah|yep|sure|definitely|absolutely|of course|sounds|ok(?:ay)?|gladly|i'd love|deal|count me in|"
    r"let's|great idea|good idea)\b",
    re.IGNORECASE,
)


def select_goals(sentences: Sequence[Sentence], plans: Sequence[StatedPlan | None], limit: int = MAX_GOALS) -> tuple[str, ...]:
    """Return up to `limit` goals as `Name: text`, in session order; later ones and those with a time are preferred.

    `plans` has the result of `find_plan` for each of the sentences.
    """
    found: list[tuple[float, int, str]] = []
    for index, (sentence, plan) in enumerate(zip(sentences, plans, strict=True)):
        recency = 0.5 * index / len(sentences)
        if sentence.narrates:
            continue
        if plan:
            found.append((plan.weight + recency, index, f"{sentence.name}: {plan.text}"))
        elif _is_agreed(sentences, index):
            found.append((2.0 + recency, index, f"{sentence.name}: {shorten_plan(sentence.text)}"))
    best: list[tuple[float, int, str]] = []
    for goal in sorted(found, key=lambda goal: (-goal[0], goal[1])):
        if len(best) == limit:
            break
        if not any(_is_same_goal(goal[2], known[2]) for known in best):
            best.append(goal)
    return tuple(text for _weight, _place, text in sorted(best, key=lambda goal: goal[1]))


def _is_agreed(sentences: Sequence[Sentence], index: int) -> bool:
    """Return whether the sentence is a proposal such as “shall we go tomorrow?” to which the other speaker agreed."""
    proposal = sentences[index]
    if not proposal.asks or not _OFFER.match(proposal.text):
        return False
    answer = next((other for other in sentences[index + 1 : index + 6] if other.line != proposal.line), None)
    return answer is not None and answer.name != proposal.name and bool(_AGREED.match(answer.text))


def _is_same_goal(first_goal: str, second_goal: str) -> bool:
    """Return whether two goals share most of their words."""
    first, second = set(first_goal.lower().split()[1:]), set(second_goal.lower().split()[1:])
    return len(first & second) >= 0.6 * min(len(first), len(second))
