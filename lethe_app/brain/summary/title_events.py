"""Wording of a session's events as parts of a title: “Ana's wedding”, “Moving to Porto”, “Learning German”."""

from __future__ import annotations

import re
from typing import NamedTuple

from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.common_words import NON_TOPIC_WORDS
from lethe_app.brain.vocabulary.entities import ANIMALS
from lethe_app.brain.vocabulary.phrases import RELATIVE_OR_ANIMAL
from lethe_app.brain.vocabulary.verbs import is_past
from lethe_app.dates.words import MONTH, WEEKDAY
from lethe_app.retrieval.query_terms import STOP_WORDS, fold

MAX_WORDS = 6
"""Maximum number of words of a part of a title."""
LIFE_EVENT_WEIGHT, LIFE_CHANGE_WEIGHT, SINGLE_ACTION_WEIGHT, ONGOING_ACTIVITY_WEIGHT = 3.0, 2.0, 1.4, 1.0
"""Weights of a life event, a change in a life, something done once, and an ongoing occupation."""
OTHER_YEAR_FACTOR = 0.3
"""Factor for an event of another year."""
_OWNER_PATTERN = (
    rf"\b(?:my|our|his|her|their) (?P<kin>(?:\w+ )?{RELATIVE_OR_ANIMAL}),? ?(?P<name>[A-Za-zà-ÿ]{{3,}})?,? (?:\w+ )?"
)
_SOMEBODY = (
    rf"(?:{_OWNER_PATTERN}|"
    r"\b(?P<who>(?!(?:It|He|She|That|There|Here|This|What|Who|Everyone|Everybody)\b)[A-Z][a-zà-ÿ]{2,}) ?)"
)
_QUIT = (
    r"\bI (?:just |finally |really )?(?:quit|resigned)"
    r"(?= (?:my|the|this|that) (?:\w+ )?(?:job|work|post|position|place)|\W*$|[.!,]| (?:last|yesterday|today|from)\b)"
)
_WED = r"\b(?:I|[Ww]e)(?:'re|'m| are| am)(?: both| finally)? getting married\b|\b(?:[Oo]ur|[Mm]y) wedding (?:is|will)\b"
_BREAK_UP = (
    r"\bdumped me\b|\b(?:broke|split) up with (?:me|my)\b|\b(?:we|and I|n I) (?:just )?(?:broke|split|have split) up\b|"
    r"\b(?:[Hh]e|[Ss]he) (?:ended it|left me(?! (?:an?|the|my|his|her|some|with|to)\b))\b"
)
_TRIP = (
    r"^(?P<rest>(?!(?:Yes|Yeah|Well|Just|About|Maybe|Only)\b)[A-Z][a-zà-ÿ]+), (?:an?|two|three|\d+) "
    r"(?:weeks?|weekend|days|fortnight|month)\b"
)
_NEW_JOB = r"\bI (?:just |finally )?(?:got|found|start(?:ed)?|have) (?:the|a|my) new job\b|\bI got the (?:\w+ )?job\b"
_SURGERY = r"\bI(?:'m| am)? (?:just )?(?:had|having|have|need|getting) (?:an? |my )?(?:\w+ )?(?:surgery|operation)\b"
_OFFER = (
    r"\b(?:got|was|been|were) offered (?:an?|the|this) (?:\w+ ){0,2}(?:job|position|post|role)\b|"
    r"\boffered me (?:an?|the) (?:\w+ ){0,2}(?:job|position|post|role)\b|\bjob offer\b"
)
_BONE = r"(?P<rest>hip|leg|arm|wrist|ankle|foot|hand|nose|collarbone)"
_FRACTURE = rf"\b(?:broke|has broken|'s broken) (?:his|her|my|their) {_BONE}\b"
_BREAKDOWN = r"\b[Mm]y (?P<rest>car|bike|laptop|phone|van|boiler|fridge)(?: just)? (?:broke down|broke|died)\b"
_MARRYING = r"(?:is|are|'s|was|got|just got|is getting) ?(?:getting |just )?(?:married|marrying)\b"
_TO_SCHOOL = r"(?:starts|is starting|started) (?P<rest>school|kindergarten|university|college)\b"
_LIFE_EVENTS = tuple(
    (re.compile(pattern), title, share)
    for pattern, title, share in (
        (_OWNER_PATTERN + _MARRYING, "{whose} wedding", 2.0),
        (_OWNER_PATTERN + r"(?:has )?(?:just )?(?:died|passed away|is dead)\b", "{whose} death", 2.0),
        (rf"\bI (?:just )?lost my (?P<kin>(?:\w+ )?{RELATIVE_OR_ANIMAL})\b", "{whose} death", 2.0),
        (_OWNER_PATTERN + r"(?:is|'s) (?:now )?(?:pregnant|expecting|having a baby)\b", "{whose} baby", 2.0),
        (r"\b(?!she\b|She\b|who\b|that\b)(?P<who>[A-Za-z]{3,})(?:'s| is) pregnant\b", "{whose} pregnancy", 2.0),
        (r"\b(?:she's|she is|She's|She is|we're|We're|we are|We are) (?:pregnant|expecting)\b", "The pregnancy", 1.5),
        (_OWNER_PATTERN + r"(?:just )?(?:had (?:her|a|their) baby|gave birth)\b", "{whose} baby", 2.0),
        (_OWNER_PATTERN + r"(?:is|'s|was|got)(?: just| now)? engaged\b", "{whose} engagement", 2.0),
        (_OWNER_PATTERN + r"(?:is|'s|was|got)(?: just| now)? (?:very )?(?:ill|sick|in hospital)\b", "{whose} illness", 2.0),
        (_OWNER_PATTERN + _TO_SCHOOL, "{whose} start at {rest}", 1.5),
        (_SOMEBODY + r"(?:(?:is|'s|has|are|'re) )?(?:now |just )?(?:moved|moving) (?:back )?in\b", "{subject} moving in", 1.0),
        (_SOMEBODY + r"(?:has |'s )?(?:just |finally )?(?:got|found|landed) (?:a|the) (?:new )?job\b", "{whose} new job", 1.0),
        (_QUIT, "Quitting the job", 2.0),
        (r"\bI (?:just )?(?:lost my job|got (?:fired|laid off|sacked)|was (?:fired|laid off|sacked))\b", "Losing the job", 2.0),
        (_NEW_JOB, "The new job", 2.0),
        (r"\b(?:I|[Ww]e)(?: just|'re|'m| are| am| got)* (?:got )?engaged\b", "The engagement", 2.0),
        (_WED, "The wedding", 2.0),
        (r"\bI(?:'m| am) (?:\d+ weeks )?pregnant\b", "The pregnancy", 2.0),
        (_BREAK_UP, "The break-up", 2.0),
        (r"\b(?:we're|I'm|we are|I am|we) getting (?:a )?divorced?\b", "The divorce", 2.0),
        (r"\b(?:we're|I'm|we are|I am|they're|they are) (?:now )?divorced\b", "The divorce", 1.0),
        (r"\b(?:I|we) (?:just )?had (?:a|an|our) (?:\w+ )?(?:crash|accident)\b", "The accident", 1.0),
        (r"\bhealth scare\b", "The health scare", 1.0),
        (_SURGERY, "The operation", 1.0),
        (_OFFER, "The job offer", 1.5),
        (_FRACTURE, "The broken {rest}", 1.0),
        (_BREAKDOWN, "The broken {rest}", 0.7),
        (r"\b(?:decided to move|moving|moved) in together\b", "Moving in together", 2.0),
        (r"\b(?:I'm|I am|we're|we are) (?:finally )?moving out\b", "Moving out", 2.0),
        (r"\b(?:[Ss]he|[Hh]e|[A-Z]\w+) (?:starts|is starting|'s starting) school\b", "Starting school", 1.5),
        (_TRIP, "Trip to {rest}", 0.7),
    )
)
"""Events that are told with a verb and named with a noun: pattern, title, factor on the weight of a life event."""


