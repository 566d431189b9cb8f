"""Conversion of a plain question and its short answer into a fact: “What's your cat called?” – “Whiskers”."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from lethe_app.brain.text.sentences import sentences, strip
from lethe_app.brain.text.spelling import tidy
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.entities import ANIMALS, EVENTS, JOBS, NOT_CALLINGS, RELATIVES

_BOND = rf"(?:{RELATIVES}|{ANIMALS})"
_ONE = rf"(?P<what>(?:[\w-]+ ){{0,2}}?{_BOND})"
_MOST_WORDS = 8
_NAME, _PLACE, _NUMBER, _DATE = ("name", "place", "number", "date")
_TASTE, _DOING, _HAVING, _CALLING = ("taste", "doing", "having", "calling")
_COUNT, _WORKPLACE, _WHEN = ("count", "workplace", "when")

# Columns: pattern of the question, kind of answer, full sentence of the answerer, key of the fact.
_QUESTIONS: tuple[tuple[str, str, str, str], ...] = (
    (rf"what(?:'s| is| was| are|'re) your {_ONE}(?:'s|s')? names?", _NAME, "my {what} {is} called {answer}", "{what} name"),
    (rf"what(?:'s| is| are| was| were| do you call) your {_ONE}(?: called| named)?", _NAME,
     "my {what} {is} called {answer}", "{what} name"),
    (r"(?:what's|what is|what are|who is|who's) your (?:all[- ]time )?favou?rite (?P<what>[\w -]+)", _TASTE,
     "my favourite {what} {is} {answer}", "favourite {what}"),
    (r"(?:and |so )*where (?:do you|are you) (?:live|living|based)(?: now)?", _PLACE, "I live in {answer}", "home"),
    (r"where (?:are|do) you (?:come |originally )?from(?: originally)?", _PLACE, "I'm from {answer}", "origin"),
    (r"where were you born", _PLACE, "I was born in {answer}", "birthplace"),
    (r"how old are you(?: now)?|what's your age", _NUMBER, "I'm {answer}", "age"),
    (rf"how old (?:is|are) your {_ONE}(?: now)?", _NUMBER, "my {what} {is} {answer}", "{what} age"),
    (r"when(?:'s| is) your birthday|when were you born", _DATE, "my birthday is on {answer}", "birthday"),
    (r"what do you do(?: for (?:a living|work))?|what(?:'s| is) your (?:job|profession|trade)", _CALLING,
     "I'm {answer}", "job"),
    (r"(?:and )?(?:what else|what) do you (?:like|enjoy)(?: doing| to do)?", _TASTE, "I like {answer}", ""),
    # This question is listed twice, because an activity (“hiking”) and any other answer complete to different sentences.
    (r"(?:and |so )*what do you (?:like to )?do (?:for fun|in your (?:free|spare) time)", _DOING, "I do {answer} for fun", ""),
    (r"(?:and |so )*what do you (?:like to )?do (?:for fun|in your (?:free|spare) time)", _TASTE, "I like {answer}", ""),
    (r"what are your hobbies|do you have any hobbies|what(?:'s| is) your hobby", _DOING, "my hobby is {answer}", ""),
    (rf"(?:and )?do you have (?:any |a )?(?:{_BOND})\b.*", _HAVING, "I have {answer}", ""),
    (rf"(?:and |so )?(?:any|got any|have you got any) (?:{_BOND})\b.*", _HAVING, "I have {answer}", ""),
    (rf"(?:and )?(?:do you have|have you got|got) (?:any |a )?(?P<what>{RELATIVES}|{ANIMALS})", _COUNT, ("I have {answer} "
        "{what}"), ""),
    (rf"how many (?P<what>{RELATIVES}|{ANIMALS}) do you have", _COUNT, "I have {answer} {what}", ""),
    (r"(?:and |so )*where do you work(?: now)?|who do you work for", _WORKPLACE, "I work {answer}", "employer"),
    (r"what (?:do you|are you) study(?:ing)?", _TASTE, "I study {answer}", "studies"),
    (r"(?:what|which) languages? do you speak", _TASTE, "I speak {answer}", ""),
    (r"(?:what|which) instruments? do you play|do you play (?:an|any) instruments?", _TASTE, "I play {answer}", ""),
    (r"what(?:'s| is) your name|(?:what|how) (?:should|can|may|shall|do) i call you", _NAME, "my name is {answer}", "name"),
    (rf"when(?:'s| is) (?:your|the) (?P<what>(?:[\w-]+ ){{0,2}}?{EVENTS})", _WHEN, "my {what} is {answer}", ""),
    ((r"when (?:are you|will you be) (?P<what>(?:flying|leaving|going|moving|travell?ing|starting|coming back|getting "
     r"married)(?: to [\w -]+)?)"),
     _WHEN, "I'm {what} {answer}", ""),
    (r"what(?:'s| is) your (?P<what>(?:star|zodiac) sign|mother tongue|(?:native|first) language|(?:middle|last) name|surname)",
     _TASTE, "my {what} is {answer}", "{what}"),
)  # fmt: skip
_COMPILED = [(re.compile(rf"(?:{pattern})\Z", re.IGNORECASE), kind, full, key) for pattern, kind, full, key in _QUESTIONS]
_YES_OR_NO = re.compile(
    r"(?:(?P<yes>yes|yeah|yep|yup|yea|i do|i am|i have)|no|nope|nah|none|i don't|i'm not|i haven't)(?: i (?:do|am|don't|"
    r"have|haven't)| sadly| thanks)?"
    r"[.,! ]*\Z",
    re.IGNORECASE,
)
_POLAR = tuple(
    (re.compile(rf"(?:and |so )?{pattern}\Z", re.IGNORECASE), yes, no)
    for pattern, yes, no in (
        ((r"are you (?P<what>married|single|divorced|engaged|vegetarian|vegan|religious|left-handed|retired|a student|in a "
         r"relationship)"),
         "I'm {what}", "I'm not {what}"),
        (r"do you have (?:any |a )?(?P<what>kids|children|siblings|brothers|sisters|grandchildren|pets)", "I have {what}",
         "I don't have any {what}"),
        (r"do you have (?P<what>an? (?:dog|cat|car|girlfriend|boyfriend|garden|partner))", "I have {what}", ("I don't have "
            "{what}")),
        (r"do you (?P<what>smoke|drive|cook|drink(?: alcohol)?|eat meat|eat fish|speak [a-z]+)", "I {what}", "I don't {what}"),
        (r"do you like (?P<what>(?!it|that|this|to|being|me|him|her|them|what|the)[a-z]+(?: [a-z]+)?)", "I like {what}",
         "I don't like {what}"),
    )
)  # fmt: skip
_ABOUT_THEM = re.compile(
    r"(?:and |so )?what(?:'s| is| was| are) (?:(?:his|her|its|their) names?|(?:he|she|it|they) called)\Z", re.IGNORECASE
)
_ITS = re.compile(r"\bits?\b", re.IGNORECASE)
_OF_THE = re.compile(r"what(?:'s| is| was) the (?P<what>[\w -]+?)(?: called|'s name)\Z", re.IGNORECASE)

_INTO = re.compile(
    r"^(?:(?:it's|it is|it was|he's|she's|(?:his|her|its) name (?:is|was)|their names are|they're|they are|he is|she is|i'm|"
    r"i am|called|named|i like|i live in|i'm from|from|in|on|i have|just|definitely|that would be|must be|i call (?:him|her|"
    r"it)|(?:he|she) was called)\s+)+",
    re.IGNORECASE,
)
_EVASIVE = re.compile(
    r"\b(?:yep|yup|yeah|yea|nope|nah|hmm+|um+|uh+|lol|haha\w*|ok|okay|same|both|agreed|true|right|exactly|absolutely|"
    r"definitely|"
    r"course|obviously|well|not|never|no|none|nothing|don't|depends|secret|guess|why|maybe|perhaps|idk|dunno|know|sure|"
    r"many|everything|hard|"
    r"lots?|you|your|that|this|it|here|there|far|somewhere|away|if|would|could|who|what|when|old enough|too|nowhere|yes|"
    r"good question|think|later|stop|please|kidding|joking|forget|forgot|remember|tell)\b",
    re.IGNORECASE,
)
_STATES = re.compile(r"\b(?:is|are|was|were)\b|\w'(?:s|re) [a-z]+$")
"""Finite verb in the answer: “Rock's awesome” names no instrument."""
_SHAPES = {
    _NAME: re.compile(r"(?:(?:[A-Z][\w'-]*|and|the|de|da|la|le|von|van|of)(?:,?\s|\Z)){1,8}\Z"),
    _PLACE: re.compile(r"(?:the |an? )?[\w' -]{2,40}(?:, [\w' -]+)?\Z"),
    _NUMBER: re.compile(
        r"(?:\d{1,3}|[a-z]+teen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?|one|two|three|four|five|"
        r"six|seven|eight|nine|ten|eleven|twelve)(?: years old)?\Z",
        re.IGNORECASE,
    ),
    _DATE: re.compile(
        r"(?:the )?(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Za-z]{3,9}|[A-Za-z]{3,9} (?:the )?\d{1,2}(?:st|nd|rd|"
        r"th)?)(?:,? \d{4})?\Z"
    ),
    _TASTE: re.compile(r"[\w' ,-]{2,50}\Z"),
    _DOING: re.compile(r"(?:[a-z]+ )?[a-z]{2,}ing\b[\w' -]*\Z", re.IGNORECASE),
    _HAVING: re.compile(
        rf"(?:an?|one|two|three|four|five|six|seven) (?:[\w-]+ ){{0,3}}?(?:{_BOND})\b[\w' ,-]*\Z", re.IGNORECASE
    ),
    _CALLING: re.compile(
        rf"(?P<job>(?:an? )?(?:[\w-]+ ){{0,2}}?(?:{JOBS}|[a-z]+(?:er|or|ist|ian|ess)))(?:,? (?P<at>(?:at|for|in|with) "
        rf"[\w' .&-]+))?\Z",
        re.IGNORECASE,
    ),
    _COUNT: re.compile(r"(?:one|two|three|four|five|six|seven|\d)\Z", re.IGNORECASE),
    _WORKPLACE: re.compile(r"(?:(?:at|for|in) )?(?:an? |the )?[A-Za-z][\w' &.-]{2,40}(?:, [\w' -]+)?\Z"),
    _WHEN: re.compile(
        r"(?:(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? [a-z]{3,9}|(?:on )?[a-z]{3,9} (?:the )?\d{1,2}(?:st|nd|rd|"
        r"th)?|(?:on |next |this )?(?:"
        r"mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|next (?:week|month)|in (?:a|two|three|four|\d) (?:weeks?|days?|"
        r"months?)|"
        r"(?:in )?(?:january|february|march|april|june|july|august|september|october|november|december))\Z",
        re.IGNORECASE,
    ),
}


