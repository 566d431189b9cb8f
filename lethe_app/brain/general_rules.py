"""Judges a first-person clause by what it contains, for the statements that no pattern of `lasting` covers.

A clause passes if its verb reports something done, planned, wished or habitual, if nothing in it points at another sentence,
and if it names enough: a name, a number, a date, a relative, concrete nouns. Clauses are in the first person singular (“I …”)
or about one's own (“my sister …”).
"""

from __future__ import annotations

import re

from lethe_app.brain.general_weights import own_weight, self_weight
from lethe_app.brain.general_words import EMPTY, TRIFLES
from lethe_app.brain.kinds import CONDITIONS, EVENTS, JOBS, POSSESSIONS
from lethe_app.brain.phrases import BOND, OFTEN, TIME
from lethe_app.brain.verbs import is_adverb
from lethe_app.retrieval.when import WEEKDAYS
from lethe_app.retrieval.words import MONTHS

_THING = (
    r"(?:(?:back)?yard|apartment|arm|back|balcony|band|bike|blog|book|boss|business|camper|channel|childhood|church|class|"
    r"classmates?|club|coach|colleagues?|community|company|contract|cottage|coworkers?|crew|doctor|eyes?|fans?|farm|flat|"
    r"foot|garage|garden|guitar|gym|hair|hand|health|heart|hip|home ?town|house|job|kitchen|knees?|landlord|laptop|leg|"
    r"lessons?|manager|motorbike|neighbou?rhood|novel|office|old (?:job|school|house|town)|phone|piano|podcast|school|shop|"
    r"shoulder|start-?up|stomach|store|street|studio|surgery|team|teammates?|thesis|town|truck|university|van|village|"
    r"workplace|garden|instructor|students?|class|car)"
)
_SUBJECT = re.compile(
    rf"my (?:(?!own\b|is\b|are\b|was\b|favou?rite\b)[\w'-]+ ){{0,3}}?(?P<who>{BOND}|{_THING}|(?!favou?rite)\w+(?= (?:is|"
    rf"are|was|were|has|have|had|starts|got|and I|"
    r"[a-z]{3,}ed|broke|went|won|died|left|took|came|gave|made|began)\b))(?:,? [A-Z][\w'-]+,?| and i)?(?= )",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:if|could|should|might|may (?!\d)|maybe|perhaps|probably|possibly|wish|guess|suppose|pretend\w*|imagin\w+|kinda|"
    r"kind of|"
    r"sort of|as if|supposedly|joking|kidding|not really|feel like|felt like|unless|whether|let us|let's|ready to|so much|"
    r"right now|at the moment|for now|such|as \w+ as|(?:more \w+|[a-z]+er) than (?:the|an?|my)|"
    r"would(?! (?:really )?(?:love|like)\b)|must|seems?|almost|nearly|barely|hardly|"
    r"no idea|as an ai|language model|not sure|or something|somehow|(?:in|for) (?:a|the|this) (?:dream|game|story|scene)|"
    r"never mind|of course|how (?!to\b)|why|what|when (?!i was)|though|blah|hell|damn)\b|\.\."
)
_DANGLING = re.compile(
    r"\b(?:it|its|this(?! (?:coming )?(?:week|weekend|month|year|spring|summer|autumn|winter|fall|morning|evening|"
    r"afternoon|[a-z]+day|"
    r"january|february|march|april|may|june|july|august|september|october|november|december)\b)|that(?! i )|these|those(?! "
    r"who)|he|she|"
    r"they|them|him|her|hers|his|their|theirs|you|your|yours|yourself|we|us|our|ours|u|ur|here|there|ones|"
    r"(?<!-)one(?! (?:day|of my|year|month|week)\b)|else|otherwise|same|"
    r"something|anything|everything|nothing|stuff|things?|etc|whatever|somewhere|someone|everyone|everybody|somebody|both|"
    r"too much|yet|then|instead(?! of)|further|besides|i both|since i (?:last )?(?:talked|spoke|chatted)|i have only|last "
    r"(?:chat|"
    r"talk|conversation))\b"
)
_SEVERAL = re.compile(
    r"\b(?:(?!was\b|is\b)[a-z]{2,}(?<!s)s|children|people|women|men|and (?:an?|my) \w+)\b(?= .*\b(?:they|"
    r"them|their)\b)"
)
_RELATIVE = re.compile(r"\b(?P<noun>(?:an?|some|my|\d+) (?:(?!that\b)[\w'-]+ ){1,4})that (?=[a-z])")
_THEM = re.compile(r"\b(?:they(?= \w)|(?<!for )them|their)\b")
_AND_I = re.compile(r"^(?:my )?(?:[\w-]+ ){1,3}and i (?P<verb>\w+)")
_ONE_IS = {"are": "am", "were": "was"}
_OPEN_END = re.compile(
    r"\b(?:an?|the|of|to|in|at|with|and|or|but|my|is|are|was|as|from|by|than|that|who|which|so|very|i|its|after|before|"
    r"because|while|where|will|would|can|cause|get|got|getting|have|had|has|takes? me|take|brings? me|be|been|were|like|"
    r"for|about|into|on|even|just|"
    r"really|not|"
    r"wow|some|both|all|between|during|own)$"
)
_THE = re.compile(
    r"\bthe (?!\w+ (?:of|in|at|from|on|near)\b|\w+ \w+ (?:of|in|at|from|near)\b|(?:beach|sea|ocean|lake|mountains?|woods|"
    r"forest|"
    r"countryside|city|hospital|doctor|dentist|vet|gym|park|zoo|museum|theat\w+|cinema|movies|piano|guitar|violin|drums?|cello|"
    r"flute|bass|saxophone|trumpet|[12]\d|first|second|third|week|weekend|summer|spring|autumn|winter|past|last|age|army|navy|"
    r"police|usa?|uk|internet|kids|dogs?|cats?|shelter|desert|outdoors|garden|pool|emergency|er|[a-z]+day|north|south|east|"
    r"west|"
    r"local|library|community|church|house|netherlands|philippines|stars|sunrise|sunset)\b)[a-z]+"
    r"(?=$| (?:and|to|with|about|for|like|by|so|as|after|before|when|during|last|on|because|through|away|yesterday|today)\b)"
)
_NAME = re.compile(r"(?<=[\w,] )(?!I\b|I')[A-Z][\w'&-]+")
_NUMBER = re.compile(
    r"\b(?:\d+(?:st|nd|rd|th)?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|thousand|"
    r"first|twice)\b"
)
_BOND = re.compile(rf"\b(?:ankle|knee|wrist|shoulder|{BOND}|{POSSESSIONS}|{EVENTS}s?|{CONDITIONS})\b")
_JOB = re.compile(rf"\b(?:{JOBS})\b")
_TIMED = re.compile(TIME + r"|\b(?:recently|lately|last \w+|on \w+day|\w+day|years?|months?|weeks?|since|for \d+)\b")
_OFTEN = re.compile(OFTEN)
_CALENDAR = frozenset((*WEEKDAYS, *MONTHS))
_KNOWN_OWN = re.compile(rf"^(?:{BOND}|{_THING})$", re.IGNORECASE)
_ONLY = re.compile(
    r"I(?:'ve| have)? only (?:got|have)\b|I(?:'ve been|'m| have been| am) (?:playing|going|doing|working|practi[cs]ing|"
    r"running|training) (?:for|since|ever|hard|every)\b",
    re.IGNORECASE,
)
"""Too little to stand alone: what is played?"""
_LATELY = re.compile(r"\b(?:recently|lately)\b", re.IGNORECASE)
_ENOUGH = 2.5
"""Content that makes a clause worth keeping; fitted on the development half of LoCoMo and our own evenings."""