class _Verb(NamedTuple):
    """Verb of an event: its form in a title, the forms that follow “I”, and its weight."""

    title: str
    """With {} for its object."""
    forms: str
    weight: float
    needs: str = ""
    """Pattern that must match the beginning of the rest of the clause."""


_WEEKDAY = rf"(?:{WEEKDAY})"
_MISSED = r"(?:job|phone|wallet|keys|passport|licen[cs]e|dog|cat|luggage|voice|house|home)"
_APPOINTMENT = (
    r"(?:exam|interview|appointment|operation|audition|hearing|competition|marathon|deadline|viva|presentation|scan|biopsy|"
    r"check-?up)"
)
_VERBS = (
    _Verb("Quitting {}", "quit quitting", LIFE_EVENT_WEIGHT),
    _Verb("Retiring {}", "retire retired retiring", LIFE_CHANGE_WEIGHT, "(?=from |as )"),
    _Verb("Graduating {}", "graduate graduated graduating", LIFE_EVENT_WEIGHT, "(?=from |in |with |as )"),
    _Verb("Moving {}", "move moved moving", LIFE_EVENT_WEIGHT, r"(?=to |into |in with |out\b|back to |abroad|house|from )"),
    _Verb("Failing {}", "fail failed failing flunked", LIFE_CHANGE_WEIGHT),
    _Verb("Passing {}", "pass passed passing aced", LIFE_CHANGE_WEIGHT, r"(?!out|by|away|on|through)"),
    _Verb("Joining {}", "join joined joining", LIFE_CHANGE_WEIGHT),
    _Verb("Starting {}", "start started starting", LIFE_CHANGE_WEIGHT, r"(?!to |with |out|off|from |by |at |on |up|young|"
                                                                       r"over)"),
    _Verb("Signing up {}", "sign signed signing", LIFE_CHANGE_WEIGHT, r"up (?=for )"),
    _Verb("Applying {}", "apply applied applying", LIFE_CHANGE_WEIGHT, r"(?=for |to )"),
    _Verb("Learning {}", "learn learning learnt", LIFE_CHANGE_WEIGHT, r"(?!about |how |that |from |a lot|so )"),
    _Verb("Adopting {}", "adopt adopted adopting", LIFE_EVENT_WEIGHT),
    _Verb("The new {}", "get got getting adopted bought", LIFE_CHANGE_WEIGHT, rf"(?:a|an|our|my)(?: \w+){{0,2}} "
                                                                              rf"(?=(?:{ANIMALS})\b)"),
    _Verb("{}", "get got received had", LIFE_CHANGE_WEIGHT, r"(?=an? (?:\w+ )?(?:letter|e-?mail|mail|phone call|call|"
                                                            r"offer) from )"),
    _Verb("{}", "have got had", SINGLE_ACTION_WEIGHT, rf"(?=(?:an?|my|our) (?:\w+ ){{0,2}}{_APPOINTMENT}\b)"),
    _Verb("Buying {}", "buy bought buying", SINGLE_ACTION_WEIGHT, r"(?=a |an |the |our |my )"),
    _Verb("Selling {}", "sell sold selling", LIFE_CHANGE_WEIGHT),
    _Verb("Winning {}", "win won winning", LIFE_CHANGE_WEIGHT),
    _Verb("Losing {}", "lost losing", SINGLE_ACTION_WEIGHT, rf"(?=(?:my|our) {_MISSED}\b)"),
    _Verb("Opening {}", "open opened opening", LIFE_CHANGE_WEIGHT, r"(?=a |an |my |our )"),
    _Verb("Finishing {}", "finish finished finishing", SINGLE_ACTION_WEIGHT, r"(?!up|off|with )"),
    _Verb("Publishing {}", "publish published publishing", LIFE_CHANGE_WEIGHT),
    _Verb("Organising {}", "organise organised organising organize organized organizing", SINGLE_ACTION_WEIGHT),
    _Verb("Hosting {}", "host hosted hosting", SINGLE_ACTION_WEIGHT),
    _Verb("Volunteering {}", "volunteer volunteered volunteering", SINGLE_ACTION_WEIGHT, r"(?=at |with |for |in )"),
    _Verb("Building {}", "build built building", SINGLE_ACTION_WEIGHT, r"(?!up\b)"),
    _Verb("Restoring {}", "restore restored restoring", SINGLE_ACTION_WEIGHT),
    _Verb("Training {}", "train training", SINGLE_ACTION_WEIGHT, r"(?=for )"),
    _Verb("Teaching {}", "teach teaching", ONGOING_ACTIVITY_WEIGHT, r"(?!me\b|you\b|us\b|myself\b)"),
    _Verb("Writing {}", "write writing wrote", SINGLE_ACTION_WEIGHT, r"(?=a |an |my |the )"),
    _Verb("Visiting {}", "visit visited visiting", SINGLE_ACTION_WEIGHT),
    _Verb("Studying {}", "study studying", ONGOING_ACTIVITY_WEIGHT, r"(?!hard\b|at |in )"),
    _Verb("Working {}", "working", ONGOING_ACTIVITY_WEIGHT, r"(?=on )"),
    _Verb("Saving {}", "saving", ONGOING_ACTIVITY_WEIGHT, r"(?=for |up for )"),
    _Verb("Looking {}", "looking", ONGOING_ACTIVITY_WEIGHT, r"(?=after |for a |into (?!it))"),
    _Verb("Taking {}", "take took taking", SINGLE_ACTION_WEIGHT, r"(?=(?:my|our) .*?\bto )"),
    _Verb("{}", "plan planned planning celebrate celebrated celebrating attend attended "
                "attending", SINGLE_ACTION_WEIGHT, r"(?!to |on )"),
    _Verb("{}", "had", ONGOING_ACTIVITY_WEIGHT, r"(?=(?:an?|my|our) (?:\w+ ){1,4}(?:with|in|at|about|for|on) )"),
    _Verb("{}", "have got", SINGLE_ACTION_WEIGHT, rf"(?=(?:an?|my|our) (?:\w+ ){{1,4}}(?:coming up|next|tomorrow|on "
                                                  rf"{_WEEKDAY})\b)"),
    _Verb("Trip {}", "fly flew flying travel travelled travelling traveled traveling go went going drive driving "
                     "off", LIFE_CHANGE_WEIGHT,
          r"(?:back )?(?=to (?-i:[A-Z](?!\b)))"),
    _Verb("{}", "go went going", SINGLE_ACTION_WEIGHT, r"(?:back )?(?:to|on) (?=(?:an?|the|my|our) (?:[\w+-]+ )?\w+)"),
)  # fmt: skip
_FORMS: dict[str, list[_Verb]] = {}
for _verb in _VERBS:
    for _form in _verb.forms.split():
        _FORMS.setdefault(_form, []).append(_verb)
