"""Conversion of clauses into the first person singular: “we went …” to “I went …”, “Just moved to …” to “I moved to …”."""

from __future__ import annotations

import re

from lethe_app.brain.vocabulary.entities import ANIMALS, EVENTS, JOBS, RELATIVES, STATES
from lethe_app.brain.vocabulary.phrases import RELATIVE_OR_ANIMAL
from lethe_app.brain.vocabulary.verbs import is_past
from lethe_app.dates.words import MONTH, WEEKDAY

_MY_RELATIVE = re.compile(r"\bmy (?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|family)\b", re.IGNORECASE)
_OUR_COUNTED = re.compile(r"\bour (?=\d|two\b|three\b|four\b|five\b|six\b)", re.IGNORECASE)
_WE = re.compile(r"^(?:we|our)\b", re.IGNORECASE)
_WITH_LISTENER = re.compile(
    r"\b(?:you|your|together|each other)\b|"
    r"^we (?:just |already |once )?(?:talked|chatted|spoke|discussed|agreed|said|met|begin|start|continue|leave|split|"
    r"broke|separated|divorced|share)\b|"
    r"^we(?:'ll| will)(?! (?:marry|get married|be married|move|fly|buy|adopt|have been|have our|have a baby)\b)|"
    r"^we(?: should| can| could| might| must| need| have to|'d| would)\b",
    re.IGNORECASE,
)
"""Clauses in which “we” may include the listener, or is a couple that separates."""
_SINGULAR_REPLACEMENTS = (
    (re.compile(r"(?<=^we) (?:both|all)\b|(?<=^we're) (?:both|all)\b|(?<=^we are) (?:both|all)\b", re.IGNORECASE), ""),
    (re.compile(r"\bwe're\b", re.IGNORECASE), "I'm"),
    (re.compile(r"\bwe are\b", re.IGNORECASE), "I am"),
    (re.compile(r"\bwe were\b", re.IGNORECASE), "I was"),
    (re.compile(r"\bwe\b", re.IGNORECASE), "I"),
    (re.compile(r"\bour\b", re.IGNORECASE), "my"),
    (re.compile(r"\bourselves\b", re.IGNORECASE), "myself"),
    (re.compile(r"\b(?-i:us)\b", re.IGNORECASE), "me"),
)
_INITIAL_PAST_VERBS = frozenset(
    """
    became broke did failed finished flew gave got had handed joined left lost made met moved passed picked played quit ran
    received sold spent started stopped took tried turned went worked
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
_ACHIEVEMENT_VERBS = frozenset(
    """
    achieved adopted applied attended baked booked bought built celebrated climbed composed created designed developed
    discovered donated earned enrolled finished founded hiked hosted hurt injured launched learned learnt organised
    organized painted performed planted recorded renovated rented scored signed sprained survived toured trained traveled
    travelled twisted visited volunteered watched won wrote
    """.split()  # noqa: SIM905
)
"""Past forms of achievements that are worth remembering."""
_PAST_WITHOUT_SUBJECT = re.compile(
    rf"^(?:(?:just|finally|recently|also|still|currently|actually) )"
    rf"?(?:{'|'.join(sorted(_INITIAL_PAST_VERBS | _ACHIEVEMENT_VERBS))})(?= [\w'])",
    re.IGNORECASE,
)
"""Past forms with which people begin a message about themselves, leaving out “I”."""
_FINITE = (
    r"(?:is|are|was|has|have|does|will|would|can|could|makes?|made|helps?|gives?|feels?|sounds?|takes?|brings?|means?|"
    r"keeps?|lets?|"
    r"reminds?|fascinates?|inspires?|motivates?|seems?|looks?|[a-z]+s(?= me\b))\b"
)
_ACTIVITY_WITHOUT_SUBJECT = re.compile(
    rf"^(?!.*\b{_FINITE})(?:(?:just|finally|currently|still|now|also|actually) )?(?:learning|planning|studying|training|"
    rf"working|saving|"
    r"writing|moving|thinking|trying|starting|expecting|volunteering|reading|building|getting ready|taking)"
    r"(?= (?:to|on|for|about|of|at|an?|my|the|as|in|with|[A-Z]|some|up)\b)",
    re.IGNORECASE,
)
"""Activity without a subject, as in “Learning German.”; “Learning German is fun” has its subject already."""
_BEEN_WITHOUT_SUBJECT = re.compile(
    rf"^(?P<prefix>been )(?=\w+ing\b|(?:an? |with my |here |{STATES}|veggie|sober|clean |best friends )"
    r"(?!while\b|long\b|bit\b))",
    re.IGNORECASE,
)
"""State without a subject, as in “Been veggie since I was 15”."""
_AGE_WITHOUT_SUBJECT = re.compile(r"^(?=turning \d\d\b)", re.IGNORECASE)
_HOME_OR_WORK_WITHOUT_SUBJECT = re.compile(
    r"^(?=live (?:in|on|at|near|just outside|with my)\b(?! (?:the (?:moment|now|present)|peace|fear|harmony))|"
    r"work (?:as an?|for an?|for the|for my|at an?|at the|in an?) (?!team\b|unit\b|pair\b|group\b|time\b|better\b|night\b))",
    re.IGNORECASE,
)
"""Home or work without a subject, as in “Work at a bakery in Hull”."""
_RELATION_WITHOUT_MY = re.compile(
    rf"^(?=(?:(?:favou?rite|best|older|younger|little|big|eldest|oldest|youngest) \w+|{RELATIVE_OR_ANIMAL})"
    r"(?: is| was|'s)(?: name is| name's| called| named| allergic to| pregnant| \d{1,2}\b| an? | from )"
    r"|favou?rite \w+(?: is| was|'s) \w)",
)
"""Relation or favourite without “my”, as in “Sister's a vet”, “favourite film is Paddington”."""
_IS_OF_NOUN = re.compile(r"(?<=[a-z])'s(?= (?!name\b))")
_STATE = re.compile(
    r"^(?!\w+, \w+,? (?:and )?\w+\W*$)(?:(?:still|happily|newly|recently) )?(?:(?:married|single|divorced|engaged|"
    r"retired|pregnant|vegan|"
    r"vegetarian)(?=[\s,.!]|$)(?! (?:life|people|food|man|"
    r"woman|parents|restaurants?|recipes?)\b)|allergic to )",
    re.IGNORECASE,
)
"""State without subject and verb, as in “Married with two kids”."""
_POSSESSION_WITHOUT_SUBJECT = re.compile(
    rf"^(?:(?:and|also|plus|just|oh) )+(?P<what>(?:an?|one|two|three|four|five) (?:[\w-]+ ){{0,3}}?(?:{RELATIVES}|"
    rf"{ANIMALS})(?:,? (?:called|named) .+)?)[.!]?$",
    re.IGNORECASE,
)
"""Possession without subject and verb, as in “And a golden retriever called Biscuit”."""
_HABIT_WITHOUT_SUBJECT = re.compile(
    r"^(?:really |also |still )*(?:don't (?:really )?(?:like|eat|drink|smoke|drive|own|speak|watch|play)|can't (?:stand|"
    r"eat|drink|swim|drive|cook)|"
    r"never (?:learned|learnt|been|liked|had)|(?:hate|love|adore) (?!how|when|that|this|it|you|the|your|to see|seeing|him|"
    r"her|them|my|what|life|can|is|will|makes|has|conquers|wins)[a-z]+"
    r"(?: [a-z]+){0,3}[.!]*$)",
    re.IGNORECASE,
)
"""Habit or liking without a subject, as in “Don't like mushrooms”."""
_INTENTION_WITHOUT_SUBJECT = re.compile(
    r"^going to (?=(?:see|visit|go|move|start|meet|take|get|have|try|run|fly|adopt|buy)\b)", re.IGNORECASE
)
_EVENT_WITHOUT_SUBJECT = re.compile(rf"^(?P<prefix>got )(?=(?:my|an?|another) (?:[\w-]+ ){{0,2}}?{EVENTS}\b)", re.IGNORECASE)
_JOB_HERE = re.compile(rf"^(?:an? )?(?P<job>(?:[\w-]+ ){{0,2}}(?:{JOBS}|[a-z]+(?:er|or|ist|ian))) here\b", re.IGNORECASE)


_BORN = re.compile(r"^born (?=(?:and (?:raised|bred) )?(?:in|on|near)\b|and (?:raised|bred))", re.IGNORECASE)
_ORIGIN_WITHOUT_SUBJECT = re.compile(
    (r"^(?=grew up (?:in|on|near|with|without)\b|used to (?:be|live|work|have|play|own|smoke|drink|teach|drive|run)\b)"),
    re.IGNORECASE,
)
_SHOWN_THING = re.compile(
    r"^(?P<verb>I(?:(?:'m| am|'ve been) (?:\w+ly )?(?:playing|reading|watching|making|writing|building)| met| make| "
    r"(?:\w+ly |just |even |also )?(?:made|bought|got|painted|took|found|wrote|built|drew|finished|read|saw|"
    r"adopted|baked|cooked|"
    r"tried|knitted|designed|created))) (?P<this>this|that|these|those) (?P<next>\w+)"
)
"""Reference to something shown, as in “I made this bowl”."""
_NOT_NOUNS = frozenset(
    """
    one is was for in last with on at by to from as because and but when while of after about that
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
_RESCHEDULED_TO = re.compile(
    r"(?:got|was|were|has been|have been|is|is being) (?:moved|postponed|rescheduled|brought forward|pushed back|put off) "
    r"(?:from .+? )?(?:to|until|till|for) "
    rf"(?=(?:the )?\d|(?:{WEEKDAY})|"
    rf"(?:{MONTH})\b)",
    re.IGNORECASE,
)
"""Rescheduled event, as in “My appointment got moved to Friday”."""
_BARE_DAY = re.compile(
    r"(?<!\bon)(?<!\bnext)(?<!\blast)(?<!\bthis)(?<!\bevery)(?<!\beach)(?<!\bby)(?<!\bof)(?<!\band)(?<!\ba)(?<!\bhate)(?<!\blove)"
    rf"(?<!\bis)(?<!\buntil)(?<!\bother)(?<!\bsince)(?<!\bfrom) (?=(?:{WEEKDAY})$)",
    re.IGNORECASE,
)
"""Weekday without “on”, as in “I saw the doctor Monday”."""
_THE_EVENT = re.compile(
    rf"^the (?=(?:(?:job|dentist|doctor's|driving|final|maths?|vet|surgery|operation|birthday|hospital|court) "
    rf")(?:{EVENTS}) (?:is|got|was|has been) |"
    rf"(?:{EVENTS}) (?:got|was|has been) (?:moved|postponed|rescheduled|pushed|put off|cancelled|canceled|brought))",
    re.IGNORECASE,
)
_OUR_OWN = re.compile(r"\bour(?= \w)")
_INTRODUCTION = re.compile(
    r"^(?:I(?:'m| am) (?:so |really |very |just )?(?:glad|happy|proud|excited|thrilled|relieved|sad|pleased) (?:to (?:say|"
    r"share|report|"
    r"announce|tell you) )?(?:that )?|I (?:can't believe|remember(?: when)?|forgot to (?:mention|say|tell you)|(?:just "
    r")?reali[sz]ed|"
    r"know|told you|mean|found out|should (?:mention|say)|must say|have to (?:say|admit|confess)|admit|guess you know)(?: "
    r"that)? |"
    r"(?:the |my )?(?:doctor|vet|midwife) (?:says|said|confirmed)(?: that)? |(?:you know|did I (?:tell|mention)(?: to)?(?: "
    r"you)?)(?: that)? )(?=(?:I|I'm|I've|my|we|we're|we've)\b)",
    re.IGNORECASE,
)
"""Introduction before the statement, as in “I'm so happy that my sister …”, “I forgot to mention that I …”."""


_COMMENT = re.compile(
    r",? which,? (?:as|is|was|isn't|means|meant|sucks|makes|made|I|my|to be)\b.*(?:is|was|sucks|hilarious|funny|"
    r"annoying|great|ironic|"
    r"nice|fun|awful|me|lol|weird|hard|sad|love|hate)\W*\Z",
    re.IGNORECASE,
)
"""Comment after the statement, as in “I'm a vegan, which as a butcher's son is hilarious”."""


def simplify_clause(clause: str) -> str:
    """Return the clause without its introduction and comment, and with “this bowl”, of something shown, as “a bowl”."""
    clause = _COMMENT.sub("", _THE_EVENT.sub("my ", _INTRODUCTION.sub("", clause)))
    clause = _BARE_DAY.sub(" on ", clause)
    clause = _RESCHEDULED_TO.sub("is now on ", clause)
    if re.match(r"I\b", clause) and not re.search(r"\b(?:you|your|us|we)\b", clause, re.IGNORECASE):
        clause = _OUR_OWN.sub("my", clause)
    return _SHOWN_THING.sub(_use_indefinite_article, clause)


def _use_indefinite_article(match: re.Match[str]) -> str:
    """Return “I made this bowl” as “I made a bowl”, “these bowls” as “bowls”."""
    noun = match["next"]
    if match["this"] in {"these", "those"} or noun.endswith("s") or noun in _NOT_NOUNS:
        return match[0] if match["this"] in {"this", "that"} else f"{match['verb']} {noun}"
    return f"{match['verb']} {'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


_SUBORDINATE_CLAUSE = re.compile(
    r"(?P<main>(?:I|my)\b.+?) (?:when|after|because|since) (?P<clause>(?:I|my) .+)\Z", re.IGNORECASE
)
_OMITTED_SUBJECTS = (
    (_BORN, "I was"),
    (_ORIGIN_WITHOUT_SUBJECT, "I"),
    (_POSSESSION_WITHOUT_SUBJECT, "I have"),
    (_HABIT_WITHOUT_SUBJECT, "I"),
    (_INTENTION_WITHOUT_SUBJECT, "I'm"),
    (_EVENT_WITHOUT_SUBJECT, "I've got"),
    (_BEEN_WITHOUT_SUBJECT, "I've been"),
    (_AGE_WITHOUT_SUBJECT, "I'm"),
    (_HOME_OR_WORK_WITHOUT_SUBJECT, "I"),
    (_RELATION_WITHOUT_MY, "my"),
    (_ACTIVITY_WITHOUT_SUBJECT, "I'm"),
    (_STATE, "I'm"),
    (_PAST_WITHOUT_SUBJECT, "I"),
)


def replace_we_by_i(clause: str) -> str:
    """Return a clause about “we” as one about “I” if “we” does not include the listener; any other clause unchanged."""
    converted = _OUR_COUNTED.sub("", clause) if _MY_RELATIVE.search(clause) else clause  # “with my wife and our three dogs”
    if not _WE.match(converted) or _WITH_LISTENER.search(converted):
        return converted
    for pattern, word in _SINGULAR_REPLACEMENTS:
        converted = pattern.sub(word, converted)
    return converted[:1].upper() + converted[1:]


def extract_subordinate(clause: str) -> str:
    """Return “my son broke his arm” of “I was scared when my son broke his arm”; empty if the subordinate clause is not in
    the past tense.
    """
    match = _SUBORDINATE_CLAUSE.match(clause)
    if not match or not any(is_past(word) for word in match["main"].split()[1:4]):
        return ""
    return match["clause"] if any(is_past(word) for word in match["clause"].split()[1:4]) else ""


def add_subject(sentence: str) -> str:
    """Return a sentence that begins with its verb (“Just moved to Leeds”) with the omitted “I”; any other sentence
    unchanged.
    """
    if (job_match := _JOB_HERE.match(sentence)) and not is_past(sentence.split(" ", 1)[0]):
        article = "an" if job_match["job"][0].lower() in "aeiou" else "a"
        return f"I'm {article} {job_match['job']}{sentence[job_match.end() :]}"
    for pattern, subject in _OMITTED_SUBJECTS:
        if match := pattern.match(sentence):
            rest = sentence[match.end("prefix") if "prefix" in pattern.groupindex else 0 :]
            if pattern is _RELATION_WITHOUT_MY:
                rest = _IS_OF_NOUN.sub(" is", rest, count=1)
            return f"{subject} {rest[:1].lower()}{rest[1:]}"
    return sentence
