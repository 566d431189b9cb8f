"""Completes what somebody leaves out of a statement about themselves: “drive the 220 bus in Cork”, “two kids, Jaylen and Nia”.

A clause without a subject gets its “I”, a noun phrase its verb. What may be an order, a reaction or about somebody else stays
as it is.
"""

from __future__ import annotations

import re

from lethe_app.brain.kinds import ANIMALS, CONDITIONS, EVENTS, JOBS, RELATIVES, STATES
from lethe_app.brain.phrases import OFTEN, TIME
from lethe_app.brain.sentences import sentences, strip
from lethe_app.brain.verbs import BASE, is_past
from lethe_app.retrieval.words import MONTHS

COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2}|a couple of|several)"
YEARS = (
    r"(?:(?:about|nearly|almost|over|around|just over|roughly|going on|coming up on) )?(?:[a-z]+(?:-[a-z]+)?|\d{1,2}) "
    r"(?:odd )?(?:years?|months?|decades)"
)
FAMILY = rf"(?:{RELATIVES}|boys?|girls?|lads?|mam|little ones?|grandbab(?:y|ies)|bestie)"
KEPT = rf"(?:{ANIMALS}|pythons?|staff(?:y|ie)|husk(?:y|ies)|pugs?|beagles?|dachshunds?|whippets?|springers?|rottweilers?|dobermans?|alsatians?|schnauzers?|chihuahuas?|mutts?|tabb(?:y|ies))"
_SILENT = r"(?:(?:just|only|recently|also|still|currently|actually|now|mostly|usually|mainly|finally|originally) )*"
_WEAK = r"(?:been (?=to|in|on|a|abroad|married|able)|gone|smoked|drunk|drank|married|learn(?:ed|t)|had|owned|driven|flown|lived|left|played|tried|eaten|met|worked)(?= \w)"
_NOBODY = r"(?!me\b|it\b|you|your|this\b|that\b|us\b|up\b|on\b|off\b|out\b|away\b|over\b|along\b|hard\b|well\b|out loud|better)"
_DATED = rf"(?!.*\b(?:today|tonight|this (?:morning|afternoon|evening))\b).*{TIME}"
_ADDED: tuple[tuple[str, str], ...] = (
    # what goes before; what the rest begins with
    ("I ", rf"am (?:\d\d$|from |{STATES}\b)"),
    ("I ", r"used to (?:be|live|work|have|play|own|smoke|drink|teach|study|sing|dance|run|do|drive|collect|go)\b(?! (?:it|that)\b)"),
    ("I ", rf"(?:drive|teach|speak|volunteer|work|live) {_NOBODY}(?:in|at|as|for|with|near|nights|an?|the|my|from|on|(?-i:[A-Z])\w+)\b"),
    ("I ", r"(?:grew up|was born|was raised|lived|studied|trained|retired|dropped out|got divorced|got married) (?:in|at|near|as|to|on|of|from|last)\b"),
    ("I was ", r"(?:born|raised|bred|brought up) (?:in|near|on|at)\b"),
    ("I ", rf"(?:started|finished|retired|moved|quit|left|met|lost|bought|sold|married|began|buried|adopted|broke) (?!it\b|that\b|this\b|him\b|her\b|them\b|me\b){_DATED}"),
    ("I ", r"was an? (?:[\w-]+ ){0,2}(?:" + JOBS + r"|[a-z]{3,}(?:er|or|ist|ian))\b(?! of)"),
    ("I've ", rf"never {_WEAK}\b(?! (?:so|better|worse|that|it|this|more)\b)"),
    ("I've ", r"known (?:my|him|her|them) .*since\b|been (?:married|vegan|vegetarian|sober|single|together|there|here|with|at) .*(?:for|since|years?|months?)\b"),
    ("I'm ", r"(?:living|working|studying|training|staying|sharing|renting|teaching|learning|volunteering|saving|retraining) (?:in|at|as|for|with|near|to|an?|the|my|(?-i:[A-Z]))"),
    ("I'm ", rf"(?:getting|having|starting|flying|going|moving|seeing|turning|leaving|visiting|meeting|taking|running|finishing|retiring|expecting|travelling|driving) {_DATED}"),
    ("I'm ", r"(?:in touch|friends|best friends|together|close|married|in love|good mates|mates) (?:with|to)\b"),
    ("I'm ", r"not (?:married|religious|vegan|vegetarian|working|retired|a fan of|a (?:cat|dog|morning) person|allergic)\b"),
    ("I'm ", rf"(?:allergic|afraid|scared|terrified|fluent) (?:to|of|in) (?!it\b|that\b|this\b|you|death)"),
    ("I'm ", r"(?:living|back|down|up) (?:in|at|with) (?:my|(?-i:[A-Z]))"),
)  # fmt: skip
_COMPLETED = tuple((before, re.compile(rf"^{_SILENT}(?:{pattern})", re.IGNORECASE)) for before, pattern in _ADDED)
_DONE_OFTEN = re.compile(
    rf"^{_SILENT}(?:feed|race|keep|grow|own|play|cook|bake|sing|paint|write|collect|knit|run|swim|go|do|take|eat|drink|have|read|"
    rf"walk|coach|share|rent|fish|garden|love|like|hate|live|study|watch|follow|support) {_NOBODY}",
    re.IGNORECASE,
)
"""May be an order unless it is said to happen often."""
_OFTEN = re.compile(OFTEN, re.IGNORECASE)
_YOUR_OWN = re.compile(rf"\byour ((?:[a-z]+ )?(?:{RELATIVES}|{ANIMALS}))\b(?!'s)", re.IGNORECASE)
_YOU_DO = re.compile(r"\b(?:do|are|did|have|were|will|would|can|could) you\b", re.IGNORECASE)
_OTHERS = re.compile(
    rf"\b(?:he|she|they|him|her|them|his|their)\b|(?:\b(?:is|does|did|has|was|will|about|and|And)|'s) (?!I\b)[A-Z][a-z]+\b|\bthe (?:\w+ )?(?:{RELATIVES}|{ANIMALS}|baby)\b"
)
_DONE = re.compile(
    r"(?:died|passed away|left|moved|retired|lives|works|teaches|runs|drives|studies|plays|loves|hates|was an?|is an?|married|"
    r"used to|grew up|turned|turns)\b",
    re.IGNORECASE,
)
_MOST_WORDS = 14
_HAS_SUBJECT = re.compile(r"(?:I|my|he|she|it|they|we|you|that|this|there|the|his|her|our|their|what|how|why)\b", re.IGNORECASE)
_BORN_AND = re.compile(r"^born (?:and|&|n) (?=(?:raised|bred|brought up)\b)", re.IGNORECASE)
_CONTRADICTS = re.compile(r"(?:not|no|but|jk|lol|kidding|if|or|in my|as if|allegedly|maybe|i wish)\b", re.IGNORECASE)
_IS_ONE = re.compile(rf"(?:I'm|I am) (?:(?:\w+ irl|\d\d|(?-i:[A-Z])\w+|[a-z]+)$|from )|\d\d$|{STATES}$", re.IGNORECASE)
_NOT_SELF = re.compile(r"\b(?:you|your|yours|please|let's|someone|em)\b|\?|^(?:love|like|hate) (?:it|that|this|the way)\b", re.IGNORECASE)
_SUBJECT = re.compile(rf"^(?P<who>I(?:'\w+)?\b|my (?:[\w-]+ ){{0,2}}?(?:{RELATIVES})(?: [A-Z]\w+)?(?= ))", re.IGNORECASE)
_GOES_ON = re.compile(
    r", (?=(?:(?:just|only|also|still|recently|then) )?(?:started|moved|retired|dropped out|grew up|died|left|quit|lost|sold|"
    r"bought|finished|married|divorced|used to|studied|been|never (?:had|been|smoked|married)|got (?:married|divorced|an?)|"
    r"turned|lived|worked|trained|joined|met (?:my|his|her|him|them))\b)",
    re.IGNORECASE,
)
_HAS_NAME = r"(?:(?:,? (?:called|named)|,| -) (?P<names>[A-Z]?[a-z'-]+(?:(?:, (?:and )?| and | & )[A-Z]?[a-z'-]+){0,5}))?"
_OWNED = re.compile(
    rf"^(?:just |only |we have |got )*(?P<what>(?P<count>{COUNT}) (?:(?!of\b|in\b|on\b|for\b|with\b)[\w-]+ ){{0,2}}?(?P<noun>{FAMILY}|{KEPT}))"
    rf"(?P<grown> (?:all )?(?:grown(?:[ -]up)?|adult))?{_HAS_NAME}$",
    re.IGNORECASE,
)
_IN_PLACE = re.compile(rf"^(?:just |only )*(?P<count>an?|one|my) (?P<what>(?:(?:big|little|older|younger|twin|baby|half) )*(?P<noun>{FAMILY})) (?P<name>[A-Za-z][a-z'-]+)(?: (?:who's |living |over |up |down |out )?(?P<at>in (?!law\b)[\w' ]+))?$", re.IGNORECASE)
"""“a brother finbarr in boston”."""
_NOT_NAMES = frozenset(
    """
    a an and the but so now both all who what here there one two my his her their in on at for with from of to grown up too
    old young adult adults little lovely great good bad annoying again away already also is are was were live lives away
    mostly only just together nearby today tomorrow later yet still lol haha thank god thankfully sadly please
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
_WITHOUT = re.compile(rf"^no (?P<what>(?:{FAMILY}|{KEPT}|car|partner|driving licence)(?:,? (?:or|and|no) (?:{FAMILY}|{KEPT}|car))*)(?: yet| of my own| for me| here)?$", re.IGNORECASE)
_SPENT = re.compile(rf"^(?P<span>{YEARS})(?: (?:in|this|next|come) [a-z]+(?= (?:with|at|for)\b))?,? (?P<how>(?:with|at|as|for|in|on|driving|teaching|nursing|working) (?!total|all|now|a row|may\b|(?:january|february|march|april|june|july|august|september|october|november|december)\b).+)$", re.IGNORECASE)
_MARRIED = re.compile(rf"^(?:(?P<first>{YEARS})(?: (?:happily )?married)|(?:happily )?married (?:for )?(?P<last>{YEARS}))(?: .*)?$", re.IGNORECASE)
_FORMER = rf"(?:(?:retired|former|trainee|student|junior|senior|night|freelance|primary|secondary|part-time|school|bus|train|taxi|hospital|care|truck) )*"
_NAMED_JOB = rf"(?P<job>{_FORMER}(?:[a-z]+ )?(?:{JOBS}|[a-z]{{3,}}(?:er|or|ist|ian)))"
_LONG_JOB = re.compile(rf"^(?:an? )?{_NAMED_JOB}(?: (?P<at>(?:at|for|in|with) [\w' &.-]+?))?,? (?:for )?(?P<span>{YEARS})(?: now)?(?: in [a-z]+)?$", re.IGNORECASE)
_RETIRED = re.compile(r"^(?P<what>(?:retired|ex|former)[- ](?:[a-z]+ )?(?:" + JOBS + r"|[a-z]{3,}(?:er|or|ist|ian)))(?:,.*)?$", re.IGNORECASE)
_PARENT = re.compile(rf"^(?P<what>(?:(?:single|proud|stay-at-home|working|full-time) )*(?:mum|mom|mother|dad|father|mam|gran|grandma|grandad|granddad)(?: (?:of|to) {COUNT}))$", re.IGNORECASE)
_ORIGIN = re.compile(r"^(?:originally from (?P<place>[\w' -]{3,30})|from (?P<other>[\w' -]{3,30}?) originally)(?:,.*)?$", re.IGNORECASE)
_ILL = re.compile(rf"^(?:got )?(?P<what>(?:an? )?(?:(?:bad|dodgy|dicky|gammy|weak|type (?:1|2|one|two)) )(?:back|knees?|hips?|shoulders?|heart|ankles?|diabetes)|type (?:1|2|one|two) diabetic|{CONDITIONS})(?: since .+)?$", re.IGNORECASE)  # fmt: skip
_ONLY_CHILD = re.compile(r"^(?:an? )?only child$", re.IGNORECASE)
_YEARS_SHORT = re.compile(r"\byr(?P<several>s?)\b\.?", re.IGNORECASE)
_WITH = re.compile(r"\bw/?(?= (?:my|his|her|the|an?|[A-Z]|\w+))")
_SMALL = frozenset(("and", "of", "the", "in", "on", "near", "de", "da", "la", "upon", "by", "a", "an", "with", "at", "for", "as", "to"))


def split(sentence: str) -> list[str]:
    """Return “I drive a bus, started at 5” as two sentences of the same subject; any other as it is."""
    if listed := _listed(sentence):
        return listed
    subject = _SUBJECT.match(sentence)
    head, *rest = _GOES_ON.split(sentence)
    if not subject or not rest or sentence.endswith("?") or re.search(r"\bwho\b", head):
        return [sentence]
    who = "I" if subject["who"].upper().startswith("I") else subject["who"]
    return [f"{head}.", *(_of_subject(who, part) for part in rest)]


def _listed(sentence: str) -> list[str]:
    """Return “I'm 34, divorced, 2 kids” as a sentence for each of its parts; nothing if it is no such list."""
    parts = [part.strip() for part in strip(sentence).split(",")]
    if len(parts) < 2 or sentence.endswith("?") or not _IS_ONE.match(parts[0]):
        return []
    made = [f"{parts[0]}."]
    for part in parts[1:]:
        if re.fullmatch(rf"(?:\d\d(?: years old| yo)?|{STATES}|from (?-i:[A-Z])?[\w' ]+|an? (?:\w+ ){{0,2}}(?:{JOBS}|[a-z]{{3,}}(?:er|or|ist|ian)))", part, re.IGNORECASE) and len(part.split()) < 5:
            made.append(f"I'm {part}.")
        elif stated(part, asked=True) or supply(part):
            made.append(f"{part}.")
    return made if len(made) > 1 else []


def _of_subject(who: str, part: str) -> str:
    short = re.sub(r"^(?P<silent>(?:just|only|also|still|recently|then) )(?=been|never)", "", part, flags=re.IGNORECASE)
    if re.match(r"(?:been|never (?:had|been|smoked|married))\b", short, re.IGNORECASE):
        return f"{who} {'have' if who == 'I' else 'has'} {short}"
    if who != "I" and re.match(r"been\b|got\b", part, re.IGNORECASE):
        part = f"has {part}"
    return f"{who} {part}"


def asked_about(message: str) -> str:
    """Return whom the question at the end of a message is about: “you”, “my dad”, “other”; empty if it ends without one."""
    asked = next((part for part in reversed(sentences(message)[-2:]) if part.endswith("?")), "")
    if not asked:
        return ""
    theirs = _YOUR_OWN.findall(asked)
    if len(theirs) == 1 and not _YOU_DO.search(asked):
        return f"my {theirs[0].lower()}"
    if re.search(r"\byou\b", asked, re.IGNORECASE):
        return "you"
    return "other" if _OTHERS.search(asked) else "you"


def of_other(sentence: str, who: str) -> str:
    """Return “left when I was 6” as “my dad left when I was 6” where the dad was asked about."""
    if who == "other" or not _DONE.match(sentence):
        return sentence
    return f"{who} {_lower(sentence)}"


def supply(sentence: str) -> str:
    """Return a sentence about oneself that lacks its subject with “I”, else nothing."""
    bare = _BORN_AND.sub("", spelled(strip(sentence)))
    if _HAS_SUBJECT.match(bare) or _NOT_SELF.search(sentence):
        return ""
    for before, pattern in _COMPLETED:
        if pattern.match(bare):
            return before + _lower(bare)
    if _DONE_OFTEN.match(bare) and _OFTEN.search(bare) and len(bare.split()) < 12 and not sentence.endswith("!"):
        return "I " + _lower(bare)
    return ""


_APPOSED = re.compile(
    rf"^(?:just |only |with |little |and |also )*(?P<name>[A-Za-z][a-z'-]+),? (?:,|-)? ?(?:(?:that's|is) )?(?:my|our|a|an|the) "
    rf"(?P<what>(?:(?!of\b|in\b)[\w-]+ ){{0,2}}?(?P<noun>{FAMILY}|{KEPT}))(?:,.*)?$",
    re.IGNORECASE,
)
"""“biscuit, a springer”, “Virgil, our elderly dachshund”."""
_DAY = (
    r"(?:(?:on |next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: (?:morning|afternoon|evening))?|tomorrow|next (?:week|month)|(?:on )?the "
    r"\d{1,2}(?:st|nd|rd|th)(?: of [a-z]+)?|(?:on )?\d{1,2}(?:st|nd|rd|th)?(?: of)? "
    rf"(?:{'|'.join(MONTHS)})|(?:on )?(?:{'|'.join(MONTHS)}) (?:the )?\d{{1,2}}(?:st|nd|rd|th)?)"
)
_EVENT_DUE = re.compile(
    rf"^(?:got |my |the |an? |have )*(?P<what>(?:(?!on\b|for\b|is\b)[\w'-]+ ){{0,2}}?(?:{EVENTS}|physio|dentist|hospital appointment|op|doctors?|gp|vet|"
    rf"biopsy|blood test|mri))(?: appt| appointment)?(?: (?:is|due|for (?P<whom>my [a-z ]+?)|for me|coming up))? (?P<day>{_DAY})(?: (?:at|in) .+)?(?:,.*)?$",
    re.IGNORECASE,
)


def due(found: re.Match[str]) -> str:
    """Return the appointment that “dentist tomorrow” names."""
    what = found["what"].lower()
    what = {"op": "operation", "physio": "physio appointment", "dentist": "dentist appointment", "gp": "doctor's appointment",
            "doctor": "doctor's appointment", "doctors": "doctor's appointment", "vet": "vet's appointment"}.get(what, what)  # fmt: skip
    day = found["day"] if re.match(r"(?:on|next|this|tomorrow)\b", found["day"], re.IGNORECASE) else f"on {found['day']}"
    return f"I have {with_article(what)} {day}"


def apposed(found: re.Match[str]) -> list[tuple[str, str]]:
    """Return “biscuit, a springer” as whom the speaker has, by name."""
    name, noun = found["name"], found["noun"].lower()
    if name.lower() in _NOT_NAMES or name.lower() in BASE or is_past(name) or noun.endswith(("s", "children", "family")):
        return []
    if re.fullmatch(FAMILY, noun, re.IGNORECASE):
        return [(f"my {found['what'].lower()} is called {titled(name)}", f"{noun} name")]
    return [(f"I have {with_article(found['what'].lower())} called {titled(name)}", "")]


def stated(piece: str, *, asked: bool) -> list[tuple[str, str]]:
    """Return what a noun phrase that is a whole sentence states, as clauses in the first person with their keys."""
    piece = spelled(piece)
    if _HAS_SUBJECT.match(piece) or len(piece.split()) > _MOST_WORDS:
        return []
    head, comma, rest = piece.partition(", ")
    return _of_phrase(piece, asked=asked) or (_of_phrase(head, asked=asked) if comma and not _CONTRADICTS.match(rest) else [])


def _of_phrase(piece: str, *, asked: bool) -> list[tuple[str, str]]:
    if (found := _OWNED.match(piece)) and (asked or found["names"]):
        return owned(found)
    if (found := _IN_PLACE.match(piece)) and found["name"].lower() not in _NOT_NAMES | BASE and not is_past(found["name"]):
        who, name = found["what"].lower(), titled(found["name"])
        lives = [(f"my {who} {name} lives {titled(found['at'])}", "")] if found["at"] else []
        return [(f"my {who} is called {name}", f"{found['noun'].lower()} name"), *lives]
    if found := _EVENT_DUE.match(piece):
        return [(due(found), "")]
    if (found := _APPOSED.match(piece)) and ("," in piece[: found.end("name") + 2]):
        return apposed(found)
    if found := _WITHOUT.match(piece):
        return [(f"I have no {found['what'].lower()}", "")]
    if found := _MARRIED.match(piece):
        return [(f"I have been married for {(found['first'] or found['last']).lower()}", "")]
    if found := _LONG_JOB.match(piece):
        at = f" {titled(found['at'])}" if found["at"] else ""
        return [(f"I have been {with_article(found['job'].lower())}{at} for {found['span'].lower()}", "job")]
    if found := _SPENT.match(piece):
        return [(f"I have spent {found['span'].lower()} {found['how']}", "")]
    if found := _RETIRED.match(piece):
        return [(f"I am {with_article(found['what'].lower())}", "job")]
    if found := _PARENT.match(piece):
        return [(f"I am {with_article(found['what'].lower())}", "")]
    if found := _ORIGIN.match(piece):
        return [(f"I am from {titled(found['place'] or found['other'])}", "origin")]
    if _ONLY_CHILD.match(piece):
        return [("I am an only child", "")]
    if found := _ILL.match(piece):
        what = re.sub(r"^an? ", "", found["what"].lower())
        if what.endswith("diabetic"):
            return [(f"I am a {what}", "")]
        plural = what.endswith("s") or "diabetes" in what
        return [(f"I have {what if plural else with_article(what)}", "")]
    return []


def owned(found: re.Match[str]) -> list[tuple[str, str]]:
    """Return whom somebody has, of “two kids, jaylen and nia”, with their names where they are names."""
    what = found["what"].lower()
    if found["grown"]:
        what = f"{what.removesuffix(found['noun'].lower())}grown-up {found['noun'].lower()}"
    names = re.split(r", (?:and )?| and | & ", found["names"]) if found["names"] else []
    if any(name.lower() in _NOT_NAMES or is_past(name) for name in names):
        return []
    named = [name[:1].upper() + name[1:] for name in names]
    if not named:
        return [(f"I have {what}", "")]
    listed = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    return [(f"I have {what} called {listed}", "")]


def spelled(text: str) -> str:
    """Return a text with short forms of chats written out: “12 yrs”, “w my ex”."""
    return _YEARS_SHORT.sub(r"year\g<several>", _WITH.sub("with", text))


def with_article(noun: str) -> str:
    """Return a noun with “a” or “an” if it has none."""
    return noun if re.match(r"(?:an?|the|my|\d+|two|three|four|five) ", noun) else f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def titled(name: str) -> str:
    """Return a name typed without capitals with them; any other unchanged."""
    if not name.islower():
        return name
    words = name.split()
    return " ".join(word if word in _SMALL else word[:1].upper() + word[1:] for word in words)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