_STARTING_FORMS = [
    form for form in _FORMS if (is_past(form) and form != "had") or form in {"signing", "joining", "learning", "moving"}
]
_ADVERBS = (
    r"(?: (?:just|finally|recently|also|actually|currently|now|still|really|even|already|probably|definitely|decided to|"
    r"going to|"
    r"planning to|want to|wanted to|about to|been|thinking (?:of|about)|hoping to|starting to|able to|"
    r"(?:so |super |very |really )?excited to|got|back))*"
)
_ACTIVITY = re.compile(
    r"(?:(?<!if )(?<!when )(?<!while )(?<!until )(?<!before )(?<!where )(?<!what )(?<!unless )(?<!that )"
    rf"(?<![\w'])(?:I|we)(?:'m|'ve|'re|'ll| am| have| are| will)?{_ADVERBS} (?P<verb>{'|'.join(_FORMS)})"
    rf"|^(?:just |finally )?(?P<begins>{'|'.join(_STARTING_FORMS)})"
    r"(?= (?:(?:an?|the|my|our|his|her|in|to|for|at|up|with|from|[a-z]+ing)\b|\d|(?-i:[A-Z]))))"
    r" (?=(?P<rest>[^.!?;:]+))",
    re.IGNORECASE,
)
_TIME = (
    r"(?:on|in|since|at|for|from|until|till|by|every|each) (?:(?:the )?(?:week|morning|evening|end|weekend|summer|winter|"
    r"spring|"
    rf"autumn|fall|beginning)\b|a (?:few |couple of )?(?:year|month|week|day)|(?:{WEEKDAY})|"
    rf"(?:{MONTH})\b|\d|"
    r"(?:two|three|four|five|six|ten) |my (?:life|mind)|(?:the )?(?:last|next|first)\b)"
)
_STOP = re.compile(
    r"(?:,| - |–|—|\(|…|\"|\*)|\b(?:and|but|so|because|since|after|before|though|when|while|who|which|that|where|if|last|next|"
    r"this|today|tomorrow|"
    r"yesterday|tonight|now|soon|again|already|recently|lately|ago|too|also|together|here|there|yet|finally|just|as|than|then|"
    r"is|are|was|were|has|have|had|can|will|coming up|(?:one|two|three|four|five|six|a|a few|\d+) (?:years?|months?|weeks?|"
    r"days?|"
    r"hours?)|with me|with them|myself|instead|anymore|almost|it's|it|I'm|I|we|they|he|she|mon|tue|wed|thu|fri|sat|sun|the day|"
    rf"(?:{WEEKDAY})|the other day|what|how|lol|btw|"
    rf"to (?:be|get|make|help|do|see|have|learn|meet|save))\b|\b{_TIME}",
    re.IGNORECASE,
)
_TIME_WITHIN = re.compile(r" (?:this (?:morning|week|evening)|today|yesterday|tonight|on \w+day)(?= from )", re.IGNORECASE)
_DANGLING = re.compile(
    r"(?:(?:^| )(?:a|an|the|my|our|his|her|their|some|to|in|into|at|for|from|on|about|with|of|up|out|off|new|own|really|very|"
    r"super|more|by|over|around|only))+$"
)
_EMPTY_OBJECTS = frozenset(
    """
    it that this them him her us his hers mine ours yours things thing stuff something anything nothing everything one
    someone somebody you me back home bed work sleep well crazy insane mad ahead alone away fine nuts wrong through
    thinking feeling better worse people time lot doctor's shower walk look drive break bit still until second third
    learning say selling day done january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    """.split()  # noqa: SIM905 - see retrieval/query_terms
)
_TIME_HAD = re.compile(r"^an? (?:\w+ )?(?:blast|time|fun|ball) (?:on|at|with|in) ", re.IGNORECASE)
"""Pleasant time as in “A great time at the lake”; the title names the lake."""
_DETERMINER = re.compile(
    r"^(?:an?|the|my|our|his|her|their|some|this|these)\b (?:(?:really|very|super|own|whole|nice|great|good|big|amazing|"
    r"awesome|little|lovely) )*",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:my|our)(?: own)?\b", re.IGNORECASE)
