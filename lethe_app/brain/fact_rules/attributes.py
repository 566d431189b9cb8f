"""Attribute and kind of a statement. The attribute (“home”, “partner name”) is the key under which a newer statement
supersedes it.
"""

from __future__ import annotations

import re

from lethe_app.brain.vocabulary.entities import CONDITIONS, EVENTS, JOBS, SKILLS, STATES
from lethe_app.brain.vocabulary.phrases import AGE, FREQUENCY, RELATIVE_OR_ANIMAL, TIME
from lethe_app.brain.vocabulary.verbs import BASE_VERBS, is_past
from lethe_app.domain.facts import FactKind

_SYNONYMS = (
    (re.compile(r"\b(?:wife|husband|spouse|girlfriend|boyfriend|fianc[eé]e?|partner)\b"), "partner"),
    (re.compile(r"\b(?<!-)(?:mum|mom|mama|mommy|mummy)\b"), "mother"),
    (re.compile(r"\b(?<!-)(?:dad|papa|daddy)\b"), "father"),
    (re.compile(r"\b(?:gran(?:ny|ma)?|grandma|nan|nana|grandmum)\b"), "grandmother"),
    (re.compile(r"\b(?:grandpa|granddad|grandad)\b"), "grandfather"),
    (re.compile(r"\b(?:puppy|pup)\b"), "dog"),
    (re.compile(r"\bkitten\b"), "cat"),
    (re.compile(r"\bfavorite\b"), "favourite"),
    (re.compile(r"\bcolor\b"), "colour"),
    (re.compile(r"\bmovie\b"), "film"),
    (re.compile(r"\bkids\b"), "children"),
)
_LONG_PAST = re.compile(
    r"\b(?:when i was|as an? (?:kid|child|teenager|student|baby)|(?:19|20)\d\d|years? ago|decades? ago|back then|used to|"
    r"at the age)\b"
)
_RELATIVE_STATEMENT = re.compile(rf"my (?P<who>(?:(?!own\b|late\b|ex\b)[\w-]+ ){{0,2}}?{RELATIVE_OR_ANIMAL}),? (?P<rest>.+)")
_NAMED_RELATIVE = re.compile(r"[Mm]y (?:[\w'-]+ ){1,3}?(?P<name>(?!I\b)[A-Z][\w-]+),? ")
_UNIQUE_RELATION = re.compile(r"(?:partner|mother|father)\Z")
_RELATIVE_ATTRIBUTES = (
    (
        re.compile(
            rf"(?:is|are|was|were|turned|turns|is turning|will be|is about to turn|is not) {AGE}\b(?! (?:of|times|"
            rf"hours|people))"
        ),
        "age",
    ),
    (re.compile(r"(?:lives?|moved (?:to|in|from)|is moving|has moved|does not live|is living|lived)\b"), "home"),
    (
        re.compile(
            rf"(?:works?\b|is an? (?:[\w-]+ ){{0,2}}(?:{JOBS}|[a-z]+(?:er|or|ist|ian))\b|teaches|is retired|retired|"
            rf"does not work)"
        ),
        "job",
    ),
    (re.compile(r"(?:is|was|are) (?:now )?(?:called|named)\b|name is\b"), "name"),
)
_BREAKUP = (
    r"(?:broke up|split up|separated|got (?:married|engaged|divorced)|am (?:getting )?(?:married|engaged|divorced)|"
    r"married)\b"
)
_PLACE = r"(?P<place>(?:the |new |san |los |las |el |la |st |south |north |west |east )?[a-z][a-z'-]+)"
_TRAVEL_VERB = (
    r"(?:fly(?:ing)?|travel(?:l?ing)?|go(?:ing)?|driv(?:e|ing)|head(?:ing|ed)?|tak(?:e|ing) the (?:train|bus|ferry|boat)|a "
    r"trip|leav(?:e|ing)|"
    r"off|a flight)"
)
_ATTRIBUTES = tuple(
    (re.compile(pattern), key)
    for pattern, key in (
        (r"i (?:am moving|will move|am going to move|plan to move|want to move) (?:to|in|into|back|away)\b", "plan home"),
        (r"i (?:live|am living|have lived) (?:alone|by|together|with|on my own)\b", "household"),
        (r"i have (?:lived|been living) in .*(?:since|for)\b", "home"),
        ((r"i (?:have )?(?:got |)?(?:live|living|am living|reside|am based|have settled|no longer live|do not live|moved|"
         r"have moved)(?! out\b| on\b)\b.*"), "home"),
        (r"my (?:home|flat|house|apartment) is (?:in|on|at|near)\b", "home"),
        ((r"i (?:am|work|started(?: working)?|have started|got a (?:new )?job|am working|no longer work|do not work|have "
          r"(?:got )?a new job|"
         r"have become|became|trained|got promoted|was promoted) (?:now )?(?:as|to)\b"), "job"),
        ((r"i (?:work|am working|started(?: work(?:ing)?)?|have started(?: work(?:ing)?)?|got a (?:new )?job|start(?: "
          r"work(?:ing)?)?|am employed|do not work|no longer work|"
         r"am starting|have (?:got )?a (?:new )?job|joined) (?:at|for|with|in an?|in the|there)\b(?! (?:least|all|\d|noon|"
         r"night|the moment))"), "employer"),
        ((r"i (?:retired|am retired|am unemployed|lost my job|quit my job|left my job|got fired|was fired|got laid off|was "
         r"laid off|am between jobs)\b"),
         "job"),
        (rf"i {_BREAKUP}", "relationship"),
        ((r"my (?:[\w-]+ ){1,2}and i (?:have )?(?:broke|broken|split|separated|divorced|got (?:married|engaged|divorced)|"
         r"married)\b"), "relationship"),
        ((r"i (?:am|have been) (?:single|married|engaged|divorced|widowed|separated|dating|seeing|in a relationship)\b"),
         "relationship"),
        (r"i have (?:got )?an? (?:new )?(?:wife|husband|girlfriend|boyfriend|partner|fianc[eé]e?)\b", "relationship"),
        (r"i (?:have )?(?:am dating|started dating|started seeing)\b", "relationship"),
        ((r"i (?:drive|bought|got|have|own|have bought|traded|just bought|lease) (?:my .+ for )?an? (?:[\w-]+ ){0,2}(?:car|"
          r"prius|tesla|honda|toyota|ford|bmw|"
         r"audi|volvo|golf|vw|volkswagen|fiat|skoda|kia|hyundai|mazda|nissan|subaru|jeep|renault|peugeot|citro[eë]n|opel|"
         r"dacia|mercedes|"
         r"porsche|civic|corolla|clio|polo|passat|fiesta|corsa)\b"), "car"),
        ((
            r"i drive an? (?!taxi|forklift|tractor|digger|crane|school bus|coach|hgv|minibus|reefer|van for|bus|truck|"
            r"lorry|cab|tram|train|ambulance|hard|long)[\w -]+$"
        ), "car"),
        (r"my (?:new )?car is\b|i sold my car\b", "car"),
        ((r"i (?:am|have been|became|went|have gone|am not|am no longer|stopped being) (?:an? )?(?:vegan|vegetarian|"
          r"pescatarian)\b|i (?:do not )?eat (?:\w+ )?"
         r"(?:meat|fish)\b|i (?:stopped|gave up) (?:eating )?meat\b"), "diet"),
        (rf"i have been an? (?:[\w-]+ )?(?!widow|orphan|pagan|fan\b)(?:{JOBS}) (?:for|since)\b", "job"),
        ((
            r"i (?:smoke(?=$| (?:\d|a lot|weed|cigarettes|cigars|a pack|a pipe|every|too|now|like))|do not smoke|no "
            r"longer smoke|(?:have )?(?:quit|stopped|given up|gave up) smoking)\b"
        ), "smoking"),
        ((r"i (?:do not drink|no longer drink|am sober|am teetotal|(?:have )?(?:quit|stopped|given up|gave up) (?:drinking|"
         r"alcohol))\b(?! (?:coffee|tea|milk))"),
         "alcohol"),
        ((r"i have (?:got )?(?:one|two|three|four|five|six|seven|\d) (?:\w+ )?(?P<what>cats|dogs|kids|children|sisters|"
         r"brothers|siblings|daughters|sons)\b"),
         "number of {what}"),
        (r"i (?:study|am studying|major in|am majoring in)\b", "studies"),
        ((r"my (?P<what>(?:native|first) language|mother tongue|hometown|home town|star sign|zodiac|sign|blood type|"
          r"pronouns|surname|religion|"
         r"birthplace|height|dream job|middle name|major) (?:is|are)\b"), "{what}"),
        (r"i (?:was born) (?:in|on|at|near)\b", "birthplace"),
        (rf"i (?:am|will be|am going) .*?{_TRAVEL_VERB} to {_PLACE}\b.*", "plan {place}"),
        (rf"i (?:will|am going to|plan to|want to|have booked|booked|have|am) {_TRAVEL_VERB} to {_PLACE}\b.*", "plan {place}"),
    )
)  # fmt: skip
_EVENT = re.compile(
    rf"(?:my|i (?:have got|have|am having|had|will have|got)(?: an?| my| the| another)?|the (?P<the>launch|naming) of my) "
    rf"(?P<what>(?:(?!is\b|are\b|got\b|an?\b|next\b|first\b|big\b|"
    rf"new\b|important\b|last\b)[\w'-]+ ){{0,2}}?(?:{EVENTS}))s?\b(?<!plays)(?<!shows)(?<!races)(?<!tests)"
    r"(?! (?:at least|with my))"
)
_PLANNED_EVENT = re.compile(
    r"i (?:am|will|want|plan|hope|signed|have signed|registered|entered|decided).*?\b(?P<what>(?:half[- ])?marathon|"
    r"triathlon|wedding|exam|audition|"
    r"competition|tournament)\b"
)
_HEALTH = re.compile(
    rf"\b(?:{CONDITIONS}|allergic|intolerant|allerg\w+|diagnosed|surgery|operation|operated|(?<!'s )hospital\w*|pregnan\w+|"
    rf"miscarriages?|stroke|heart attack|"
    r"medication|antidepressants|insulin|my therapist|(?:in|to|have|having|had|need|start(?:ed|ing)?) therapy|(?:see|"
    r"seeing|saw) an? (?:\w+ )?therapist|blood thinners|warfarin|"
    rf"statins|tablets|pills|meds\b|inhaler|migraines?|my (?:\w+ )?(?:knees?|back|hips?|shoulders?|neck|hearing|"
    rf"eyesight|lungs) (?:is|are|has|have)|"
    rf"bad (?:back|knee|hip|heart|shoulder)|appendix|wisdom teeth|tonsils|rehab|injur\w+|broke my (?:\w+ )?(?:leg|arm|foot|"
    r"wrist|ankle|hip|nose|rib|hand|"
    r"collarbone|finger|toe)s?|sprained|fractured|concussion|chemo\w*|tumou?r|diabetic|epileptic|asthmatic|dyslexic|"
    r"autistic|deaf|"
    r"colou?r[- ]blind|seasick|carsick|wear (?:glasses|contact|hearing)|wheelchair|pacemaker|gastritis|er\b|emergency room|"
    r"due date|"
    r"lose weight|lost \w+ (?:kilos|pounds)|blood pressure|infection|pneumonia|covid|flu|my health|health (?:scare|issues?|"
    r"problems?)|weight)\b"
)
_PLAN = re.compile(
    r"\b(?:i (?:am (?:going to|planning|hoping|thinking (?:of|about)|looking (?:to|into|for)|saving|excited to|training "
    r"(?:for|to)|about to|applying|considering)|"
    r"will|want to|hope to|plan to|plan on|intend to|aim to|would (?:really )?(?:love|like)|can not wait|dream (?:of|"
    r"about)|decided to|have decided|"
    r"signed up|have signed up|booked|have booked|registered|have always wanted|always wanted)|my (?:\w+ )?(?:dream|goal|"
    r"plan|ambition) is|is going to|will be)\b"
)
_UPCOMING = re.compile(
    r"\b(?:am|is|are|have|starts?|begins?|leaves?) .*(?:\b(?:tomorrow|tonight|next|coming|this (?:weekend|summer|autumn|"
    r"winter|spring|[a-z]+day)|later this)\b|\bon [a-z]+day\b)"
)
_WORK = re.compile(
    rf"\b(?:i (?:work|am working (?:as|at|for)|worked|earn|drive for|(?:am|was|used to be) an? [\w -]*(?:{JOBS})\b|"
    rf"am on (?:the )?(?:night|day|early|late)|have worked|study|am studying|studied|major|graduat\w+|teach|run an?|"
    rf"own an? (?:\w+ )?(?:shop|business|company|cafe|café|restaurant|bakery|salon|pub|bar|farm|studio|store|garage)|"
    rf"manage|trained as|am self-? ?employed|am in my \w+ year|my shifts?|retired|am retired|was "
    rf"(?:fired|promoted|hired|laid off)|got (?:fired|promoted|hired|laid off)|quit my job|left my (?:\w+ )?job|lost my "
    rf"job)|job|university|college|degree|thesis|phd|masters|internship|apprenticeship|"
    rf"promotion|employer|exams?|programming course|colleagues?|career|my (?:boss|company|business|shop|store|office|"
    rf"school|studio|start-?up)|"
    rf"volunteer\w*|i am (?:now )?an? (?:[\w-]+ ){{0,3}}(?:{JOBS}))\b"
)
_HOME = re.compile(
    r"\b(?:i (?:live|share|have lived|have been living|am living|moved|have moved|am moving|reside|am based|rent|"
    r"bought an? (?:\w+ "
    r")?(?:house|flat|apartment|"
    r"cottage|home)|grew up|have lived|"
    r"lived|settled|used to live)|my (?:flat|house|apartment|home)|room-?mates?|flatmates?|landlord|mortgage)\b"
)
_TASTE = re.compile(
    rf"\b(?:love|like|hate|enjoy|adore|prefer|dislike|despise|loathe|detest|favou?rite|fan of|\w+ fan|into|obsessed|"
    rf"passionate|fond|keen|interested|afraid|scared|terrified|can not stand|read a lot|"
    rf"hobby|hobbies|collect|collection|play|playing|paint|knit|vegan|vegetarian|pescatarian|eat meat|class|lessons|club|"
    rf"choir|learning|support|am reading|smoke|drink|"
    rf"can (?:not )?{SKILLS}|used to (?:play|go))\b|{FREQUENCY}"
)
_FAN = re.compile(r"\b(?:fan|lover|enthusiast|into|love|hate|enjoy|adore)\b")
_KEY_KINDS = {
    **dict.fromkeys(
        """
        name nickname age birthday origin birthplace zodiac sign pronouns surname religion height hometown
        """.split(),  # noqa: SIM905 - a list of quoted words cannot be read
        FactKind.IDENTITY,
    ),
    **dict.fromkeys(("native language", "mother tongue", "first language", "home town", "blood type"), FactKind.IDENTITY),
    **dict.fromkeys(("job", "employer", "studies"), FactKind.WORK),
    **dict.fromkeys(("diet", "smoking", "alcohol"), FactKind.TASTE),
    "home": FactKind.HOME,
    "household": FactKind.HOME,
    "relationship": FactKind.PEOPLE,
    "car": FactKind.OTHER,
    "dream job": FactKind.PLAN,
}
_IDENTITY = re.compile(
    rf"i (?:am (?:not )?{STATES}|speak|come from|am from|was born|was raised|grew up|was brought up|am named)\b"
)
_PEOPLE = re.compile(
    rf"^my (?:[\w'-]+ ){{0,3}}?{RELATIVE_OR_ANIMAL}\b|\b(?:have|adopted|got|has) (?:[\w-]+ ){{0,4}}?{RELATIVE_OR_ANIMAL}\b|"
    rf"\b(?:is|are|was|were) (?:now )?(?:called|named)\b|broke up|relationship|expecting"
)
_PARTNERED = re.compile(r"i (?:am|have been|got) (?:single|married|engaged|divorced|widowed|separated)\b")
_KINDS = (
    (_HEALTH, FactKind.HEALTH),
    (_PARTNERED, FactKind.PEOPLE),
    (_PLAN, FactKind.PLAN),
    (_UPCOMING, FactKind.PLAN),
    (_IDENTITY, FactKind.IDENTITY),
    (_PEOPLE, FactKind.PEOPLE),
    (_FAN, FactKind.TASTE),
    (_WORK, FactKind.WORK),
    (_HOME, FactKind.HOME),
    (_TASTE, FactKind.TASTE),
)
_KINDS_WITH_EVENTS = frozenset((FactKind.PEOPLE, FactKind.TASTE))
"""Kinds whose statements in the past tense with a time are events."""


