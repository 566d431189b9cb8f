"""Facts a sentence implies: “my dog” that the speaker has a dog, “my husband Lars” what he is called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lethe_app.brain.vocabulary.entities import ANIMALS, JOBS, NOT_OCCUPATIONS, RELATIVES, STATES
from lethe_app.dates.words import MONTHS, WEEKDAYS
from lethe_app.retrieval.query_terms import fold

_AGE_ADJECTIVE = r"(?:older|younger|big|little|elder|twin|late|oldest|youngest|eldest|new|old|other|best|former|next-door)"
_NAMED_RELATION = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?P<who>(?:{_AGE_ADJECTIVE} )?(?:(?:golden|german|border|yorkshire|french|jack russell|cocker|black|"
    rf"tabby|guinea|great|"
    rf"shih|english|[a-z]+ (?=teacher|friend|neighbou?r|colleague|mate|coach)) ?)?(?:{RELATIVES}|{ANIMALS}|boss|coach|doctor|"
    rf"therapist|dentist|vet|manager|co-?worker|classmate|teammate|mate|buddy|landlord|landlady|instructor|tutor|shepherd|"
    rf"husky|pug|"
    rf"dachshund|beagle|bulldog|boxer|rottweiler|tzu|dane|cockatiel|parakeet))(?: called| named)?,? "
    rf"(?P<name>(?:(?:Mrs?|Ms|Dr)\.? )?[A-Z][a-zà-öø-ÿ]+)\b(?! (?:and|or|&) [A-Z])"
)
_NAME_BEFORE_RELATION = re.compile(
    rf"(?:^|\b(?:with|and|to|for|by|of) )(?P<name>[A-Z][a-zà-öø-ÿ]+), my (?P<who>(?:{_AGE_ADJECTIVE} )?(?:(?!own )[a-z-]+ "
    rf")?(?:{RELATIVES}|{ANIMALS}|boss|"
    r"coach|shepherd|husky|pug|dachshund|beagle|bulldog))(?=,|[.!]?$)"
)
_OWN_NAME = re.compile(
    r"(?:(?:^|\b(?:[Hh]i|[Hh]ey|[Hh]ello|[Hh]iya)\b[!,. ]*)(?:there|everyone|so|and|again)?[!,. ]*|[.!,] |\b(?:so|and) "
    r")I(?:'m| am) "
    r"(?P<name>[A-Za-z][a-zà-ÿ]+)(?:, (?:and )?(?:I'm |I am )?(?:\d\d\b|from [A-Z]))|"
    r"\b(?:[Hh]i|[Hh]ey|[Hh]ello|[Hh]iya)\b[!,. ]+(?:there|everyone|so|and|again)?[!,. ]*I(?:'m| am) "
    r"(?P<greeted>[A-Z][a-zà-ÿ]+)(?=[,.!]|$| and )"
)
_NAME_REQUEST = re.compile(
    r"\b(?:you can|u can|just|please) call me (?P<name>[A-Za-z][a-zà-ÿ]{1,14})"
    r"(?=$|[,.!?]| (?:btw|everyone|everybody|if|lol|for|instead|please|because|and)\b)",
    re.IGNORECASE,
)
_NOT_A_NAME = re.compile(
    rf"(?:{STATES}|[a-z]+(?:ing|ed|ish|ese)|back|new|here|home|tired|good|fine|late|old|free|bored|happy|sad|sorry|done)\Z",
    re.IGNORECASE,
)
_PLURAL_RELATION = re.compile(
    r"\b(?:family|kids|children|parents|siblings|friends|dogs|cats|pets|sisters|brothers|sons|daughters|grandparents)\Z"
)
_NOT_NAMES = frozenset(
    (
        *WEEKDAYS,
        *MONTHS,
        *"""
        i and or who is was god well yes no so but oh sorry thanks yeah
        yep wow hey hi okay ok sure awesome cool great nice absolutely definitely exactly agreed totally
        right aww congrats hello also then now just still it he she they we you the
        this that my
        """.split(),  # noqa: SIM905 - a list of quoted words cannot be read
    )
)
_CLOSE_RELATION = (
    r"(?:wife|husband|girlfriend|boyfriend|fianc[eé]e?|kids|children|sons?|daughters?|sisters?|brothers?|siblings|twins|"
    r"grandkids|"
    r"grandchildren|grandsons?|granddaughters?|nephews?|nieces?|step(?:sons?|daughters?|kids|children)|room-?mates?|flatmates?|"
    r"house-?mates?)"
)
_OWNED_NOUN = re.compile(
    rf"\b[Mm]y (?P<what>(?:(?:two|three|four|five|six|\d|older|younger|big|little|twin|rescue|golden|black|\d+-year-old|"
    rf"[a-z]+-year-old|teenage|oldest|youngest|elder) )*(?:{_CLOSE_RELATION}|(?!fish\b|bird\b|bees\b|rat\b|cow\b|goose\b|"
    rf"chicken\b|"
    rf"pet\b|sheep\b|mouse\b|mice\b){ANIMALS}))(?!['’]s?\b|-| (?:in (?:law|mind)|{ANIMALS}|and I split))\b"
    r"(?=$|[^\w\s]|,? (?!paintings?|photos?|pics?|pictures?|toys?|treats?|food|hair|bed|house|school|lovers?|person|people|"
    r"owners?|walks?|walking|"
    r"training|show|club|rescue|shelter|drawings?|park|collar|portraits?|stories|videos?|costumes?)[a-z'I&])"
)
_LATE_RELATIVE = re.compile(rf"\b[Mm]y late (?P<who>{RELATIVES})\b")
_VOCATIVE = re.compile(r"(?:^|, )my \w+ ?(?:[,.!?]|$)", re.IGNORECASE)
_UNREAL = re.compile(
    r"\b(?:if|imagine|pretend|would|wish|future|someday|suppose|used to|dream|story|character|novel|game|as (?:if|though)|"
    r"like (?:a|my)|"
    r"when I (?:was|grow)|ex|call(?:ed)? (?:it|him|her|them) my|not my|isn't my|aren't my|without my)\b",
    re.IGNORECASE,
)
_MEMORY_QUESTION = re.compile(
    r"\W*(?:(?:so|and|but|oh|hey|ok|wait|um|now) )*(?:what|what's|who|who's|whose|which|when|where|how|why|do you (?:remember|"
    r"know|recall)|"
    r"can you|could you|remember (?:what|who|when|where|which|how))\b",
    re.IGNORECASE,
)
"""Question, with or without its mark, about something the persona should remember."""
_COMPARES = re.compile(
    r"\b(?:basically|practically|literally|virtually|like|pretty much|kind of|sort of|is|are|was) (?:basically |practically |"
    r"literally |"
    r"pretty much |kind of |like )*my (?:wife|husband|girlfriend|boyfriend|child|son|daughter|kids?|baby|brother|sister|"
    r"mother|father|mum|"
    r"mom|dad)\b(?! [A-Z])(?=.* at this point|.* these days|.* now\b)|\b(?:basically|practically|virtually|pretty much) my \w+",
    re.IGNORECASE,
)
"""Comparison of something with a relative: “The bus is basically my wife at this point”."""
_OWNED_THING = re.compile(
    r"\b[Mm]y (?:(?:new|old|beloved|trusty|little|own|acoustic|electric|beautiful|first) )?(?P<what>(?:acoustic |electric |"
    r"bass |vegetable |"
    r"rose |herb |camper |food |rowing |sailing |(?!whole|entire|little|huge|growing|own|new|big)[a-z]+ "
    r"(?=collection))?(?:guitar|violin|piano|"
    r"cello|drum ?kit|ukulele|saxophone|trumpet|flute|accordion|motorbike|motorcycle|van|boat|caravan|allotment|greenhouse|"
    r"garden|"
    r"telescope|wheelchair|podcast|blog|bakery|workshop|truck|collection))\b"
)
_CAR = re.compile(
    r"\b[Mm]y (?:(?:new|old|beloved|trusty|little|own|red|blue|white|black|electric) )*(?P<what>Prius|Tesla|Honda|Toyota|"
    r"Ford|BMW|Audi|"
    r"Volvo|Golf|VW|Volkswagen|Fiat|Skoda|Kia|Hyundai|Mazda|Nissan|Subaru|Jeep|Renault|Peugeot|Citro[eë]n|Opel|Dacia|"
    r"Mercedes|Porsche|"
    r"Vespa|Yamaha|Harley|Civic|Corolla|Clio|Polo|Passat|Fiesta|Corsa)\b"
)
_COURSE = re.compile(
    r"\b[Mm]y (?:(?:weekly|new|first|last|local|next|evening|online) )*(?P<what>(?P<of>(?!to|for|of|in|and|at|from|"
    r"with)[a-z]+)(?: (?!to |for |of |in |and |at |from |with )[a-z]+)? (?P<kind>class|"
    r"lessons|course|club|choir|support group))\b"
)
_AS_JOB = re.compile(
    rf"^(?:as|being) (?P<what>an? (?:[a-z-]+ ){{0,2}}?(?:{JOBS}|[a-z]+(?:er|or|ist|ian))),? (?=I\b|I'|my\b|you\b|it\b)",
    re.IGNORECASE,
)
_NOT_AN_OCCUPATION = re.compile(
    r"\b(?:kid|child|boy|girl|teenager|beginner|toddler|youngster|fan|lover|reminder|matter|rule)\b", re.IGNORECASE
)

_NOT_COURSE_SUBJECTS = frozenset(
    """
    able about absolutely acceptance accomplishment across activity adventure affection again ago ahead aim all almost along
    also always amazing amount another any anybody anyone appreciation approaches around assistance atmosphere atmospheres
    attempt attention autumn awareness away awesome awful back bad balance battle beautiful beauty because been being
    benefit best better big bit bits blast bond book books boost both break breakthrough breath brief brilliant bunch calm
    can career-high cause causes certain challenge challenges challenging chance change changes chat comfort common
    compassion compliments confidence confident connection connections control cool couple courage crazy creative creativity
    cute daily day days deal decent decision dedication deep deeper determination difference different difficult down dream
    dreams due during each ease easy effect effort efforts eight emotion emotions encouragement end energy enough entire
    epic error especially even event events ever every everybody everyone example excellent excited exciting experience
    experiences extra face fantastic far fear feel feeling feelings few finding fine five focus folks for forward four free
    fresh friendly from full fun funny further future gains game games general genuine give glad glimpse go goal goals going
    good gorgeous grateful gratitude great growth guy guys half happiness happy hard have healthy heart help here high hit
    hobbies hobby hooked hope hopes hour hours huge hurdle hurdles idea ideas image impact important impression incredible
    information inner insight insights inspiration inspiring instead intense interest interesting involved issue issues it
    job journey journeys joy just key kind kindness kinds knowledge last late laugh least less lesson lessons life like
    little loads long look lot lots love lovely luck lucky main major make many matter me meaning meaningful memories memory
    mess message milestone mind mindset minute minutes mistake moment moments money mood more morning most motivation much
    must near necessary need negative never new news next nice night nine nothing now obstacle obstacles off often old once
    one only open opportunity optimism option options other others out outlook outside over own pain part parts passion
    passions past path peace people perfect perseverance person personal perspective photo photos pic pics picture pictures
    piece place places plan plans platform platforms plenty point positive positivity possibilities possible power powerful
    present pretty pride problem problems process progress purpose pushing question quick quiet quite rather ready real
    really reason recent recently regular relaxing remarkable reminder resilience respect rest restaurant result results
    right rough rush sad same satisfying scary second seem self self-care sense series serious setback setbacks seven
    several shape short shot shots side similar simple since situation situations six skills small smile snacks so soft some
    somebody someone something sometimes somewhere soon sort space special spot spring start state stay step steps still
    stop story strange strength stress strong stronger struggle struggles stuff success such summer super support sure surge
    surprise sweet talent talk techniques ten term terrible than thanks that the then there thing things think third thought
    thoughts three time times tip tips today together token tonight tons too top total totally touch tough trial trouble
    true trust truth try trying turn turnaround twenty twist two types unique up use usual valuable values very vibe vibes
    video view views voice walk way ways week weekend weird well what whatever whole wild will win wins winter wish with
    within without wonder wonderful word words work world worry worse worst worth wow wrong year years yesterday yet young
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
"""Words that do not name a subject of a course or club."""