_RELATED = re.compile(rf"\b(?:my|our) {RELATIVE_OR_ANIMAL} (?=[A-Z])")
"""Relation before a name, which the title omits."""
_OTHER_YEAR = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:years|yrs|months|mo|winters|summers|decades) ago\b|\b(?:since|after) (?:I|my|our|the)\b|"
    r"\bwhen I was\b|\bused to\b|\bat (?:sixteen|seventeen|eighteen|nineteen|twenty|twenty-\w+|\d\d)\b|\b(?:until|till|"
    r"til) I was\b|\bas a (?:kid|child|girl|boy)\b|\bin my (?:teens|youth)\b"
)
_UNREAL = re.compile(
    r"\b(?:if|wish|never|almost|might|maybe|would|could|should|not|joke|joking|pretend|someday|one day)\b|n't\b", re.IGNORECASE
)
_PLACE = re.compile(r" (?:for|with|at|in|on|from|about|by|to) ")


class TitleEvent(NamedTuple):
    """Event as a part of a title, with its weight."""

    text: str
    weight: float


def find_event(text: str) -> TitleEvent | None:
    """Return the highest-weighted event or activity of the speaker in an English sentence; None if there is none."""
    tidied = correct_spelling(text)
    found = [*_find_life_events(tidied), *_find_activities(tidied)]
    return max(found, key=lambda event: event.weight, default=None)


