"""Cuts long sentences without punctuation, as people dictate or hurry them, where another clause begins."""

from __future__ import annotations

import re
from itertools import pairwise

from lethe_app.brain.kinds import RELATIVES
from lethe_app.brain.verbs import BASE, MODALS, is_adverb, is_past, third

LONG = 8
"""Words from which a sentence is searched for clauses that nothing separates."""
SHORTEST = 3
"""Words of a clause."""
_WHOLE = re.compile(
    r"^\W*(?:if|when|imagine|suppose|pretend|say|do|did|does|have you|has|are|is|can|could|would|should|who|what|where|why|"
    r"how|which|let's|let us|once upon)\b|\b(?:dream\w*|nightmare|story|stories|novel|book|film|movie|song|lyrics?|"
    r"game|character|"
    r"pretend\w*|imagin\w+|as if|joke|joking|kidding|would|wish|hypothetically|what if|yeah right|of course I)\b",
    re.IGNORECASE,
)
"""What is asked, imagined or retold holds for all of its clauses."""
_SUBJECTS = frozenset(
    """
    i i'm i've i'll we we're we've it's its he he's she she's they they're that's there's my our
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
_ASKS = re.compile(
    r"(?:do|did|have|are|can|could|would|will) (?:you|u)\b|(?:what|how) (?:about|do|did|are) (?:you|u)\b", re.IGNORECASE
)
_LEANS = frozenset(
    """
    that when if because cause till until before after while since where who whom which what how why as than like think thought
    thinks reckon reckons believes knows know knew known say said says saying
    guess hope hoped feel felt believe mean sure glad swear bet tell told tells and or but
    so though although whenever time once unless whether only just even did do does don't didn't am was were is are have has had
    can can't could will won't would should must may might not all everything anything something someone thing things day way
    year place one ones reason first last people everyone nothing plus yet then every the a an my our your his her their this
    to of in on at with for from by about into over without between against except both
    wants want make makes made let lets hear heard see saw remember forgot realise realised realize realized happy proud afraid
    worried scared whatever wherever however whose where's lol guys best most worst told
    """.split()  # noqa: SIM905
)
"""Words before a subject with which its clause belongs to what stands before."""
_OWNERS = frozenset(("my", "our", "his", "her", "their", "called", "named", "mr", "mrs", "dr", "aunt", "uncle"))
_RELATIVE = re.compile(RELATIVES, re.IGNORECASE)
_NAMED = re.compile(
    r"(?!I\b)[A-Z][a-z]{2,} (?:hates|loves|likes|is|was|has|says|said|works|lives|wants|thinks|calls|does|did|got)\b"
)
"""A name and its verb."""
_HEADS = frozenset("the a an any every this these those some no only same".split())  # noqa: SIM905
_AGAIN = re.compile(
    r"(?:been (?:\w+ing|with|at|in|on|there|married|together|an? )|moved (?:to|from|there|here|back|in|out)|got "
    r"(?:married|divorced|"
    r"engaged|made redundant|laid off|diagnosed)|used to|grew up|(?:retired|quit|started|finished|left|came here) "
    r"(?:in|at|last|"
    r"when|there|school|it)\b|(?:can't|don't|never|haven't|didn't) )",
    re.IGNORECASE,
)
"""Verbs that go on without their “I”."""
_NO_SUBJECT = frozenset(
    [
        "i",
        "we",
        "who",
        "that",
        "which",
        "never",
        "just",
        "also",
        "always",
        "really",
        "still",
        "he",
        "she",
        "they",
        "it",
        "you",
        "and",
        "or",
        "has",
        "have",
        "had",
        "was",
    ]
)
_GAP = frozenset(
    """
    to in on at with for from of about by up off out down over into and but or when as so last every too there here now then is
    was are were has had before after since until till while because once most best yesterday today tomorrow
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
"""Words behind a verb whose object stands before it."""
_ALSO = frozenset("start finish stay graduate retire turn begin coach help earn rent vape commute move moved".split())  # noqa: SIM905
_BE = frozenset("is are was has isn't aren't wasn't hasn't".split())  # noqa: SIM905
_THIRDS = frozenset(map(third, BASE))


def clauses_of(sentence: str) -> list[str]:
    """Return the clauses of a sentence with its end mark, cut only where one begins without any mark or joining word."""
    words = sentence.split()
    if len(words) < LONG or _WHOLE.search(sentence):
        return [sentence]
    places = [0]
    for place in range(SHORTEST, len(words) - 1):
        if place - places[-1] >= (SHORTEST - ("'" in words[places[-1]])) and _begins(words, place, places[-1]):
            places.append(place)
    found = [" ".join(words[start:end]) for start, end in pairwise((*places, len(words)))]
    return (
        [piece if piece[-1] in ".!?," else f"{piece}." for piece in found[:-1]] + found[-1:] if len(found) > 1 else [sentence]
    )


def _begins(words: list[str], place: int, start: int) -> bool:
    """Return whether another clause begins at this word."""
    last, word = words[place - 1].lower(), words[place].lower()
    if last[-1] in ",;:-" or not _has_verb(words[start:place]):
        return False
    if _ASKS.match(" ".join(words[place : place + 3])):
        return last not in {"what", "how", "where", "why", "when", "who", "and", "but", "so"}
    if _leans(words, place):
        return False
    named = _NAMED.match(" ".join(words[place : place + 2])) and words[place - 1].islower()
    if named and not _own_before(words, place):
        return len(words) > place + 2
    if word in _SUBJECTS:
        return _is_clause(words, place) and not _is_relative(words, place, word)
    own = {"my", "our", "his", "her", "their", "the"} & {each.lower() for each in words[place - 2 : place]}
    again = _AGAIN.match(" ".join(words[place : place + 3])) and last not in _NO_SUBJECT
    return bool(again) and not own and place - start > SHORTEST


def _leans(words: list[str], place: int) -> bool:
    """Return whether the word belongs to the one before it: “that I …”, “broke my …”, “and now I …”."""
    last, word = words[place - 1].lower(), words[place].lower()
    if last in _LEANS or last in MODALS or (last in {"now", "then", "also"} and words[place - 2].lower() in _LEANS):
        return True
    if last in {"me", "him", "us", "them"} and words[place - 2].lower() in _LEANS | {
        "promised",
        "assured",
        "warned",
        "convinced",
    }:
        return True
    is_verb = last in BASE or last in _THIRDS or is_past(last) or last.endswith("ing")
    return is_verb and word in {"my", "our", "it", "its"}


def _own_before(words: list[str], place: int) -> bool:
    """Return whether the name belongs to the words before it: “my wife Linda runs …”."""
    near = {each.lower() for each in words[max(0, place - 3) : place]}
    return bool(near & _OWNERS) or bool(_RELATIVE.fullmatch(words[place - 1]))


def _has_verb(words: list[str]) -> bool:
    """Return whether what stands before is a clause, if need be without its subject."""
    low = [word.lower() for word in words]
    return any(
        word in BASE
        or word in _THIRDS
        or is_past(word)
        or re.search(r"'(?:m|ve|s|re|ll)$", word)
        or word in _BE | {"am", "got", "been"}
        for word in low
    )


def _is_clause(words: list[str], place: int) -> bool:
    """Return whether subject, verb and something more stand here."""
    low = [word.lower().strip(".,!?") for word in words[place : place + 7]]
    if low[0] in {"my", "our"}:
        verbs = [number for number, word in enumerate(low[2:5], 2) if word in _BE or word in _THIRDS or is_past(word)]
        return bool(verbs) and len(words) > place + verbs[0] + 1
    if low[0] == "its":
        return len(low) > 1 and (
            words[place - 1].lower() in {"now", "there", "too", "years"}
            or low[1] in {"a", "an", "the", "my", "not", "hell", "so", "just"}
            or is_adverb(low[1])
        )
    if "'" in low[0]:
        return len(low) > 1
    verb = next((word for word in low[1:] if not is_adverb(word)), "")
    known = verb in BASE | _ALSO or verb in MODALS or is_past(verb) or verb in _THIRDS
    return len(low) > 2 and (
        known or verb in {"am", "have", "don't", "got", "do", "is", "are", "were", "didn't", "haven't", "never"}
    )


def _is_relative(words: list[str], place: int, word: str) -> bool:
    """Return whether the clause may describe the noun before it: “the school I went to”, “a car my dad sold”."""
    near = [each.lower() for each in words[max(0, place - 3) : place]]
    if near[-1] in {"years", "now", "too", "there", "here", "though", "old", "myself", "ago", "today", "yesterday", "again"}:
        return False
    if re.search(r"\d|teen$|day$|months$|weeks$", near[-1]):
        return False
    if "'" in word or word in {"its", "it", "he", "she", "they"}:
        return near[-2] in _HEADS and word not in {"it's", "its", "that's", "there's"}
    following = [each.lower().strip(".,!?") for each in words[place + 1 : place + 6]]
    if word in {"my", "our"}:
        verb = next((each for each in following if each in _BE or each in _THIRDS), "")
        return bool(_HEADS & set(near[-2:])) and not verb
    verb_at = next((number for number, each in enumerate(following) if not is_adverb(each)), 0)
    has_object = len(following) > verb_at + 1 and following[verb_at + 1] not in _GAP
    return bool(_HEADS & set(near[-3:])) and not has_object