def find_own_name(message: str) -> str:
    """Return the name by which the speaker introduces themselves: “hi, I'm Marie”, “im tom, 34”, “you can call me den”; else
    an empty string.
    """
    match = _OWN_NAME.search(message) or _NAME_REQUEST.search(message)
    name = (match["name"] or match.groupdict().get("greeted") or "") if match else ""
    return "" if fold(name) in _NOT_NAMES or _NOT_A_NAME.match(name) else name.capitalize()


def asks_to_remember(sentence: str) -> bool:
    """Return whether a sentence asks for something to be remembered, with or without its question mark: “whats our dog
    called again”.
    """
    return bool(_MEMORY_QUESTION.match(sentence))


def is_comparison(sentence: str) -> bool:
    """Return whether a sentence compares something with a relative: “the bus is basically my wife”."""
    return bool(_COMPARES.search(sentence))


def find_implied_facts(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the facts the sentence implies, each as a first-person clause and its key."""
    if _MEMORY_QUESTION.match(sentence):
        return
    # Names count in hypothetical sentences and comparisons as well.
    yield from _find_names(sentence)
    if _UNREAL.search(sentence) or is_comparison(sentence):
        return
    if late_match := _LATE_RELATIVE.search(sentence):
        yield f"my {late_match['who']} has died", ""
    if not sentence.endswith("?"):
        yield from _find_occupations(sentence)
    for match in _OWNED_NOUN.finditer(_VOCATIVE.sub("", sentence)):
        yield f"I have {_add_article(match['what'].lower())}", ""
    for match in _OWNED_THING.finditer(sentence):
        if match["what"] != "collection":
            yield f"I have {_add_article(match['what'].lower())}", ""
    for match in _CAR.finditer(sentence):
        yield f"I have a {match['what']}", "car"


def _find_names(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the names of relatives, friends and pets. They count in a question as well."""
    for pattern in (_NAMED_RELATION, _NAME_BEFORE_RELATION):
        for match in pattern.finditer(sentence):
            if fold(match["name"]) not in _NOT_NAMES and not _PLURAL_RELATION.search(match["who"]):
                yield f"my {match['who']} is called {match['name']}", f"{match['who']} name"


def _find_occupations(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the occupation in “as a nurse, I …” and the courses and clubs the speaker belongs to."""
    job = _AS_JOB.match(sentence)
    if job and not _NOT_AN_OCCUPATION.search(job["what"]) and job["what"].split()[-1].lower() not in NOT_OCCUPATIONS:
        yield f"I'm {job['what'].lower()}", ""
    for match in _COURSE.finditer(sentence):
        if match["of"] not in _NOT_COURSE_SUBJECTS and not match["of"].endswith(("ing's", "ly")):
            verb_phrase = "am in a" if match["kind"] in {"club", "choir", "support group"} else "take"
            yield f"I {verb_phrase} {match['what'] if verb_phrase == 'am in a' else _add_article(match['what'])}", ""


def _add_article(noun: str) -> str:
    """Return the noun with its article; numbers and plurals get none."""
    last_word = noun.rsplit(" ", 1)[-1]
    if (noun[0].isdigit() and "year" not in noun) or noun.split(maxsplit=1)[0] in {"two", "three", "four", "five", "six"}:
        return noun
    if (last_word.endswith("s") and last_word != "class") or last_word in {"children", "kids", "geese", "practice", "fish"}:
        return noun
    return f"{'an' if noun[0] in 'aeiou8' else 'a'} {noun}"