def _find_life_events(text: str) -> list[TitleEvent]:
    events: list[TitleEvent] = []
    for pattern, title, share in _LIFE_EVENTS:
        if (found := pattern.search(text)) and not _UNREAL.search(text[text.rfind(",", 0, found.start()) + 1 : found.end()]):
            groups = {key: value or "" for key, value in found.groupdict().items()}
            whose = _owner_in_genitive(groups)
            subject = whose.removesuffix("'s")
            event_title = title.format(whose=whose, subject=subject, **groups) if "{" in title else title
            events.append(TitleEvent(event_title, share * LIFE_EVENT_WEIGHT * _time_factor(text)))
    return events


def _find_activities(text: str) -> list[TitleEvent]:
    events: list[TitleEvent] = []
    for clause in _ACTIVITY.finditer(text):
        clause_start = max(text.rfind(mark, 0, clause.start()) for mark in ",.;:!?")
        rest = _TIME_WITHIN.sub("", clause["rest"])
        for verb in _FORMS[(clause["verb"] or clause["begins"]).lower()]:
            fits = re.match(verb.needs, rest, re.IGNORECASE)
            verb_object = _cut_object(rest[fits.end() :]) if fits else ""
            is_real = not _UNREAL.search(text[clause_start + 1 : clause.start("rest") + len(verb_object)])
            if verb_object and is_real and (event_title := _word_activity(verb, verb_object)):
                events.append(TitleEvent(event_title, verb.weight * _time_factor(text)))
                break
    return events