def complete(question: str, answer: str, before: str = "") -> tuple[str, str] | None:
    """Return the answer as one full first-person sentence with its key; None if the reading is uncertain.

    `question` and `answer` are whole messages of two speakers; `before` is the answerer's previous text.
    """
    asked = _last_question(question)
    if not asked:
        return None
    if agreed := _agreed(asked, answer):
        return agreed
    said = _short_answer(answer)
    if not said:
        return None
    for pattern, kind, full, key in _COMPILED:
        if found := pattern.match(asked):
            what = (found.groupdict().get("what") or "").lower()
            if filled := _filled(kind, said, full, what, key.format(what=what)):
                return filled
    what = _meant(asked, before)
    return _filled(_NAME, said, "my {what} {is} called {answer}", what, f"{what} name") if what else None


def _agreed(asked: str, answer: str) -> tuple[str, str] | None:
    """Return the full sentence for a plain “yes” or “no” to a question about the answerer."""
    parts = sentences(answer)
    plain = _YES_OR_NO.match(parts[0]) if parts else None
    if not plain:
        return None
    for pattern, yes, no in _POLAR:
        if found := pattern.match(asked):
            what = found["what"].lower()
            full = yes if plain["yes"] else no
            return (full.format(what=what), "") if full else None
    return None


def birthday(answer: str) -> str | None:
    """Return an answer such as “It's 3 October” as a full sentence, for a question about a birthday; None if it is no date."""
    said = _short_answer(answer)
    return f"my birthday is on {said}" if said and _SHAPES[_DATE].match(said) else None


