"""Completes what somebody leaves out of a statement about themselves: “drive the 220 bus in Cork”, “never smoked”.

A clause without a subject gets its “I”. What may be an order, a reaction or about somebody else stays
as it is.
"""

from __future__ import annotations

import re

from lethe_app.brain.kinds import ANIMALS, JOBS, RELATIVES, STATES
from lethe_app.brain.noun_phrases import HAS_SUBJECT, spelled, stated
from lethe_app.brain.phrases import OFTEN, TIME
from lethe_app.brain.sentences import sentences, strip

_SILENT = r"(?:(?:just|only|recently|also|still|currently|actually|now|mostly|usually|mainly|finally|originally) )*"
_WEAK = (
    r"(?:been (?=to|in|on|a|abroad|married|able)|gone|smoked|drunk|drank|married|learn(?:ed|t)|had|owned|driven|flown|"
    r"lived|left|played|tried|eaten|met|worked)(?= \w)"
)
_NOBODY = r"(?!me\b|it\b|you|your|this\b|that\b|us\b|up\b|on\b|off\b|out\b|away\b|over\b|along\b|hard\b|well\b|out loud|better)"
_DATED = rf"(?!.*\b(?:today|tonight|this (?:morning|afternoon|evening))\b).*{TIME}"
_ADDED: tuple[tuple[str, str], ...] = (
    # what goes before; what the rest begins with
    ("I ", rf"am (?:\d\d$|from |{STATES}\b)"),
    (
        "I ",
        (
            r"used to (?:be|live|work|have|play|own|smoke|drink|teach|study|sing|dance|run|do|drive|collect|go)\b(?! (?:it|"
            r"that)\b)"
        ),
    ),
    (
        "I ",
        (
            rf"(?:drive|teach|speak|volunteer|work|live) {_NOBODY}(?:in|at|as|for|with|near|nights|an?|the|my|from|on|"
            rf"(?-i:[A-Z])\w+)\b"
        ),
    ),
    (
        "I ",
        (
            r"(?:grew up|was born|was raised|lived|studied|trained|retired|dropped out|got divorced|got married) (?:in|at|near|"
            r"as|to|on|of|from|last)\b"
        ),
    ),
    ("I was ", r"(?:born|raised|bred|brought up) (?:in|near|on|at)\b"),
    (
        "I ",
        (
            rf"(?:started|finished|retired|moved|quit|left|met|lost|bought|sold|married|began|buried|adopted|broke) (?!it\b|"
            rf"that\b|this\b|him\b|her\b|them\b|me\b){_DATED}"
        ),
    ),
    ("I ", r"was an? (?:[\w-]+ ){0,2}(?:" + JOBS + r"|[a-z]{3,}(?:er|or|ist|ian))\b(?! of)"),
    ("I've ", rf"never {_WEAK}\b(?! (?:so|better|worse|that|it|this|more)\b)"),
    (
        "I've ",
        (
            r"known (?:my|him|her|them) .*since\b|been (?:married|vegan|vegetarian|sober|single|together|there|here|with|at) "
            r".*(?:for|since|years?|months?)\b"
        ),
    ),
    (
        "I'm ",
        (
            r"(?:living|working|studying|training|staying|sharing|renting|teaching|learning|volunteering|saving|retraining) "
            r"(?:in|at|as|for|with|near|to|an?|the (?!dream)|my|(?-i:[A-Z]))"
        ),
    ),
    (
        "I'm ",
        (
            rf"(?:getting|having|starting|flying|going|moving|seeing|turning|leaving|visiting|meeting|taking|running|finishing|"
            rf"retiring|expecting|travelling|driving) {_DATED}"
        ),
    ),
    ("I'm ", r"(?:in touch|friends|best friends|together|close|married|in love|good mates|mates) (?:with|to)\b"),
    ("I'm ", r"not (?:married|religious|vegan|vegetarian|working|retired|a fan of|a (?:cat|dog|morning) person|allergic)\b"),
    ("I'm ", r"(?:allergic|afraid|scared|terrified|fluent) (?:to|of|in) (?!it\b|that\b|this\b|you|death)"),
    ("I'm ", r"(?:living|back|down|up) (?:in|at|with) (?:my|(?-i:[A-Z]))"),
)
_COMPLETED = tuple((before, re.compile(rf"^{_SILENT}(?:{pattern})", re.IGNORECASE)) for before, pattern in _ADDED)
_DONE_OFTEN = re.compile(
    rf"^{_SILENT}(?:feed|race|keep|grow|own|play|cook|bake|sing|paint|write|collect|knit|run|swim|go|do|take|eat|drink|"
    rf"have|read|"
    rf"walk|coach|share|rent|fish|garden|love|like|hate|live|study|watch|follow|support) {_NOBODY}",
    re.IGNORECASE,
)
"""May be an order unless it is said to happen often."""
_OFTEN = re.compile(OFTEN, re.IGNORECASE)
_YOUR_OWN = re.compile(rf"\byour ((?:[a-z]+ )?(?:{RELATIVES}|{ANIMALS}))\b(?!'s)", re.IGNORECASE)
_YOU_DO = re.compile(r"\b(?:do|are|did|have|were|will|would|can|could) you\b", re.IGNORECASE)
_OTHERS = re.compile(
    rf"\b(?:he|she|they|him|her|them|his|their)\b|(?:\b(?:is|does|did|has|was|will|about|and|And)|'s) "
    rf"(?!I\b)[A-Z][a-z]+\b|\bthe (?:\w+ )?(?:{RELATIVES}|{ANIMALS}|baby)\b"
)
_DONE = re.compile(
    r"(?:died|passed away|left|moved|retired|lives|works|teaches|runs|drives|studies|plays|loves|hates|was an?|is an?|married|"
    r"used to|grew up|turned|turns)\b",
    re.IGNORECASE,
)
_BORN_AND = re.compile(r"^born (?:and|&|n) (?=(?:raised|bred|brought up)\b)", re.IGNORECASE)
_IS_ONE = re.compile(rf"(?:I'm|I am) (?:(?:\w+ irl|\d\d|(?-i:[A-Z])\w+|[a-z]+)$|from )|\d\d$|{STATES}$", re.IGNORECASE)
_NOT_SELF = re.compile(
    r"\b(?:you|your|yours|please|let's|someone|em)\b|\?|^(?:love|like|hate) (?:it|that|this|the way)\b", re.IGNORECASE
)
_SUBJECT = re.compile(rf"^(?P<who>I(?:'\w+)?\b|my (?:[\w-]+ ){{0,2}}?(?:{RELATIVES})(?: [A-Z]\w+)?(?= ))", re.IGNORECASE)
_GOES_ON = re.compile(
    r", (?=(?:(?:just|only|also|still|recently|then) )?(?:started|moved|retired|dropped out|grew up|died|left|quit|lost|sold|"
    r"bought|finished|married|divorced|used to|studied|been|never (?:had|been|smoked|married)|got (?:married|divorced|an?)|"
    r"turned|lived|worked|trained|joined|met (?:my|his|her|him|them))\b)",
    re.IGNORECASE,
)


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
    if "," not in sentence:
        return []
    parts = [part.strip() for part in strip(sentence).split(",")]
    if len(parts) < 2 or sentence.endswith("?") or not _IS_ONE.match(parts[0]) or parts[-1].startswith("and "):
        return []
    made = [f"{parts[0]}."]
    for part in parts[1:]:
        if (
            re.fullmatch(
                rf"(?:\d\d(?: years old| yo)?|{STATES}|from [\w' ]+|an? (?:\w+ ){{0,2}}(?:{JOBS}|[a-z]{{3,}}(?:er|or|"
                rf"ist|ian)))",
                part,
                re.IGNORECASE,
            )
            and len(part.split()) < 5
        ):
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
    if who in {"", "you", "other"} or not _DONE.match(sentence):
        return sentence
    return f"{who} {_lower(sentence)}"


def supply(sentence: str) -> str:
    """Return a sentence about oneself that lacks its subject with “I”, else nothing."""
    bare = _BORN_AND.sub("", spelled(strip(sentence)))
    if HAS_SUBJECT.match(bare) or _NOT_SELF.search(sentence):
        return ""
    for before, pattern in _COMPLETED:
        if pattern.match(bare):
            return before + _lower(bare)
    if _DONE_OFTEN.match(bare) and _OFTEN.search(bare) and len(bare.split()) < 12 and not sentence.endswith("!"):
        return "I " + _lower(bare)
    return ""


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