def _cut_object(rest: str) -> str:
    """Return the object of a verb with its complements, in at most `MAX_WORDS` words."""
    stop = _STOP.search(rest)
    words = (rest[: stop.start()] if stop else rest).split()
    kept = " ".join(words[:MAX_WORDS])
    if len(words) > MAX_WORDS:  # cut where a phrase ends
        ends = [found.start() for found in _PLACE.finditer(kept) if kept.count(" ", 0, found.start())]
        kept = kept[: ends[-1]] if ends else ""
    return _DANGLING.sub("", kept.strip(" ,'\"*")).strip(" ,'\"*")


def _word_activity(verb: _Verb, verb_object: str) -> str:
    """Return verb and object as a part of a title; empty if the object says nothing."""
    plain = _OWN.sub("the", _RELATED.sub("", verb_object))
    phrase = _DETERMINER.sub("", _TIME_HAD.sub("", plain)) if verb.title == "{}" else plain
    ends = {fold(phrase.split()[0]), fold(phrase.split()[-1])} if phrase else _EMPTY_OBJECTS
    is_short = verb.title == "{}" and " " not in phrase
    if not phrase or ends & _EMPTY_OBJECTS or is_short or not any(len(word) > 2 for word in phrase.split()):
        return ""
    if verb.title == "Starting {}" and phrase.split()[0].endswith("ing"):
        return phrase
    return verb.title.format(phrase)


def _time_factor(text: str) -> float:
    return OTHER_YEAR_FACTOR if _OTHER_YEAR.search(text) else 1.0


def _owner_in_genitive(groups: dict[str, str]) -> str:
    name = groups.get("name") or groups.get("who") or ""
    is_word = fold(name) in NON_TOPIC_WORDS or fold(name) in STOP_WORDS or is_past(name) or name.lower().endswith(("ing", "ly"))
    if name and not is_word:
        return f"{name[:1].upper()}{name[1:]}'s"
    kin = groups.get("kin", "")
    return f"{kin[:1].upper()}{kin[1:]}'s"
