"""Parsing of a short answer by the kind its question expects: a name, a place, an occupation, an age, relatives or
possessions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lethe_app.brain.people.noun_phrases import FAMILY, KEPT, YEARS, titled, with_article
from lethe_app.brain.question_answers import patterns as asking
from lethe_app.brain.question_answers.ownership import EVASIVE, Answers, of_owned
from lethe_app.brain.text.sentences import sentences, strip
from lethe_app.brain.vocabulary.entities import JOBS, NOT_CALLINGS
from lethe_app.brain.vocabulary.verbs import BASE, NOUNS_TOO, is_past
from lethe_app.retrieval.query_terms import MONTHS

_INTO = re.compile(
    r"^(?:(?:it's|it is|that's|that would be|mostly|mainly|usually|just|only|probably|called|named|well|from|also|about|"
    r"currently|always|pretty much|the|my name is|name is|call me|at|in)\s+)+",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:,? (?:mostly|mainly|usually|lol|xd|haha\w*|innit|mate|atm|irl|now|really|i guess|i suppose|for now|for my sins|sadly|"
    r"actually|then|and that|and stuff|and such|and all that|n that|ma'am|sir|will do|is fine|it is|originally|since "
    r"you ask|yk))+$",
    re.IGNORECASE,
)
_CUT = re.compile(
    r" (?:I|I'm|I've|he's|she's|we|we're|we've|my|it's|they|they're|there's)\b.*|,? (?:but|though|so|because|cos|since|"
    r"where|which|until|if|when|while|who)\b.*|, (?:I|it|he|she|they|we|you|don't|do|not|as|the|my|that|which)\b.*",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(
    r"\b(?:home|bed|work|couch|sofa|kitchen|bathroom|room|desk|car|bus|train|phone|my|planet|hell|heaven|earth|moon|"
    r"\w+ing)\b|\d",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"\b(?:just|only|a|an|the|and|human|person|user|friend|anon|whatever|my|in|on|of|to|for|with)\b|\d", re.IGNORECASE
)
_FIELDS = re.compile(
    r"(?:retail|it|sales|marketing|finance|teaching|nursing|construction|hospitality|insurance|accounting|admin|hr|logistics|"
    r"engineering|law|healthcare|software|catering|farming|security|education|banking|tech|recruitment|publishing|advertising|"
    r"childcare|social work|customer service|real estate|the (?:army|navy|police|military|civil service)|an? (?:warehouse|shop|"
    r"bank|bar|pub|school|factory|hospital|hotel|restaurant|kitchen|library|call cent(?:re|er)|care home|supermarket|"
    r"garage|lab))",
    re.IGNORECASE,
)
_JOB = re.compile(
    rf"(?P<job>(?:an? )?(?:(?!of\b|the\b)[\w-]+ ){{0,2}}?(?:{JOBS}|[a-z]{{3,}}(?:er|or|ist|ian|ess)))(?:,? "
    rf"(?P<at>(?:at|for|in|with) [\w' .&-]+))?(?:, .*)?\Z",
    re.IGNORECASE,
)
_RETIRED = re.compile(r"retired(?:,? (?:now|from .+|(?:an? )?(?:ex-)?(?P<job>[\w -]+)))?\Z", re.IGNORECASE)
_WORKPLACE = re.compile(
    r"(?:the )?[\w' -]*\b(?:infirmary|hospital|school|council|university|college|depot|station|airport|library|clinic|"
    r"warehouse|factory)\Z",
    re.IGNORECASE,
)
_AGE = re.compile(
    r"(?:about |nearly |almost |just )?(?P<age>\d{1,3}|[a-z]+teen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    r"ninety)(?:[- ][a-z]+)?|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: years old| years)?(?: (?:in|"
    r"next|this|last) [a-z]+)?(?:,.*)?\Z",
    re.IGNORECASE,
)
_SPAN = re.compile(
    rf"(?:for )?(?P<span>{YEARS}|since (?!then|ever|always|forever).+?)(?: (?:now|in [a-z]+|this [a-z]+|next [a-z]+))?\Z",
    re.IGNORECASE,
)
_MONTH = rf"(?:{'|'.join(MONTHS)})"
_WHEN = re.compile(
    rf"(?:(?P<day>(?:on )?(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:(?: of)? {_MONTH})?|(?:on )?{_MONTH} (?:the "
    rf")?\d{{1,2}}(?:st|nd|rd|th)?|(?:on )?(?:mon|tues|"
    rf"wednes|thurs|fri|satur|sun)day)|(?P<time>(?:in )?(?:19|20)\d\d|(?:in )?{_MONTH}(?: (?:19|20)\d\d)?)|"
    rf"(?P<asis>(?:(?:next|last|this) [a-z]+|tomorrow|yesterday|"
    rf"(?:\w+|a few) (?:days|weeks|months|years) ago|in (?:a|two|three|four|\d) (?:weeks?|days?|months?))))\Z",
    re.IGNORECASE,
)
_THING = re.compile(r"(?:(?:the|an?|some|my|two|three|\d+) )?[A-Za-z][\w'&-]*(?:,? (?:and |n |& )?[\w'&-]+){0,6}\Z")
_IS_CLAUSE = re.compile(r"(?:I(?:'\w+)?|we(?:'\w+)?|my|our|you|there(?:'s)?|this)\b", re.IGNORECASE)
_NEAR = re.compile(r"(?:just )?(?:near|outside|by|close to|north of|south of|east of|west of) (?:of )?", re.IGNORECASE)
_CALLED = re.compile(
    r"^(?:(?:it's|it is|he's|she's|they're|they are|(?:his|her|its|their) names? (?:is|are|was|were)|called|named|oh)\s+)+",
    re.IGNORECASE,
)


MINE = re.compile(
    rf"\b(?:my|our|an?|one|two|three|four|the) (?:(?:old|little|big|older|younger|late|new) )?(?P<who>{FAMILY}|{KEPT}|"
    rf"nani|nonna|abuela)\b"
)


def made(kind: str, pieces: list[str], whole: str, asked: str, before: str, named: dict[str, str]) -> Answers:
    """Return the answers to a question of this kind; an empty list if the reading is uncertain."""
    first = pieces[0]
    if kind == asking.OWNED:
        return of_owned(pieces, whole, asked)
    if kind == asking.POLAR:
        return _of_polar(whole, named)
    if _IS_CLAUSE.match(first):
        return []
    is_own = "whose" not in named
    readers: dict[str, Callable[[], Answers]] = {
        asking.CALLING: lambda: _of_calling(pieces, is_own=is_own),
        asking.WHO: lambda: _of_who(first, named["name"]),
        asking.THEIRS: lambda: _of_theirs(first, before, asked),
        asking.SPAN: lambda: _of_span(first, asked, before),
        asking.AGE: lambda: _of_age(first),
        asking.WHEN: lambda: _of_time(_TRAILING.sub("", first)),
    }
    return readers.get(kind, lambda: _of_thing(kind, first, is_own=is_own))()


def _of_age(first: str) -> Answers:
    aged = _AGE.match(_TRAILING.sub("", _INTO.sub("", first)))
    return [aged["age"]] if aged else []


def _bare(piece: str) -> str:
    """Return an answer without its introduction and trailing fillers."""
    return _TRAILING.sub("", _CUT.sub("", _INTO.sub("", piece))).strip(" ,.-")


def _of_thing(kind: str, first: str, *, is_own: bool) -> Answers:
    bare = _bare(first)
    words = bare.lower().split()
    if not bare or EVASIVE.search(bare) or len(words) > 7 or is_past(words[0]):
        return []
    if kind == asking.NAME:
        return _of_name(bare)
    if kind == asking.PLACE:
        return _of_place(bare, words, is_own=is_own)
    if kind == asking.SITE:
        where = re.match(r"(?:at|for|in|on|near) ", first, re.IGNORECASE)
        at = where[0].lower() if where else "at "
        return [f"{at}{titled(bare)}"] if len(words) <= 5 else []
    if not _THING.match(bare):
        return []
    return _of_liked(bare, words) if kind == asking.LIKED else [titled(bare) if _is_person(kind, words) else bare]


def _is_person(kind: str, words: list[str]) -> bool:
    return kind == asking.PEOPLE and words[0] != "my"


def _of_name(bare: str) -> Answers:
    is_plain = re.fullmatch(r"[^\W\d_]+(?:[ '-][^\W\d_]+)?", bare)
    return [titled(bare)] if is_plain and not _NO_NAME.search(bare) else []


def _of_place(bare: str, words: list[str], *, is_own: bool) -> Answers:
    if len(words) > 5 or _NO_PLACE.search(bare) or any(is_past(word) or word in BASE for word in words):
        return []
    near = _NEAR.match(bare)
    if near and is_own:
        return [(f"I live {near[0].lower()}{titled(bare[near.end() :])}", "home")]
    return [] if near else [titled(bare)]


def _of_liked(bare: str, words: list[str]) -> Answers:
    """Return how somebody spends their time. An answer such as “feed birds” has a verb and becomes a whole clause."""
    if words[0] in {"sleep", "work", "drink", "scroll", "cry", "netflix"}:
        return []
    if words[0] in BASE and (len(words) > 1 or words[0] not in NOUNS_TOO):
        return [(f"I {bare[:1].lower()}{bare[1:]}", "")]
    return [bare[:1].lower() + bare[1:] if bare[1:].islower() else bare]


def _of_calling(pieces: list[str], *, is_own: bool) -> Answers:
    """Return an occupation or a field of work, and the workplace if it is named."""
    first = _TRAILING.sub("", _INTO.sub("", pieces[0]))
    if found := _RETIRED.match(first):
        return [f"a retired {found['job']}" if found["job"] else "retired"]
    if _FIELDS.fullmatch(first):
        # Fields of two letters are abbreviations: IT, HR.
        return [(f"I work in {first.upper() if len(first) == 2 else first.lower()}", "job")] if is_own else []
    found = _JOB.match(first)
    if not found or found["job"].split()[-1].lower() in NOT_CALLINGS or EVASIVE.search(found["job"]):
        return []
    job = found["job"] if found["job"][1:] != found["job"][1:].lower() else found["job"].lower()
    at = f" {found['at'].split(' ', 1)[0]} {titled(found['at'].split(' ', 1)[1])}" if found["at"] else ""
    made: Answers = [f"{with_article(job)}{at}"]
    if is_own and not at and len(pieces) > 1 and _WORKPLACE.match(pieces[1]) and len(pieces[1].split()) < 5:
        made.append((f"I work at {titled(pieces[1])}", "employer"))
    return made


def _of_span(first: str, asked: str, before: str) -> Answers:
    """Return for how long or since when. If the question says “that”, the occupation is taken from the speaker's earlier
    message.
    """
    found = _SPAN.match(first)
    if not found:
        return []
    span = found["span"] if found["span"].lower().startswith("since") else f"for {found['span']}"
    if not re.search(r"\b(?:that|this|it|there)\b", asked):
        return [span]
    jobs = [
        job
        for part in sentences(before)
        if (job := _JOB.match(_INTO.sub("", strip(part)))) and job["job"].split()[-1] not in NOT_CALLINGS
    ]
    return [(f"I have been {with_article(jobs[-1]['job'].lower())} {span}", "job")] if jobs else []


def _of_time(first: str) -> Answers:
    found = _WHEN.match(first)
    if not found:
        return []
    if found["day"]:
        return [found["day"] if found["day"].lower().startswith("on ") else f"on {found['day']}"]
    if found["time"]:
        return [found["time"] if found["time"].lower().startswith("in ") else f"in {found['time']}"]
    return [found["asis"]]


def _of_who(first: str, name: str) -> Answers:
    """Return who somebody is to the speaker: “Who is Ger?” – “best friend”."""
    found = re.match(
        rf"(?:he's |she's |that's |he is |she is |oh )*(?:just |only )*(?:my |our |an? |the )?(?P<who>(?:[a-z-]+ "
        rf")?(?:{FAMILY}|{KEPT}|boss|neighbour|colleague|manager|flatmate))(?:$|,| from| at)",
        first,
        re.IGNORECASE,
    )
    if not found or found["who"].lower().endswith("friends"):
        return []
    who = found["who"].lower()
    return [(f"my {who} is called {titled(name)}", f"{who} name")]


def _of_theirs(first: str, before: str, asked: str) -> Answers:
    """Return the name of the relative or pet the speaker mentioned last; “its” asks for that of an animal."""
    spoken = list(MINE.finditer(before.lower()))
    names = re.split(r",? (?:and|n|&) |, ", _bare_name(first))
    if not spoken or any(
        not name.replace("'", "").replace("-", "").isalpha() or _NO_NAME.search(name) or EVASIVE.search(name) for name in names
    ):
        return []
    who = spoken[-1]["who"]
    if re.search(r"\bits?\b", asked, re.IGNORECASE) and re.fullmatch(FAMILY, who):
        return []
    several = who.endswith("s") or who in {"children", "twins"}
    if several is not (len(names) > 1):
        return []
    listed = " and ".join(filter(None, (", ".join(map(titled, names[:-1])), titled(names[-1]))))
    return [(f"my {who} {'are' if several else 'is'} called {listed}", f"{who} name")]


def _bare_name(first: str) -> str:
    return _TRAILING.sub("", _CUT.sub("", _CALLED.sub("", first))).strip(" ,.")


def _of_polar(whole: str, named: dict[str, str]) -> Answers:
    """Return the statement made by “yes” or “no” to a question about the speaker."""
    answer = re.sub(r"^(?:oh|haha|lol|irl|well|um|god|lord)[, ]+", "", whole.lower())
    does = named.get("does", "")
    yes = re.match(
        r"(?:yes|yeah|yep|yup|yh|aye|i do|i am|very|terrified|badly)\b(?!.*\b(?:but|used to|not|once|sometimes|if|when|"
        r"kinda|sort of)\b)",
        answer,
    )
    no = re.match(
        r"(?:no|nope|nah|never|not at all|i don't|i'm not)(?:\W+(?:thanks|never|really|ma'am|sir|not at all|i (?:do not|"
        r"don't)))*\W*$",
        answer,
    )
    if yes:
        return [does or named["what"]]
    if no and "not really" not in answer:
        return [(f"I don't {does}" if does else f"I'm not {named['what']}", "")]
    return []
