"""Parsing of a short answer by the kind its question expects: a name, a place, an occupation, an age, relatives or
possessions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lethe_app.brain.people.noun_phrases import DURATION, FAMILY, PET, add_article, capitalize_name
from lethe_app.brain.question_answers import patterns
from lethe_app.brain.question_answers.ownership import EVASIVE, Answers, parse_ownership
from lethe_app.brain.text.clauses import strip_fillers
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.vocabulary.entities import JOBS, NOT_OCCUPATIONS
from lethe_app.brain.vocabulary.verbs import BASE_VERBS, VERBS_ALSO_NOUNS, is_past
from lethe_app.dates.words import MONTH

_INTRODUCTION = re.compile(
    r"^(?:(?:it's|it is|that's|that would be|mostly|mainly|usually|just|only|probably|called|named|well|from|also|about|"
    r"currently|always|pretty much|the|my name is|name is|call me|at|in)\s+)+",
    re.IGNORECASE,
)
_TRAILING_FILLERS = re.compile(
    r"(?:,? (?:mostly|mainly|usually|lol|xd|haha\w*|innit|mate|atm|irl|now|really|i guess|i suppose|for now|for my sins|sadly|"
    r"actually|then|and that|and stuff|and such|and all that|n that|ma'am|sir|will do|is fine|it is|originally|since "
    r"you ask|yk))+$",
    re.IGNORECASE,
)
_SECOND_CLAUSE = re.compile(
    r" (?:I|I'm|I've|he's|she's|we|we're|we've|my|it's|they|they're|there's)\b.*|,? (?:but|though|so|because|cos|since|"
    r"where|which|until|if|when|while|who)\b.*|, (?:I|it|he|she|they|we|you|don't|do|not|as|the|my|that|which)\b.*",
    re.IGNORECASE,
)
_NOT_A_PLACE = re.compile(
    r"\b(?:home|bed|work|couch|sofa|kitchen|bathroom|room|desk|car|bus|train|phone|my|planet|hell|heaven|earth|moon|"
    r"\w+ing)\b|\d",
    re.IGNORECASE,
)
_NOT_A_NAME = re.compile(
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
_DURATION = re.compile(
    rf"(?:for )?(?P<span>{DURATION}|since (?!then|ever|always|forever).+?)(?: (?:now|in [a-z]+|this [a-z]+|next [a-z]+))?\Z",
    re.IGNORECASE,
)
_MONTH = rf"(?:{MONTH})"
_TIME = re.compile(
    rf"(?:(?P<day>(?:on )?(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:(?: of)? {_MONTH})?|(?:on )?{_MONTH} (?:the "
    rf")?\d{{1,2}}(?:st|nd|rd|th)?|(?:on )?(?:mon|tues|"
    rf"wednes|thurs|fri|satur|sun)day)|(?P<time>(?:in )?(?:19|20)\d\d|(?:in )?{_MONTH}(?: (?:19|20)\d\d)?)|"
    rf"(?P<asis>(?:(?:next|last|this) [a-z]+|tomorrow|yesterday|"
    rf"(?:\w+|a few) (?:days|weeks|months|years) ago|in (?:a|two|three|four|\d) (?:weeks?|days?|months?))))\Z",
    re.IGNORECASE,
)
_THING = re.compile(r"(?:(?:the|an?|some|my|two|three|\d+) )?[A-Za-z][\w'&-]*(?:,? (?:and |n |& )?[\w'&-]+){0,6}\Z")
_IS_CLAUSE = re.compile(r"(?:I(?:'\w+)?|we(?:'\w+)?|my|our|you|there(?:'s)?|this)\b", re.IGNORECASE)
_NEAR_PLACE = re.compile(r"(?:just )?(?:near|outside|by|close to|north of|south of|east of|west of) (?:of )?", re.IGNORECASE)
_NAME_INTRODUCTION = re.compile(
    r"^(?:(?:it's|it is|he's|she's|they're|they are|(?:his|her|its|their) names? (?:is|are|was|were)|called|named|oh)\s+)+",
    re.IGNORECASE,
)


OWN_RELATION = re.compile(
    rf"\b(?:my|our|an?|one|two|three|four|the) (?:(?:old|little|big|older|younger|late|new) )?(?P<who>{FAMILY}|{PET}|"
    rf"nani|nonna|abuela)\b"
)


def parse_answer(
    kind: str, pieces: list[str], first_sentence: str, question: str, previous_text: str, groups: dict[str, str]
) -> Answers:
    """Return the answers to a question of this kind; an empty list if the reading is uncertain."""
    first_piece = pieces[0]
    if kind == patterns.POSSESSION:
        return parse_ownership(pieces, first_sentence, question)
    if kind == patterns.YES_OR_NO:
        return _parse_yes_or_no(first_sentence, groups)
    if _IS_CLAUSE.match(first_piece):
        return []
    is_own = "whose" not in groups
    parsers: dict[str, Callable[[], Answers]] = {
        patterns.OCCUPATION: lambda: _parse_occupation(pieces, is_own=is_own),
        patterns.RELATION: lambda: _parse_relation(first_piece, groups["name"]),
        patterns.RELATION_NAME: lambda: _parse_relation_name(first_piece, previous_text, question),
        patterns.DURATION: lambda: _parse_duration(first_piece, question, previous_text),
        patterns.AGE: lambda: _parse_age(first_piece),
        patterns.TIME: lambda: _parse_time(_TRAILING_FILLERS.sub("", first_piece)),
    }
    return parsers.get(kind, lambda: _parse_thing(kind, first_piece, is_own=is_own))()


def _parse_age(piece: str) -> Answers:
    age_match = _AGE.match(_TRAILING_FILLERS.sub("", _INTRODUCTION.sub("", piece)))
    return [age_match["age"]] if age_match else []


def _parse_thing(kind: str, piece: str, *, is_own: bool) -> Answers:
    stripped = _TRAILING_FILLERS.sub("", _SECOND_CLAUSE.sub("", _INTRODUCTION.sub("", piece))).strip(" ,.-")
    words = stripped.lower().split()
    if not stripped or EVASIVE.search(stripped) or len(words) > 7 or is_past(words[0]):
        return []
    if kind == patterns.NAME:
        return _parse_name(stripped)
    if kind == patterns.PLACE:
        return _parse_place(stripped, words, is_own=is_own)
    if kind == patterns.WORKPLACE:
        preposition_match = re.match(r"(?:at|for|in|on|near) ", piece, re.IGNORECASE)
        preposition = preposition_match[0].lower() if preposition_match else "at "
        return [f"{preposition}{capitalize_name(stripped)}"] if len(words) <= 5 else []
    if not _THING.match(stripped):
        return []
    return (
        _parse_liking(stripped, words)
        if kind == patterns.LIKING
        else [capitalize_name(stripped) if kind == patterns.PEOPLE and words[0] != "my" else stripped]
    )


def _parse_name(stripped: str) -> Answers:
    is_plain = re.fullmatch(r"[^\W\d_]+(?:[ '-][^\W\d_]+)?", stripped)
    return [capitalize_name(stripped)] if is_plain and not _NOT_A_NAME.search(stripped) else []


def _parse_place(stripped: str, words: list[str], *, is_own: bool) -> Answers:
    if len(words) > 5 or _NOT_A_PLACE.search(stripped) or any(is_past(word) or word in BASE_VERBS for word in words):
        return []
    near_match = _NEAR_PLACE.match(stripped)
    if near_match and is_own:
        return [(f"I live {near_match[0].lower()}{capitalize_name(stripped[near_match.end() :])}", "home")]
    return [] if near_match else [capitalize_name(stripped)]


def _parse_liking(stripped: str, words: list[str]) -> Answers:
    """Return how somebody spends their time. An answer such as “feed birds” has a verb and becomes a whole clause."""
    if words[0] in {"sleep", "work", "drink", "scroll", "cry", "netflix"}:
        return []
    if words[0] in BASE_VERBS and (len(words) > 1 or words[0] not in VERBS_ALSO_NOUNS):
        return [(f"I {stripped[:1].lower()}{stripped[1:]}", "")]
    return [stripped[:1].lower() + stripped[1:] if stripped[1:].islower() else stripped]


def _parse_occupation(pieces: list[str], *, is_own: bool) -> Answers:
    """Return an occupation or a field of work, and the workplace if it is named."""
    piece = _TRAILING_FILLERS.sub("", _INTRODUCTION.sub("", pieces[0]))
    if match := _RETIRED.match(piece):
        return [f"a retired {match['job']}" if match["job"] else "retired"]
    if _FIELDS.fullmatch(piece):
        # Fields of two letters are abbreviations: IT, HR.
        return [(f"I work in {piece.upper() if len(piece) == 2 else piece.lower()}", "job")] if is_own else []
    match = _JOB.match(piece)
    if not match or match["job"].split()[-1].lower() in NOT_OCCUPATIONS or EVASIVE.search(match["job"]):
        return []
    job = match["job"] if match["job"][1:] != match["job"][1:].lower() else match["job"].lower()
    workplace = f" {match['at'].split(' ', 1)[0]} {capitalize_name(match['at'].split(' ', 1)[1])}" if match["at"] else ""
    answers: Answers = [f"{add_article(job)}{workplace}"]
    if is_own and not workplace and len(pieces) > 1 and _WORKPLACE.match(pieces[1]) and len(pieces[1].split()) < 5:
        answers.append((f"I work at {capitalize_name(pieces[1])}", "employer"))
    return answers


def _parse_duration(piece: str, question: str, previous_text: str) -> Answers:
    """Return for how long or since when. If the question says “that”, the occupation is taken from the speaker's earlier
    message.
    """
    match = _DURATION.match(piece)
    if not match:
        return []
    duration = match["span"] if match["span"].lower().startswith("since") else f"for {match['span']}"
    if not re.search(r"\b(?:that|this|it|there)\b", question):
        return [duration]
    jobs = [
        job
        for part in extract_sentences(previous_text)
        if (job := _JOB.match(_INTRODUCTION.sub("", strip_fillers(part)))) and job["job"].split()[-1] not in NOT_OCCUPATIONS
    ]
    return [(f"I have been {add_article(jobs[-1]['job'].lower())} {duration}", "job")] if jobs else []


def _parse_time(piece: str) -> Answers:
    match = _TIME.match(piece)
    if not match:
        return []
    if match["day"]:
        return [match["day"] if match["day"].lower().startswith("on ") else f"on {match['day']}"]
    if match["time"]:
        return [match["time"] if match["time"].lower().startswith("in ") else f"in {match['time']}"]
    return [match["asis"]]


def _parse_relation(piece: str, name: str) -> Answers:
    """Return who somebody is to the speaker: “Who is Ger?” – “best friend”."""
    match = re.match(
        rf"(?:he's |she's |that's |he is |she is |oh )*(?:just |only )*(?:my |our |an? |the )?(?P<who>(?:[a-z-]+ "
        rf")?(?:{FAMILY}|{PET}|boss|neighbour|colleague|manager|flatmate))(?:$|,| from| at)",
        piece,
        re.IGNORECASE,
    )
    if not match or match["who"].lower().endswith("friends"):
        return []
    relation = match["who"].lower()
    return [(f"my {relation} is called {capitalize_name(name)}", f"{relation} name")]


def _parse_relation_name(piece: str, previous_text: str, question: str) -> Answers:
    """Return the name of the relative or pet the speaker mentioned last; “its” asks for that of an animal."""
    relation_matches = list(OWN_RELATION.finditer(previous_text.lower()))
    stripped = _TRAILING_FILLERS.sub("", _SECOND_CLAUSE.sub("", _NAME_INTRODUCTION.sub("", piece))).strip(" ,.")
    names = re.split(r",? (?:and|n|&) |, ", stripped)
    if not relation_matches or any(
        not name.replace("'", "").replace("-", "").isalpha() or _NOT_A_NAME.search(name) or EVASIVE.search(name)
        for name in names
    ):
        return []
    relation = relation_matches[-1]["who"]
    if re.search(r"\bits?\b", question, re.IGNORECASE) and re.fullmatch(FAMILY, relation):
        return []
    is_plural = relation.endswith("s") or relation in {"children", "twins"}
    if is_plural is not (len(names) > 1):
        return []
    joined_names = " and ".join(filter(None, (", ".join(map(capitalize_name, names[:-1])), capitalize_name(names[-1]))))
    return [(f"my {relation} {'are' if is_plural else 'is'} called {joined_names}", f"{relation} name")]


def _parse_yes_or_no(first_sentence: str, groups: dict[str, str]) -> Answers:
    """Return the statement made by “yes” or “no” to a question about the speaker."""
    answer = re.sub(r"^(?:oh|haha|lol|irl|well|um|god|lord)[, ]+", "", first_sentence.lower())
    activity = groups.get("does", "")
    yes_match = re.match(
        r"(?:yes|yeah|yep|yup|yh|aye|i do|i am|very|terrified|badly)\b(?!.*\b(?:but|used to|not|once|sometimes|if|when|"
        r"kinda|sort of)\b)",
        answer,
    )
    no_match = re.match(
        r"(?:no|nope|nah|never|not at all|i don't|i'm not)(?:\W+(?:thanks|never|really|ma'am|sir|not at all|i (?:do not|"
        r"don't)))*\W*$",
        answer,
    )
    if yes_match:
        return [activity or groups["what"]]
    if no_match and "not really" not in answer:
        return [(f"I don't {activity}" if activity else f"I'm not {groups['what']}", "")]
    return []
