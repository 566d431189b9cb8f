"""Clauses of a sentence about the speaker: split at new subjects, without fillers, with the time moved to the end."""

from __future__ import annotations

import re
from itertools import pairwise

from lethe_app.brain.vocabulary.verbs import BASE_VERBS, VERBS_ALSO_NOUNS, is_adverb, is_past, third_person_form
from lethe_app.dates.words import MONTH

_LEAD = re.compile(
    r"^(?:(?:oh|and|also|so|but|well|ok|okay|anyway|anyways|btw|by the way|ha|haha+|heh|lol|yes|yeah|yep|yup|aye|no|nope|"
    r"nah|hey|hi|hello|hiya|ugh|omg|wow|true|thanks|thank you|sorry|fun fact|as for me|in real life|irl|to be honest|tbh|"
    r"honestly|actually|you know|you see|see|look|listen|hmm+|um+|uh+|er|plus|because|yo|actually|quick note|for context|"
    r"for the record|me(?! (?:n|and|&)\b)|as a matter of fact|in fact|personally|besides|still|though|now|then|of course|"
    r"indeed|ah|alas|"
    r"truth be told|cool|great|nice|right|sure|exactly|guess what|unfortunately|luckily|sadly|fortunately|turns out|"
    r"apparently|anyhow|speaking of which)\b[\s,.!-]*)+(?=\S)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[\s,]*\b(?:btw|by the way|lol|lmao|(?:ha){2,}h?|(?:ja){2,}|rofl|xd+|though|tbh|actually|you know|you see|too|"
    r"as well|either|anyway|anyways|xd|"
    r"imo|honestly|please|sorry|these days|nowadays|at least|obviously|for sure|that's for sure|to be honest|"
    r"believe it or not|trust me|thanks|thank you|don't laugh|don't judge|of course|ok|okay|or something|or so|you see|even|"
    r"after all|in fact|now|instead|yay|ugh|right|again|(?<!by )(?<!for )(?<!to )(?<!of )(?<!with )(?<!taught "
    r")(?<!challenge )(?<!express )(?<!hurt )(?<!push )(?<!doubting )(?<!improve )(?<!treat )(?<!enjoy )"
    r"(?<!injured )(?<!bought )myself|"
    r"just like that|as it happens|dear|my dear|my friend|friend|love|traveller|sailor|so far|before that|after that|back then|"
    r"at the time|there|here|if you must know|if i'm honest)[\s,.!:)-]*$",
    re.IGNORECASE,
)
_SUBJECT = (
    r"(?:I|I'm|I've|I'd|I'll|my|our|we|we're|we've|he|he's|she|she's|it|it's|they|they're|you|you're|there|this|that|"
    r"that's|(?:her|his) name|their names?)\b"
)
_CLAUSE_BOUNDARY = re.compile(
    r"(?:\s*,\s*|\s+)(?:(?:and|but|so)(?: now| then| also)?|because|though|although|while|whereas|plus|yet|or|"
    rf"even though|cause|except|then)\s+(?={_SUBJECT})|\s*,\s*(?:(?:since|as) )?(?={_SUBJECT})|\s*,?\s+(?:but|"
    rf"because|so(?= (?:no|not|maybe|please|don't|do not|stop|"
    r"every|the|when|what|if|be)\b)|although|though|unless|whereas|except)\s+",
    re.IGNORECASE,
)
_AND_VERB = re.compile(r"\s*,?\s+(?:and|but)\s+(?P<verb>[a-z']+)(?=\s)")
_FINITE = re.compile(
    r"\b(?:is|are|was|were|am|does|do|did|has|have|had|will|would|can|could|keeps?|says?|said|goes|went|wants?|thinks?|"
    r"gets?|came|comes?|makes?|made|tells?|told|isn't|aren't|doesn't|don't|didn't|can't|won't|needs?|looks?|feels?|felt)\b|"
    r"'(?:s|re|ve|ll|m) ",
    re.IGNORECASE,
)
_THIRD = frozenset(map(third_person_form, BASE_VERBS))
_ASIDE = re.compile(
    r"\s*,\s*(?:by the way|btw|actually|you know|honestly|of course|for example|to be honest|tbh|in fact|obviously|"
    r"believe it or not)\s*,",
    re.IGNORECASE,
)
_WHEN = (
    r"(?:(?:just |only )?(?:last|next|this(?: coming)?) (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|"
    r"[a-z]+day|"
    rf"{MONTH})|yesterday|the other day|a (?:while|week|month|year|day) ago|this (?:morning|evening|afternoon)|"
    r"tomorrow|today|tonight|in \d{4}|in (?:[A-Z][a-z]+)|on [a-z]+day|(?:\w+|a few|a couple of) (?:days|weeks|months|years) "
    rf"ago|on (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{MONTH})|on (?:{MONTH}) \d{{1,2}}(?:st|"
    rf"nd|rd|th)?|"
    r"since (?:last )?(?:\d{4}|[A-Za-z]{3,})|at (?:the age of )?\w+teen|when I was (?:an? |in )?\w+(?: years old| "
    r"school)?|every [a-z]+|once a (?:week|month|"
    r"year)|recently|lately|"
    r"(?:back )?in (?:high school|college|university|school|[12]\d{3})|as a (?:kid|child|teenager)|growing up)"
)
_SECOND = (
    r"(?:on [a-z]+day(?: (?:morning|afternoon|evening|night))?|on the [\w-]+|at (?:noon|midnight|\w+(?: o'clock)?)|"
    r"in [A-Z][a-z]+|[a-z]+day)"
)
_FRONTED = re.compile(rf"^(?P<time>{_WHEN}(?: {_SECOND})?),? (?P<rest>(?:I|I'm|I've|my)\b.*)$", re.IGNORECASE)
"""Clause with its time in front: “Last weekend I climbed …”, to be rewritten as “I climbed … last weekend”."""
_INTRODUCTION = re.compile(r"^(?!.*\bI\b.*\bmy\b)[A-Za-z][a-z]+(?: [a-z]+){1,4}, (?=my [a-z]+ and I\b)")
"""Introductory phrase, as in “Speaking of special moments, my wife and I …”."""
_TIME_FIRST = re.compile(rf"^{_WHEN},? ", re.IGNORECASE)
_ALSO_WHEN = re.compile(rf",? {_SECOND}(?=,)", re.IGNORECASE)
_TWO_TIMES = re.compile(rf"^(?P<first>{_WHEN}),?(?P<second> {_SECOND})?,? (?=(?:I|I'm|I've|my)\b)", re.IGNORECASE)
"""Two times in front, “This weekend, on Sunday, I’m …”: no clause ends at these commas."""
_SELF_LIST = re.compile(r"I(?:'m| am) (?P<parts>[\w' -]+,(?: and)? (?:\d\d\b|from [A-Z]|an? [a-z]+).*)\Z")
_SELF_PART = re.compile(r"(?:\d\d\b|from [A-Z]|an? [a-z]+|(?:living|working|based) )")
"""Part of a list about the speaker: “I'm Tom, 34, from Leeds” states each of its parts."""
_CONTINUATION = re.compile(
    r"(?:from|near|in|at|with|as|especially|mostly|mainly|particularly|named|called|and|or|off|on|between|by|plus|not|just|"
    r"where|who|whose|half|aged)\b",
    re.IGNORECASE,
)