def _last_question(message: str) -> str:
    """Return the last sentence of the message without fillers if it is a question; else an empty string."""
    parts = sentences(message)
    return strip(parts[-1]) if parts and parts[-1].endswith("?") else ""


def _short_answer(message: str) -> str:
    """Return the first sentence without its introduction (“It's …”) if it is short and plain; else an empty string."""
    parts = sentences(message)
    first = next((strip(part) for part in parts[:2] if strip(part) and not part.endswith("?")), "")
    bare = _INTO.sub("", first).strip(" ,.")
    if (
        len(bare.split()) > _MOST_WORDS
        or _STATES.search(bare)
        or _EVASIVE.search(bare)
        or re.match(r"(?:I|my|he|she|we|they)\b", bare)
    ):
        return ""
    return bare


def _filled(kind: str, said: str, full: str, what: str, key: str) -> tuple[str, str] | None:
    """Return the full sentence with its key if the answer is of the expected kind; else None."""
    if kind in {_NAME, _PLACE} and said.islower() and len(said.split()) == 1:
        said = said.capitalize()  # chats are typed without capitals
    if kind == _DOING:
        said = said[:1].lower() + said.split(",")[0][1:]
    if not _SHAPES[kind].match(said):
        return None
    if kind == _CALLING:
        said = _calling(said)
        if not said:
            return None
    if kind == _WORKPLACE:
        said = said if re.match(r"(?:at|for|in) ", said) else f"at {said}"
    if kind == _WHEN:
        said = said if re.match(r"(?:on|in|next|this|tomorrow)\b", said) else f"on {said}"
    if kind == _COUNT and said.lower() in {"one", "1"}:
        what = re.sub(r"s$|ren$", "", what)
    if kind == _TASTE and re.fullmatch(r"[A-Z][a-z]+(?:,? [a-z]+)+", said):
        said = re.sub(r"^(?P<first>\w)", lambda found: found[0].lower(), re.sub(r",? (?:mostly|mainly|usually)\b", "", said))
    return full.format(what=what, answer=said, **{"is": "are" if what.endswith("s") else "is"}), key


