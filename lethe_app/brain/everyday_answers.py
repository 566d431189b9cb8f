"""Completes the answers to everyday questions: “Any pets?” – “nope never had one, allergic”, “What do you play?” – “the banjo”."""

from __future__ import annotations

import re

from lethe_app.brain import question_patterns as asking
from lethe_app.brain.fragments import COUNT, FAMILY, KEPT, YEARS, owned, spelled, titled, with_article
from lethe_app.brain.kinds import ANIMALS, JOBS, NOT_CALLINGS, RELATIVES
from lethe_app.brain.sentences import sentences, strip
from lethe_app.brain.verbs import BASE, NOUNS_TOO, is_past, third
from lethe_app.retrieval.words import MONTHS

_COMPILED = [(re.compile(rf"(?:{pattern})\Z", re.IGNORECASE), *rest) for pattern, *rest in asking.QUESTIONS]
_ASKED_LAST = 3
"""Sentences at the end of a message among which its questions are looked for."""
_FILLED = re.compile(
    r"(?:,? (?:then|by the way|these days|at the moment|right now|exactly|again|if I may(?: ask)?|if you don't mind(?: me asking)?|"
    r"my dear|dear|friend|traveller|stranger|lass|lad|love|now|though|anyway|actually)|, [A-Z]\w+)$"
)
_ASKS = re.compile(r"(?:what|where|who|when|how|which|do|are|have|did|any|got|is|been)\b", re.IGNORECASE)
_INTO = re.compile(
    r"^(?:(?:it's|it is|that's|that would be|mostly|mainly|usually|just|only|probably|called|named|well|from|also|about|"
    r"currently|always|pretty much|the|my name is|name is|call me|at|in)\s+)+",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:,? (?:mostly|mainly|usually|lol|xd|haha\w*|innit|mate|atm|irl|now|really|i guess|i suppose|for now|for my sins|sadly|"
    r"actually|then|and that|and stuff|and such|and all that|n that|ma'am|sir|will do|is fine|it is|originally|since you ask|yk))+$",
    re.IGNORECASE,
)
_CUT = re.compile(r",? (?:but|though|so|because|cos|since|where|which|until|if|when|while|who)\b.*|, (?:I|it|he|she|they|we|you|don't|do|not|as|the|my|that|which)\b.*", re.IGNORECASE)
_EVASIVE = re.compile(
    r"\b(?:no|not|none|nope|nah|never|nothing|nobody|nowhere|anything|everything|something|someone|you|your|yours|this|that|it|"
    r"here|there|them|him|her|he|she|they|me|idk|dunno|depends|maybe|perhaps|secret|guess|sure|same|both|agreed|true|right|"
    r"exactly|absolutely|definitely|course|obviously|why|what|who|how|if|would|could|will|can|think|know|forget|forgot|kidding|"
    r"joking|lots?|many|all|much|thanks|please|sorry|stop|later|good|great|fine|bad|ok|okay|tired|bored|yes|yeah|yep|hmm+|um+|"
    r"is|are|was|were|am|don't|didn't|enough|hard|long|stuff|things?|question|far|away|hello|hi|hey)\b",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(r"\b(?:home|bed|work|couch|sofa|kitchen|bathroom|room|desk|car|bus|train|phone|my|planet|hell|heaven|earth|moon|\w+ing)\b|\d", re.IGNORECASE)
_NO_NAME = re.compile(r"\b(?:just|only|a|an|the|and|human|person|user|friend|anon|whatever|my|in|on|of|to|for|with)\b|\d", re.IGNORECASE)
_FIELDS = re.compile(
    r"(?:retail|it|sales|marketing|finance|teaching|nursing|construction|hospitality|insurance|accounting|admin|hr|logistics|"
    r"engineering|law|healthcare|software|catering|farming|security|education|banking|tech|recruitment|publishing|advertising|"
    r"childcare|social work|customer service|real estate|the (?:army|navy|police|military|civil service)|an? (?:warehouse|shop|"
    r"bank|bar|pub|school|factory|hospital|hotel|restaurant|kitchen|library|call cent(?:re|er)|care home|supermarket|garage|lab))",
    re.IGNORECASE,
)
_JOB = re.compile(rf"(?P<job>(?:an? )?(?:(?!of\b|the\b)[\w-]+ ){{0,2}}?(?:{JOBS}|[a-z]{{3,}}(?:er|or|ist|ian|ess)))(?:,? (?P<at>(?:at|for|in|with) [\w' .&-]+))?(?:, .*)?\Z", re.IGNORECASE)
_RETIRED = re.compile(r"retired(?:,? (?:now|from .+|(?:an? )?(?:ex-)?(?P<job>[\w -]+)))?\Z", re.IGNORECASE)
_WORKPLACE = re.compile(r"(?:the )?[\w' -]*\b(?:infirmary|hospital|school|council|university|college|depot|station|airport|library|clinic|warehouse|factory)\Z", re.IGNORECASE)
_AGE = re.compile(r"(?:about |nearly |almost |just )?(?P<age>\d{1,3}|[a-z]+teen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ][a-z]+)?|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: years old| years)?(?: (?:in|next|this|last) [a-z]+)?(?:,.*)?\Z", re.IGNORECASE)
_SPAN = re.compile(rf"(?:for )?(?P<span>{YEARS}|since (?!then|ever|always|forever).+?)(?: (?:now|in [a-z]+|this [a-z]+|next [a-z]+))?\Z", re.IGNORECASE)
_MONTH = rf"(?:{'|'.join(MONTHS)})"
_WHEN = re.compile(
    rf"(?:(?P<day>(?:on )?(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:(?: of)? {_MONTH})?|(?:on )?{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?|(?:on )?(?:mon|tues|"
    rf"wednes|thurs|fri|satur|sun)day)|(?P<time>(?:in )?(?:19|20)\d\d|(?:in )?{_MONTH}(?: (?:19|20)\d\d)?)|(?P<asis>(?:(?:next|last|this) [a-z]+|tomorrow|yesterday|"
    rf"(?:\w+|a few) (?:days|weeks|months|years) ago|in (?:a|two|three|four|\d) (?:weeks?|days?|months?))))\Z",
    re.IGNORECASE,
)
_PAST = {"begin": "began", "leave": "left", "quit": "quit", "get married": "got married", "lose": "lost", "buy": "bought", "start": "started",
         "finish": "finished", "stop": "stopped"}  # fmt: skip
_THING = re.compile(r"(?:(?:the|an?|some|my|two|three|\d+) )?[A-Za-z][\w'&-]*(?:,? (?:and |n |& )?[\w'&-]+){0,6}\Z")
_NO = re.compile(r"(?:no|nope|nah|none|neither|not (?:any ?more|yet|now)|no,? (?:none|never))\b", re.IGNORECASE)
_NEVER_HAD = re.compile(r"\bnever (?:had|owned|kept)(?: (?:one|any|a pet))?\b", re.IGNORECASE)
_ALLERGIC = re.compile(r"(?:^|, | and |cos |because )(?:I'm |am |very |badly )*allergic\.?$", re.IGNORECASE)
_OF_THEM = re.compile(r"(?:yes|yep|yeah|yup|aye|yh|ye|i have|i do|got|just|only|,|\s)*(?P<count>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten)(?: of (?:them|em|'em))?[\s.!]*\Z", re.IGNORECASE)
_THOSE = re.compile(rf"\b(?P<noun>{RELATIVES}|{ANIMALS})\b", re.IGNORECASE)
_ONE_OWNED = re.compile(
    rf"(?:my |just my |just |only |and |we have |got |have |a |an )*(?P<what>(?:(?P<count>{COUNT}) )?(?P<kind>(?:(?!of\b|in\b|on\b|with\b|and\b|called\b|the\b)[\w-]+ ){{0,2}}?)(?P<noun>{FAMILY}|{KEPT}))"
    r"(?P<grown> (?:all )?(?:grown(?:[ -]up)?|adult))?(?:(?:,? (?:called|named)|,) (?P<names>[A-Z]?[a-z'-]+(?:(?:, (?:and )?| and | & )[A-Z]?[a-z'-]+){0,5}))?\Z",
    re.IGNORECASE,
)  # fmt: skip

_IS_CLAUSE = re.compile(r"(?:I(?:'\w+)?|we(?:'\w+)?|my|our|you|there(?:'s)?|this)\b", re.IGNORECASE)
_MINE = re.compile(rf"\b(?:my|our|an?|one|two|three|four|the) (?:(?:old|little|big|older|younger|late|new) )?(?P<who>{FAMILY}|{KEPT}|nani|nonna|abuela)\b")
_CALLED = re.compile(r"^(?:(?:it's|it is|he's|she's|they're|they are|(?:his|her|its|their) names? (?:is|are|was|were)|called|named|oh)\s+)+", re.IGNORECASE)


def complete(question: str, answer: str, before: str = "") -> list[tuple[str, str]]:
    """Return what an answer and the question before it say together, as clauses in the first person with their keys.

    `question` and `answer` are whole messages of two speakers, `before` is what the answerer had said last.
    """
    pieces = [spelled(strip(part)) for part in sentences(answer)[:3] if not part.endswith("?")]
    whole = " ".join(sentences(answer)[:1])
    if not pieces:
        return []
    for asked in _questions(question):
        for pattern, kind, full, key in _COMPILED:
            if found := pattern.match(asked):
                named = {name: (value or "").lower() for name, value in found.groupdict().items()}
                if made := _made(kind, pieces, whole, asked, before, named):
                    return [_filled(one, full, key, named) for one in made]
    return []


def _questions(message: str) -> list[str]:
    """Return the questions at the end of a message without fillers, the last first; of “So, where …” also “where …”."""
    found = []
    for part in reversed(sentences(message)[-_ASKED_LAST:]):
        if not part.endswith("?"):
            continue
        bare = part.strip(" ?!.,")
        found.append(bare)
        found.append(_FILLED.sub("", bare))
        tail = bare.rsplit(", ", 1)[-1]
        if tail != bare and _ASKS.match(tail):
            found.append(_FILLED.sub("", tail))
        found.append(strip(bare))
    return list(dict.fromkeys(found))


def _filled(made: str | tuple[str, str], full: str, key: str, named: dict[str, str]) -> tuple[str, str]:
    """Return the whole sentence of an answer and a pattern; what is whole already stays."""
    if isinstance(made, tuple):
        return made
    what = named.get("what", "")
    if "past" in named:
        named = {**named, "verb": _past(named["past"])}
    text = full.format(name=named.get("name", ""), answer=made, verb=named.get("verb", ""), rest=named.get("rest", ""), what=what, work=made)
    return text, key.format(what=what, answer=made)


def _past(verb: str) -> str:
    return _PAST.get(verb) or (f"{verb}d" if verb.endswith("e") else f"{verb[:-1]}ied" if verb.endswith("y") else f"{verb}ed")


def _made(kind: str, pieces: list[str], whole: str, asked: str, before: str, named: dict[str, str]) -> list[str | tuple[str, str]]:
    """Return what answers a question of this kind; nothing where that is not sure."""
    first = pieces[0]
    if kind == asking.OWNED:
        return _of_owned(pieces, whole, asked)
    if kind == asking.POLAR:
        return _of_polar(whole, named)
    if _IS_CLAUSE.match(first):
        return []
    if kind == asking.CALLING:
        return _of_calling(pieces, is_own="what" not in named)
    if kind == asking.WHO:
        return _of_who(first, named["name"])
    if kind == asking.THEIRS:
        return _of_theirs(first, before)
    if kind == asking.SPAN:
        return _of_span(first, asked, before)
    if kind == asking.AGE:
        aged = _AGE.match(_TRAILING.sub("", _INTO.sub("", first)))
        return [aged["age"]] if aged else []
    if kind == asking.WHEN:
        return _of_time(_TRAILING.sub("", first))
    bare = _bare(first)
    if not bare or _EVASIVE.search(bare) or len(bare.split()) > 7:
        return []
    return _of_thing(kind, bare, first)


def _bare(piece: str) -> str:
    """Return an answer without what introduces or follows it."""
    return _TRAILING.sub("", _CUT.sub("", _INTO.sub("", piece))).strip(" ,.-")


def _of_thing(kind: str, bare: str, first: str) -> list[str | tuple[str, str]]:
    words = bare.lower().split()
    if kind == asking.NAME:
        fits = len(words) <= 2 and not _NO_NAME.search(bare) and bare.replace(" ", "").replace("'", "").replace("-", "").isalpha()
        return [titled(bare.split(",")[0])] if fits else []
    if kind == asking.PLACE:
        fits = len(words) <= 5 and not _NO_PLACE.search(bare) and not any(is_past(word) or word in BASE for word in words)
        return [titled(bare)] if fits else []
    if kind == asking.SITE:
        where = re.match(r"(?:at|for|in|on|near) ", first, re.IGNORECASE)
        at = where[0].lower() if where else "at "
        return [f"{at}{titled(bare)}"] if len(words) <= 5 and not any(is_past(word) for word in words) else []
    if not _THING.match(bare) or any(is_past(word) for word in words[:1]):
        return []
    if kind == asking.LIKED:
        return _of_liked(bare, words)
    return [bare if kind != asking.PEOPLE or words[0] == "my" else titled(bare)]


def _of_liked(bare: str, words: list[str]) -> list[str | tuple[str, str]]:
    """Return what somebody does with their time; “feed birds” has its verb."""
    if words[0] in {"sleep", "work", "drink", "scroll", "cry", "netflix"}:
        return []
    if words[0] in BASE and (len(words) > 1 or words[0] not in NOUNS_TOO):
        return [(f"I {bare[:1].lower()}{bare[1:]}", "")]
    return [bare[:1].lower() + bare[1:] if bare[1:].islower() else bare]


def _of_calling(pieces: list[str], *, is_own: bool) -> list[str | tuple[str, str]]:
    """Return a calling, a field of work and the place of it."""
    first = _TRAILING.sub("", _INTO.sub("", pieces[0]))
    if found := _RETIRED.match(first):
        return [f"a retired {found['job']}" if found["job"] else "retired"]
    if _FIELDS.fullmatch(first):
        return [(f"I work in {first.upper() if len(first) == 2 else first.lower()}", "job")] if is_own else []
    found = _JOB.match(first)
    if not found or found["job"].split()[-1].lower() in NOT_CALLINGS or _EVASIVE.search(found["job"]):
        return []
    job = found["job"] if found["job"][1:] != found["job"][1:].lower() else found["job"].lower()
    at = f" {found['at'].split(' ', 1)[0]} {titled(found['at'].split(' ', 1)[1])}" if found["at"] else ""
    made: list[str | tuple[str, str]] = [f"{with_article(job)}{at}"]
    if is_own and not at and len(pieces) > 1 and _WORKPLACE.match(pieces[1]) and len(pieces[1].split()) < 5:
        made.append((f"I work at {titled(pieces[1])}", "employer"))
    return made


def _of_span(first: str, asked: str, before: str) -> list[str | tuple[str, str]]:
    """Return for how long or since when; of “that”, what the speaker said to be."""
    found = _SPAN.match(first)
    if not found:
        return []
    span = found["span"] if found["span"].lower().startswith("since") else f"for {found['span']}"
    if not re.search(r"\b(?:that|this|it|there)\b", asked):
        return [span]
    jobs = [job for part in sentences(before) if (job := _JOB.match(_INTO.sub("", strip(part)))) and job["job"].split()[-1] not in NOT_CALLINGS]
    return [(f"I have been {with_article(jobs[-1]['job'].lower())} {span}", "job")] if jobs else []


def _of_time(first: str) -> list[str | tuple[str, str]]:
    found = _WHEN.match(first)
    if not found:
        return []
    if found["day"]:
        return [found["day"] if found["day"].lower().startswith("on ") else f"on {found['day']}"]
    if found["time"]:
        return [found["time"] if found["time"].lower().startswith("in ") else f"in {found['time']}"]
    return [found["asis"]]


def _of_owned(pieces: list[str], whole: str, asked: str) -> list[str | tuple[str, str]]:
    """Return whom or what somebody has, or that they have none."""
    those = list(dict.fromkeys(found["noun"].lower() for found in _THOSE.finditer(asked)))
    if those and (none := _of_none(whole, those)):
        return none
    if those and (counted := _OF_THEM.match(whole)):
        return [f"{counted['count']} {those[0]}"] if those[0].endswith("s") or those[0] in {"children", "fish"} else []
    made: list[str | tuple[str, str]] = []
    for piece in pieces:
        if len(piece.split()) > 9 or re.match(r"(?:I|we|my)\b", piece):
            continue
        together = _ONE_OWNED.match(piece)
        parts = [piece] if together else re.split(r", (?:and )?| and (?=an?\b|my\b|\d|one\b|two\b|three\b)", piece)
        for part in parts:
            if (found := _ONE_OWNED.match(part)) and not _EVASIVE.search(found["kind"]):
                made += [(clause.replace("I have ", f"I have {_article(found)}", 1), key) for clause, key in owned(found)]
    return made


def _of_who(first: str, name: str) -> list[str | tuple[str, str]]:
    """Return who somebody is to the speaker: “Who is Ger?” – “best friend”."""
    found = re.match(rf"(?:he's |she's |that's |he is |she is |oh )*(?:just |only )*(?:my |our |an? |the )?(?P<who>(?:[a-z-]+ )?(?:{FAMILY}|{KEPT}|boss|neighbour|colleague|manager|flatmate))(?:$|,| from| at)", first, re.IGNORECASE)
    if not found or found["who"].lower().endswith("friends"):
        return []
    who = found["who"].lower()
    return [(f"my {who} is called {titled(name)}", f"{who} name")]


def _of_theirs(first: str, before: str) -> list[str | tuple[str, str]]:
    """Return the name of the one the speaker spoke of last."""
    spoken = list(_MINE.finditer(before.lower()))
    names = re.split(r",? (?:and|n|&) |, ", _bare_name(first))
    if not spoken or any(not name.replace("'", "").replace("-", "").isalpha() or _NO_NAME.search(name) or _EVASIVE.search(name) for name in names):
        return []
    who = spoken[-1]["who"]
    several = who.endswith("s") or who in {"children", "twins"}
    if several is not (len(names) > 1):
        return []
    listed = " and ".join(filter(None, (", ".join(map(titled, names[:-1])), titled(names[-1]))))
    return [(f"my {who} {'are' if several else 'is'} called {listed}", f"{who} name")]


def _bare_name(first: str) -> str:
    return _TRAILING.sub("", _CUT.sub("", _CALLED.sub("", first))).strip(" ,.")


def _of_polar(whole: str, named: dict[str, str]) -> list[str | tuple[str, str]]:
    """Return what “yes” or “no” to a question about the speaker says."""
    answer = re.sub(r"^(?:oh|haha|lol|irl|well|um|god|lord)[, ]+", "", whole.lower())
    does = named.get("does", "")
    yes = re.match(r"(?:yes|yeah|yep|yup|yh|aye|i do|i am|very|terrified|badly)\b(?!.*\b(?:but|used to|not|once|sometimes|if|when|kinda|sort of)\b)", answer)
    no = re.match(r"(?:no|nope|nah|never|not at all|i don't|i'm not)(?:\W+(?:thanks|never|really|ma'am|sir|not at all|i (?:do not|don't)))*\W*$", answer)
    if yes:
        return [does or named["what"]]
    if no and "not really" not in answer:
        return [(f"I don't {does}" if does else f"I'm not {named['what']}", "")]
    return []


def _article(found: re.Match[str]) -> str:
    """Return the article that “snake” lacks and “two boys” does not."""
    if found["count"] or found["noun"].lower().endswith(("s", "children", "fish", "sheep", "mice", "family")):
        return ""
    return "an " if found["what"][:1].lower() in "aeiou" else "a "


def _of_none(whole: str, those: list[str]) -> list[str | tuple[str, str]]:
    """Return that the speaker has none of those, never had one or is allergic to them."""
    if those[0] in {"dad", "father", "mother", "mum", "mom", "parents", "family"}:
        return []
    animals = [noun for noun in those if re.fullmatch(ANIMALS, noun)]
    allergic = [(f"I am allergic to {animals[0] if animals[0].endswith('s') else third(animals[0])}", "")] if animals and _ALLERGIC.search(whole.strip(" .!")) and "pet" not in animals[0] else []
    listed = " or ".join(those)
    if _NEVER_HAD.search(whole):
        article = "" if those[0].endswith("s") else "a "
        return [(f"I have never had {article}{listed}", ""), *allergic]
    if _NO.match(whole) and (allergic or len(re.sub(r"\W+", " ", whole).split()) <= 3):
        return [(f"I have no {listed}", ""), *allergic]
    return [*allergic]
