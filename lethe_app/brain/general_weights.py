"""Weighs the verb of a first-person clause for the general rules: does it report something worth remembering?"""

from __future__ import annotations

import re
from collections.abc import Collection

from lethe_app.brain.general_words import ACHIEVED, DURABLE, HABITUAL, MOODS, NO_EVENT, SAID, STATIVE
from lethe_app.brain.kinds import DEEDS, JOBS
from lethe_app.brain.phrases import NOT_LIKED, OFTEN
from lethe_app.brain.verbs import PAST, is_adverb, is_past

NONE = -9.0
"""No content makes up for it."""
_PLANS = (
    r"(?:(?:am|have been) (?:planning|hoping|thinking (?:of|about)|aiming|looking (?:to|into|for(?!ward)|forward to)|excited "
    r"(?:to|for|about)|considering|trying|about) |(?:hope|plan|intend|aim) (?:to|on) |want to |(?:have )?always wanted |"
    r"(?:would|will) (?:love|like) (?:to |an? (?=(?:dog|cat|puppy|garden|house|horse|baby|new|[a-z]+ dog)))|would really "
    r"(?:love|like) |can not wait (?:to|for) |dream (?:of|about) |"
    r"am going to |will |(?:have )?decided |signed up |(?:have )?booked |(?:have )?registered )(?:to |on |for )?"
)
_CHATTY = (
    r"(?:ask|be|call|check|come|do|feel|find|forget|get|give|go|have|hear|help|hold|keep|know|learn|leave|let|listen|look|"
    r"make|meet|"
    r"miss|pass|remember|sleep|eat|rest|nap|cry|die|scream|shower|relax|say|laugh|punch|be|see|send|share|show|stay|"
    r"stick|talk|tell|think|try|wait|work)\b"
)
"""Verbs of what may be about to be done in the conversation itself: more content is asked of them."""


_PURSUITS = (
    r"(?:am|have been) (?:trying (?:to|out)|trying (?=[a-z]+ )|learning|looking (?:into|for an?)|thinking (?:of|"
    r"about)|getting into|training|saving|considering)\b"
)
"""What somebody has taken up for a while."""


def _any(words: Collection[str]) -> str:
    return rf"(?:{'|'.join(sorted(words))})\b"


_WEIGHTS = tuple(
    (re.compile(rf"i {pattern}"), weight)
    for pattern, weight in (
        (
            r"(?:used (?!to\b)|(?:have )?started (?:caring|feeling|thinking|getting (?!into)|to feel|to care|introducing))\b",
            NONE,
        ),
        (
            (
                r"(?:(?:am|have been) trying not to|was (?:going|supposed|meant|planning|hoping) to|forgot|got nothing|will "
                r"(?:want|need|like))\b"
            ),
            NONE,
        ),
        (rf"{_PLANS}{_CHATTY}", 1.0),
        (_PURSUITS, 2.0),
        (_PLANS, 1.5),
        (
            (
                r"(?:have always |always )?(?:love|like|hate|dislike|enjoy|adore|prefer|loved|enjoyed|am (?:really |so |"
                r"super )?(?:into|"
                rf"passionate about|fond of|interested in|a (?:big |huge )?fan of)) {NOT_LIKED}(?!the |seeing|being|having|"
                rf"knowing|making|"
                r"getting|watching you|how|when|the (?:way|idea|look|sound))"
            ),
            1.5,
        ),
        (rf"(?!{_any(STATIVE)}).*{OFTEN}", 1.5),
        (rf"(?!(?:have )?(?:got|had|received)\b)(?:have )?{DEEDS}\b", 2.0),
        (rf"(?:have )?{DEEDS}\b", 1.5),
        (
            (
                r"(?:was|got|am being|have been) (?:accepted|adopted|appointed|asked|awarded|bitten|born|bullied|chosen|"
                r"diagnosed|"
                r"elected|fired|given|hired|hit|hospitali[sz]ed|injured|invited|laid off|named|nominated|offered|promoted|"
                r"raised|"
                r"robbed|selected|taught)\b"
            ),
            1.5,
        ),
        (r"have (?:liked|loved|hated|enjoyed|wanted|been (?:into|passionate|interested))\b|used to ", 1.0),
        (_any(ACHIEVED), 2.0),
        # what somebody is
        (rf"(?:am|was) {_any(MOODS)}", NONE),
        (rf"am {_any(DURABLE)}", 1.0),
        (rf"(?:am|was) (?:an?|the|part of|(?:\w+ )?at) .*(?:{JOBS}|member|part of)\b", 1.0),
        (
            (
                r"am an? (?!bit|little|lot|mess|big|huge|total|good|great|terrible|firm|strong)[\w -]+ (?:for|at|of|"
                r"with|in) "
            ),
            0.5,
        ),
        (r"(?:was|am|have been) (?:\w+ )?(?:in|at|to|on) ", 1.0),
        (r"(?:am|was)\b", NONE),
        # what somebody has done or has been doing
        (rf"(?:have|had) to {_CHATTY}", NONE),
        (r"(?:have|had) to ", 0.0),
        (r"(?:have|had) (?:not|been (?:thinking|feeling|meaning|wondering|waiting|hearing|wanting|having))\b", NONE),
        (rf"(?:have|had) been {_any(DURABLE)}", 1.0),
        (r"(?:have|had) been \w+ing\b", NONE),
        (r"(?:have|own|had|have got|got) (?:an?|two|three|four|five|six|seven|\d+|some|several|my)\b", 0.5),
        (rf"(?:have|had) {_any(NO_EVENT)}", NONE),
        (rf"(?:have|had) (?:\w+ed\b|{_any(PAST)})", 0.5),
        (r"(?:have|had)\b", NONE),
        # single verbs
        (rf"(?:wanted\b|tried to\b|{_any(SAID)})", NONE),
        (r"(?:read|put|set|cut|hit|beat)\b", NONE),  # present or past
        (r"(?:go|went) (?!to|on|for|\w+ing|back|through|with|in|up|down|over|out)", NONE),
        (rf"(?:{_any(NO_EVENT)})", -0.5),
        (_any(HABITUAL), 1.0),
    )
)
_LIKED = frozenset(("love", "like", "hate", "adore", "own", "need", "want", "suffer", "speak", "grow", "die", "turn", "start"))


def self_weight(text: str) -> float:
    """Return the weight of the verb after “I”; far below zero if it reports nothing that lasts."""
    for pattern, weight in _WEIGHTS:
        if pattern.match(text):
            return weight
    return 1.0 if is_past(text.split()[1]) else NONE


def own_weight(text: str) -> float:
    """Return the weight of the verb of a clause about one's own."""
    words = text.split()
    place = next((number for number, word in enumerate(words[2:8], 2) if _is_verb(word)), 0)
    if "i" in words[:place]:
        return NONE  # “my husband thinks I have …”
    if not place:
        return NONE
    following = next((word for word in words[place + 1 :] if not is_adverb(word)), "")
    if words[place] in {"is", "are", "was", "were"}:
        if following in {"a", "an"}:
            return 1.0
        return NONE if following in MOODS or (following.endswith("ing") and following not in DURABLE) else 0.0
    return -0.5 if words[place] in NO_EVENT else 0.5


def _is_verb(word: str) -> bool:
    return word in {"is", "are", "has", "have"} or is_past(word) or word.removesuffix("s") in HABITUAL | _LIKED