def find_attribute_key(clause: str, text: str, rule_key: str) -> str:
    """Return the attribute key of a clause; empty if it has none. `text` is the clause as returned by
    `durability.normalize_clause`, `rule_key` the key of the rule it matches.
    """
    if rule_key and rule_key not in {"job", "home", "origin"}:
        return normalize_key(rule_key)
    for pattern, key in _ATTRIBUTES:
        if match := pattern.match(text):
            if (key in {"home", "job", "employer"} and _LONG_PAST.search(text)) or (
                text.startswith("i moved from ") and " to " not in text
            ):
                return ""
            place = match.groupdict().get("place", "")
            if place in BASE_VERBS or (place and place.title() not in clause and not clause[1:].islower()):
                continue  # “I'm going to chat”
            return normalize_key(key.format(**{name: value for name, value in match.groupdict().items() if value}))
    if rule_key == "origin":
        return rule_key if text.startswith(("i am", "i come", "i hail")) else ""
    if rule_key:
        return rule_key if rule_key == "home" or re.match(r"i am (?:an?|the) |my (?:job|profession)", text) else ""
    return _find_relative_key(clause, text) or _find_plan_key(text)


def normalize_key(key: str) -> str:
    """Return the key with synonyms unified: “girlfriend name” and “wife name” are both “partner name”."""
    for pattern, word in _SYNONYMS:
        key = pattern.sub(word, key)
    return key