def _calling(said: str) -> str:
    """Return “Engineer, at Siemens” as “an engineer at Siemens”; empty if it names no occupation."""
    found = _SHAPES[_CALLING].match(said)
    if not found or found["job"].split()[-1].lower() in NOT_CALLINGS:
        return ""
    job = found["job"] if found["job"][1:] != found["job"][1:].lower() else found["job"].lower()
    named = job if re.match(r"an? ", job) else f"{'an' if job[0].lower() in 'aeiou' else 'a'} {job}"
    return f"{named} {found['at']}" if found["at"] else named


def _meant(asked: str, before: str) -> str:
    """Return whom “his name” or what “the bakery” refers to, if the answerer mentioned exactly one before; else an empty
    string.
    """
    told = tidy(before).lower()
    if _ABOUT_THEM.match(asked):
        spoken = {found[0] for found in re.finditer(rf"(?<=\bmy )(?:own )?{_BOND}\b", told)}
        who = spoken.pop().removeprefix("own ") if len(spoken) == 1 else ""
        return "" if _ITS.search(asked) and re.search(rf"\b{RELATIVES}$", who) else who
    if found := _OF_THE.match(asked):
        what = found["what"].lower()
        return what if re.search(rf"\b(?:my|our|an?)(?: \w+)? {re.escape(what)}\b", told) else ""
    return ""


@dataclass(frozen=True)
class Answered:
    """Statement made by a question of another speaker and a short answer together."""

    clause: str
    key: str
    messages: tuple[UUID, ...]
    """Ids of the messages it needs besides the answer, the question last."""


def read(lines: Sequence[Utterance], place: int) -> Answered | None:
    """Return the statement of the message at an index as a short answer to the message before it; None if it is no such
    answer.
    """
    line = lines[place]
    if not place or lines[place - 1].name == line.name:
        return None
    asked = lines[place - 1]
    before = " ".join(other.text for other in lines[max(0, place - 5) : place] if other.name == line.name)
    full = complete(asked.text, line.text, before)
    if not full:
        told = [other for other in lines[max(0, place - 2) : place] if _asks_birthday(other, line)]
        spoken = birthday(line.text) if told else None
        if not spoken:
            return None
        full, asked = (spoken, "birthday"), told[-1]
    earlier = _mentioned(full[1].removesuffix(" name"), lines[max(0, place - 5) : place], line.name, asked)
    return Answered(*full, tuple(filter(None, (earlier, asked.id))))


def _mentioned(who: str, lines: Sequence[Utterance], name: str, asked: Utterance) -> UUID | None:
    """Return the id of the message that names the person a question refers to; None if the question itself does."""
    if not who or who in asked.text.lower():
        return None
    return next((line.id for line in reversed(lines) if line.name == name and who in line.text.lower()), None)


def _asks_birthday(other: Utterance, line: Utterance) -> bool:
    """Return whether the message asks for this speaker's birthday."""
    whose = "my" if other.name == line.name else "your"
    return bool(re.search(rf"\b{whose} birthday\b", other.text, re.IGNORECASE)) and other.text.rstrip().endswith("?")