def passes(clause: str, text: str) -> bool:
    """Return whether the clause is a statement worth keeping; `text` is the clause as `lasting.plain` reads it."""
    if not 14 <= len(text) <= 160 or _OPEN_END.search(text) or _ONLY.match(clause) or _HEDGE.search(text) or _is_dangling(text):
        return False
    text = _AND_I.sub(_alone, text)
    if text.startswith("i "):
        return self_weight(text) + content(clause, text) >= _ENOUGH
    subject = _SUBJECT.match(clause)
    if not subject:
        return False
    known = _KNOWN_OWN.search(subject["who"])
    told = f"{subject['who']}{clause[subject.end() :]}"
    return own_weight(text) + content(told, told.lower()) - (0 if known else 0.5) >= _ENOUGH


def _alone(found: re.Match[str]) -> str:
    """Return “Samantha and I are” as “I am”."""
    return f"i {_ONE_IS.get(found['verb'], found['verb'])}"


def _is_dangling(text: str) -> bool:
    """Return whether the clause points at something said elsewhere."""
    if text.startswith("my "):  # “my brother … his wife” explains itself
        text = re.sub(r"\b(?:we|our|us)\b", "", text) if " and i " in text else text
        text = re.sub(r"\b(?:he|she|(?:his|her|their)(?= [a-z]))\b", "", text)
    text = _RELATIVE.sub(r"\g<noun>which ", text)
    if several := _SEVERAL.search(text):
        text = text[: several.end()] + _THEM.sub("", text[several.end() :], count=1)
    return bool(_DANGLING.search(text))


def content(clause: str, text: str) -> float:
    """Return how much the clause names: names and dates count most, then numbers and relatives, then nouns."""
    names = [name for name in _NAME.findall(clause) if name.lower() not in _CALENDAR]
    words = [word for word in re.findall(r"[a-z][a-z'-]{2,}", text) if word not in EMPTY and not is_adverb(word)]
    nouns = [word for word in words[1:] if word not in _CALENDAR]
    if not names and not nouns:
        return 0.0
    return (
        1.5 * min(2, len(names))
        + 1.0 * bool(_TIMED.search(text) or _LATELY.search(clause))
        + 0.5 * bool(_NUMBER.search(text))
        + 0.5 * bool(_BOND.search(text))
        + 0.5 * min(4, len(nouns))
        - 0.5 * bool(_THE.search(text))
        - 1.5 * any(word in TRIFLES for word in text.split())
    )