def _find_relative_key(clause: str, text: str) -> str:
    """Return a key such as “sister home”, or “ana home” if she is named, because the name distinguishes two sisters."""
    name_match = _NAMED_RELATIVE.match(clause)
    name = name_match["name"].lower() if name_match else ""
    match = _RELATIVE_STATEMENT.match(re.sub(rf",? {re.escape(name)}\b,?", "", text, count=1) if name else text)
    if not match:
        return ""
    relation = normalize_key(match["who"])
    for pattern, attribute in _RELATIVE_ATTRIBUTES:
        if pattern.match(match["rest"]):
            return f"{name if name and not _UNIQUE_RELATION.search(relation) else relation} {attribute}"
    return ""


def _find_plan_key(text: str) -> str:
    """Return a key such as “plan dentist appointment”, so that a new date for it replaces the former one."""
    match = _EVENT.match(text) or _PLANNED_EVENT.match(text)
    if not match or text.startswith(("i had", "i have had")):
        return ""
    what = re.sub(r"^(?:an?|the|my) ", "", match["what"])
    return f"plan {what}" if not what.endswith(("dentist",)) else f"plan {what} appointment"


def classify_kind(text: str, key: str) -> FactKind:
    """Return the kind of a statement. `text` is the clause as returned by `durability.normalize_clause`, `key` its attribute
    key.
    """
    if key.startswith(("plan ", "favourite ")):
        return FactKind.PLAN if key.startswith("plan ") else FactKind.TASTE
    if key in _KEY_KINDS and not _HEALTH.search(text):
        return _KEY_KINDS[key]
    is_past_tense = any(is_past(word) for word in text.split()[1:4])
    for pattern, kind in _KINDS:
        if pattern.search(text):
            return FactKind.EVENT if is_past_tense and kind in _KINDS_WITH_EVENTS and re.search(TIME, text) else kind
    return FactKind.EVENT if is_past_tense or text.startswith("i have ") else FactKind.OTHER