def extract_clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence that have a subject of their own, without fillers and end marks. A clause such as
    “and work …” gets its “I” back.
    """
    found: list[str] = []
    whole = _TWO_TIMES.sub(lambda times: f"{times['first']}{times['second'] or ''} ", strip_fillers(sentence))
    for piece in _split_at_subjects(_ASIDE.sub(",", _INTRODUCTION.sub("", whole))):
        if self_list := _SELF_LIST.match(strip_fillers(piece)):
            found += [
                f"I'm {part}" for part in re.split(r",(?: and)? | and (?=from )", self_list["parts"]) if _SELF_PART.match(part)
            ]
            continue
        fronted = _FRONTED.match(strip_fillers(piece))
        whole = strip_fillers(_cut_at_other_subject(_FRONTED.sub(_move_time_to_end, strip_fillers(piece))))
        first = whole.split(" ", 1)[0]
        if first in {"I", "I'm", "I've"}:
            found += _add_time_to_first(_split_compound(whole), fronted["time"] if fronted else "")
        elif whole:
            found.append(_remove_unrelated_tail(whole))
    return [clause for clause in found if clause]


def _add_time_to_first(parts: list[str], time: str) -> list[str]:
    """Append a time from the front of the sentence to the first clause as well: “Last May I ran and won”."""
    if not time or any(time[1:] in part for part in parts[:1]) or (len(parts) == 1 and _ALSO_WHEN.search(f"{parts[0]},")):
        return parts
    return [f"{parts[0]} {time[0].lower()}{time[1:]}", *parts[1:]]


def _move_time_to_end(match: re.Match[str]) -> str:
    """Move the time behind the clause, beside a second time if there is one, because a text behind it may be cut off later."""
    time = f" {match['time'][:1].lower()}{match['time'][1:]}"
    rest = match["rest"]
    second_time = _ALSO_WHEN.search(rest)
    position = second_time.start() if second_time else len(rest)
    return rest[:position] + time + rest[position:]


def _split_at_subjects(sentence: str) -> list[str]:
    """Split before every new subject. “and my cat” without a verb stays in its clause; “but moved” gets its “I” back."""
    boundaries = [
        (0, 0),
        *((found.start(), found.end()) for found in _CLAUSE_BOUNDARY.finditer(sentence)),
        (len(sentence), len(sentence)),
    ]
    pieces: list[str] = []
    for (before, start), (end, _next) in pairwise(boundaries):
        piece = sentence[start:end]
        first = piece.split(" ", 1)[0].lower()
        is_mine = first in {"my", "our"}
        is_shared = (
            (is_mine or first in {"i", "i'm"})
            and " and " in sentence[before : start + 1]
            and bool(pieces)
            and _is_partial_subject(pieces[-1])
        )
        if pieces and (is_shared or (is_mine and not _has_verb(piece))):
            pieces[-1] += sentence[before:end]
        elif pieces and (first in BASE_VERBS or is_past(first)) and re.match(r"I\b", pieces[-1]):
            pieces.append("I " + piece)
        else:
            pieces.append(piece)
    return pieces


def _is_partial_subject(piece: str) -> bool:
    """Return whether the piece is only the first part of a subject: “My wife” of “My wife and I”, “Samantha” of “Samantha
    and I”.
    """
    piece = _TIME_FIRST.sub("", piece)
    if re.fullmatch(r"[A-Z][a-z]+(?: [A-Z][a-z]+)?", piece):
        return True
    return piece.lower().startswith("my ") and not _has_verb(piece)


def _has_verb(text: str) -> bool:
    words = text.lower().split()[1:]
    return bool(_FINITE.search(text)) or any(word in _THIRD or word in BASE_VERBS or is_past(word) for word in words)


def strip_fillers(text: str) -> str:
    """Remove fillers at both ends of the text."""
    previous = ""
    stripped = text.strip(" \t,.!?;:-–—")
    while stripped and stripped != previous:
        previous = stripped
        stripped = _TAIL.sub("", _LEAD.sub("", stripped)).strip(" \t,.!?;:-–—'")
    return stripped


def _cut_at_other_subject(clause: str) -> str:
    """Cut the clause at the first comma after which the subject changes. Enumerations and appositions stay."""
    head, *rest = re.split(r"\s*,\s*", clause)
    if re.fullmatch(r"I(?:'m| am) \d{1,3}", head):
        return head
    kept = [head]
    for index, part in enumerate(rest):
        words = part.split()
        is_named = bool(words) and all(word[:1].isupper() or word in {"and", "or"} for word in words)
        is_listed = len(words) <= 7 and any(re.search(r"\b(?:and|or)\b", later) for later in rest[index:])
        is_other = bool(_FINITE.search(part)) and not part.startswith(("who", "where"))
        is_after_who = kept[-1].startswith("who ")  # “My aunt, who raised me, died”
        if not is_after_who and (is_other or not (is_named or is_listed or _CONTINUATION.match(part))):
            break
        kept.append(part)
    return ", ".join(kept)


def _split_compound(clause: str) -> list[str]:
    """Split “I live in Leeds and work at a bank” into two clauses."""
    parts: list[str] = []
    start, subject = 0, ""
    for found in _AND_VERB.finditer(clause):
        if _is_second_verb(subject + clause[start : found.start()], found["verb"].lower(), clause[found.end() :]):
            parts.append(subject + clause[start : found.start()])
            start, subject = found.start("verb"), "I "
    parts.append(subject + clause[start:])
    return [_remove_unrelated_tail(part) for part in parts]


def _is_second_verb(before: str, verb: str, after: str) -> bool:
    """Return whether “and” joins a second finite verb of the speaker, rather than two nouns or two infinitives."""
    if re.search(r"\b(?:to|not|can|will|who|that|which|how|where|like|love|enjoy|hate) [a-z]+(?: \w+)?$", before):
        return False
    main_verb = next((word for word in before.split()[1:] if not is_adverb(word)), "")
    if is_past(verb):
        return is_past(main_verb) or before.startswith(("I've", "I'm", "I have", "I am"))
    if (
        verb not in BASE_VERBS
        or not (main_verb in BASE_VERBS or before.startswith(("I'm", "I am", "I've")))
        or re.search(r"\bto \w+", before)
    ):
        return False
    is_used = verb in {"live", "work", "play", "study"} and re.match(r" (?:in|at|as|for|on|with|from|the|an?|my) ", after)
    return verb not in VERBS_ALSO_NOUNS or bool(is_used)


def _remove_unrelated_tail(clause: str) -> str:
    """Remove a tail such as “… and every shop was closed”, whose subject is unrelated to the clause."""
    for found in re.finditer(r"\s*,?\s+and\s+(?!I\b)", clause):
        after = re.split(r"\b(?:who|which|that|where)\b| and ", clause[found.end() :], maxsplit=1)[0]
        if found.start() > 4 and _FINITE.search(after) and not clause.lower().startswith("my "):
            return clause[: found.start()]
    return clause
