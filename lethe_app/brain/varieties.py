"""Puts dialect, learners' English, phone short forms and spelled dates into the standard English that the rules read."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from lethe_app.brain.double_dates import ORDINALS
from lethe_app.brain.kinds import ANIMALS, JOBS, RELATIVES
from lethe_app.retrieval.when import COUNTS
from lethe_app.retrieval.words import MONTHS

_Put = str | Callable[[re.Match[str]], str]
_MONTH = "|".join(MONTHS)
_SHORT_MONTHS = {month[:3]: month for month in MONTHS} | {"sept": "september"}
_SHORT_MONTH = "|".join(name for name in sorted(_SHORT_MONTHS, key=len, reverse=True) if name != "may")
_ORDINAL = "|".join(sorted((*ORDINALS, *(word.replace("-", " ") for word in ORDINALS if "-" in word)), key=len, reverse=True))
_TENS = {
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_DIGIT = {word: number for number, word in enumerate(COUNTS[:9], 1)}
_TWO_DIGITS = rf"(?:oh (?:{'|'.join(_DIGIT)})|(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_DIGIT)}))?)"
_SPAN = rf"(?:\d+|an?|{'|'.join(COUNTS)}|many|few|a few|some|several|almost \w+|about \w+) (?:days?|weeks?|months?|years?)\b"
_KIN = rf"(?:(?:wee|own|old|big|little|older|younger) )?(?:{RELATIVES}|{ANIMALS}|mam|da|missus|mate|bairns?)\b"
_MINE = rf"(?:{_KIN}|knees?|back|hip|shoulder|house|car|van|bike|job|work|birthday)\b"
_JOB = (
    rf"(?!(?:vegan|vegetarian|pescatarian|catholic|muslim|christian|buddhist|hindu|feminist|native|mum|mom|dad|captain|twin|"
    rf"model|graduate|academic|optimist|pessimist|spiritual|only child)\b)(?:{JOBS}|teacher|driver|baker|waiter|waitress|"
    rf"engineer|doctor|farmer|cleaner|"
    rf"programmer|developer|designer|painter|plumber|carpenter|electrician|technician|librarian|hairdresser|photographer|"
    rf"writer|manager|carer|builder|butcher|secretary|receptionist|translator|soldier|dentist|miner|welder|actor|actress)"
)
_PARTICIPLES = {"live": "lived", "work": "worked", "study": "studied", "play": "played", "teach": "taught", "drive": "driven"}


def _year(words: str) -> int:
    """Return the number that two spoken digits make: “oh nine”, “eighty six”."""
    parts = words.lower().replace("-", " ").split()
    return _DIGIT[parts[1]] if parts[0] == "oh" else _TENS[parts[0]] + (_DIGIT[parts[1]] if len(parts) > 1 else 0)


def _spoken_year(found: re.Match[str]) -> str:
    century = {"nineteen": 1900, "twenty": 2000}[found["century"].lower()]
    return str(century + _year(found["rest"]))


def _short_year(found: re.Match[str]) -> str:
    year = _year(found["rest"])
    return f"{found['lead']}{(2000 if year < 30 else 1900) + year}"


def _ordinal(words: str) -> str:
    bare = words.lower().replace(" ", "-")
    return str(ORDINALS.index(bare) + 1) if bare in ORDINALS else re.sub(r"\D", "", words)


def _day(found: re.Match[str]) -> str:
    """“June the eleventh” and “the 6 of june” as “on 11 June”."""
    lead = found["lead"].lower()
    lead = "on " if lead in {"", "in ", "on "} else lead
    return f"{lead}{_ordinal(found['day'])} {found['month'].capitalize()}"


def _numeric(found: re.Match[str]) -> str:
    """“28.3.” as “28 March”, where it can mean nothing else."""
    day, month = int(found["day"]), int(found["month"])
    try:
        date(2024, month, day)
    except ValueError:
        return found[0]
    lead = "" if found.string[: found.start()].endswith("on ") else "on "
    return f"{lead}{day} {MONTHS[month - 1].capitalize()}"


def _long_month(found: re.Match[str]) -> str:
    return found["lead"] + _SHORT_MONTHS[found["month"].lower()].capitalize()


def _article(found: re.Match[str]) -> str:
    return f"{found['before']} {'an' if found['job'][0].lower() in 'aeiou' else 'a'} {found['job']}"


def _has_been(found: re.Match[str]) -> str:
    return f"I have {_PARTICIPLES[found['verb'].lower()]} {found['rest']} {found['span']}"


_RULES: tuple[tuple[re.Pattern[str], _Put], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        # dialect
        (r"\bcannae\b", "can't"),
        (r"\bdinnae\b", "don't"),
        (r"\b(did|does|is|was|could|would|should|have|has|had|are|were|wis)nae\b", r"\1n't"),
        (r"\bI ain't got (?:no|any|an?)\b", "I have no"),
        (r"\bI ain't\b", "I'm not"),
        (r"\bI (?:don't|do not|haven't|have not) (?:have|got|own) no\b", "I don't have any"),
        (r"\bI were\b(?! you)", "I was"),
        (r"\bwe was\b", "we were"),
        (r"\bI seen\b", "I saw"),
        (r"\bI shall\b", "I will"),
        (r"\bveggie\b(?= ?(?:$|[.,!?;]|and\b|so\b|since\b|for\b))", "vegetarian"),
        (r"\bme (?:and|n|an) my (?P<who>[a-z]+(?: [A-Z][a-z]+)?)(?= (?!and\b)[a-z])", r"my \g<who> and I"),
        (
            (r"(?<=[a-z], )I'm (?P<at>at|with) (?P<where>(?!home|work|school|the|my|a\b)[A-Za-z]\w+) now(?= (?:mornings|"
            r"nights|full|"
         r"part|as|weekends)|\W*$)"), r"I now work \g<at> \g<where>"),
        (r"\bI done (?=my|an?|the|\d)", "I did "),
        (r"\bI been\b", "I've been"),
        (rf"(?<!give )(?<!gave )(?<!show )(?<!for )(?<!to )\b(?:me|ma|mi) (?={_MINE})", "my "),
        (r"\b(?P<who>my|the) (?:missus|old man|old lady) ", r"\g<who> partner "),
        # taken back in the same breath
        (r"\bI (?P<verb>(?!used)[a-z]+) (?P<rest>[^.!?;]+?),? (?:well|or|or at least|or rather),? (?:I )?used to(?=\W*$|[.!?])",
         r"I used to \g<verb> \g<rest>"),
        # phone short forms
        (r"(?<=[a-z]) w/? (?=[a-z\d])", " with "),
        (r"(?<=[a-z]) n (?=[a-z])", " and "),
        (r"\b(\d+(?:st|nd|rd|th)?|final|last|first|this|next|a|per) yrs?\b", lambda f: f"{f[1]} year{_plural(f)}"),
        (r"\b(\d+|last|this|next|a|per) wks?\b", lambda f: f"{f[1]} week{_plural(f)}"),
        (r"\b(\d+) (?:hrs?)\b", r"\1 hours"),
        (r"\b(?:2moro|tmr|tomoz|2mrw|tomo)\b", "tomorrow"),
        (r"\bsince (?=(?:I was|we were) \d)", "since "),
        # dates
        ((rf"\b(?P<century>nineteen|twenty) (?P<rest>(?:oh |twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|"
         rf"(?<=nineteen )(?:ten|eleven|twelve|[a-z]+teen)|(?<=twenty )(?:ten|eleven|twelve|[a-z]+teen))"
         rf"(?:[ -]?(?:{'|'.join(_DIGIT)}))?)\b"), _spoken_year),
        (
            (rf"(?P<lead>\b(?:in|since|from|till|until|back in) )(?:the year )?(?P<rest>{_TWO_DIGITS})\b(?! (?:days?|"
            rf"weeks?|months?|"
         r"years?|minutes?|hours?|of|or|to|more|other|places?|people|different|countries|languages|a|per)\b|[-\w])"),
         lambda f: _short_year(f) if len(f["rest"].split()) > 1 else f[0]),
        ((rf"(?P<lead>\b(?:in|since|until|till|from|of|last|next|this|by|early|late|end of|on|\d{{1,2}}(?:st|nd|rd|th)?) )"
         rf"(?P<month>{_SHORT_MONTH})\b\.?"), _long_month),
        (rf"(?P<lead>)\b(?P<month>{_SHORT_MONTH})\b\.?(?= \d{{1,2}}(?:st|nd|rd|th)?\b)", _long_month),
        ((rf"(?P<lead>\b(?:on|in|for|by|until|since|from) |)(?:the |\b)(?P<day>\d{{1,2}}(?:st|nd|rd|th)?|{_ORDINAL}) "
         rf"of (?P<month>{_MONTH})\b"), _day),
        ((rf"(?P<lead>\b(?:on|in|for|by|until|since|from) |)\b(?P<month>{_MONTH}) (?:the )?(?P<day>\d{{1,2}}(?:st|nd|rd|th)?|"
         rf"{_ORDINAL})\b(?!:| ?[ap]m)"), _day),
        (r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?!\d)", _numeric),
        (rf"\b(?:on |in )?the (?P<day>\d{{1,2}}(?:st|nd|rd|th)) (?P<month>{_MONTH})\b", lambda f: f"on {_ordinal(f['day'])} "
         f"{f['month'].capitalize()}"),
        (r"\bit's my (?P<age>\d+(?:st|nd|rd|th)) (?=on\b|in\b|this\b|next\b|tomorrow)", r"it's my \g<age> birthday "),
        (r"\b(?P<age>\d{1,3}) years of age\b", r"\g<age> years old"),
        # learners
        (r"(?<=[a-z], )now I'm in (?=[A-Z]\w+\W*$)", "I now live in "),
        ((rf"\bI(?:'m| am) having (?=(?:\d|an?|no|one|two|three|four|five|many) (?:(?!baby)[\w-]+ )?(?:{RELATIVES}|{ANIMALS})\b"
         r"(?! (?:over|round|around|for|come|visit|here)))"), "I have "),
        (r"\bI have (?P<age>\d\d) years(?: old)?(?= ?(?:$|[.,!?)]| and\b))", r"I'm \g<age>"),
        (r"\bI(?:'m| am) (?P<age>\d\d) years(?= ?(?:$|[.,!?)]| and\b))", r"I'm \g<age>"),
        (r"\bI(?:'m| am) of (?=[A-Z]|the (?:south|north|east|west)\b)", "I'm from "),
        ((rf"(?P<before>\b(?:I(?:'m| am| was)|(?:he|she)(?:'s| is| was)|my [a-z]+ (?:is|was))) (?P<job>{_JOB})\b"
         r"(?! (?:man|woman|person|here|of the|student|life|who))"), _article),
        (rf"(?P<before>\bwork(?:s|ing|ed)?) like (?:an? )?(?P<job>{_JOB})\b", lambda f: f"{f['before']} as "
         f"{'an' if f['job'][0].lower() in 'aeiou' else 'a'} {f['job']}"),
        (rf"(?P<before>\b(?:work|works|working|worked) as) (?P<job>{_JOB})\b", _article),
        (r"\bnear of\b", "near"),
        (r"\bchilds\b", "children"),
        ((rf"(?P<who>\bmy (?:{RELATIVES}|{ANIMALS})) passed(?= (?:\d|two|three|four|five|six|a few|last|in|on|when|"
        rf"suddenly|just)\b)"),
         r"\g<who> passed away"),
        (r"(?P<span>\b(?:\w+) (?:years|months|weeks)) back\b", r"\g<span> ago"),
        (r"\b(?P<who>my [a-z]+) (?:it|he|she) (?P<verb>is|was|has|works|lives)\b", r"\g<who> \g<verb>"),
        (r"\bI (?:have born|am born|born) in\b", "I was born in"),
        (r"\bI must to\b", "I have to"),
        (
            (r"\b(?:you can|you could|please|just|everybody can) call me (?P<name>(?!later|back|when|if|maybe|crazy|old|"
            r"anytime|tomorrow|an?\b|"
         r"the|what|on\b|at\b|in\b|tonight|out\b|up\b|by\b|whatever|your|my)[A-Za-z]\w+)(?=\W*$|[.,!])"), lambda f: f"I go by "
         f"{f['name'].capitalize()}"),
        (
            (r"(?P<kept>\bI(?:'m| am)? (?:live|living|work|working|unemployed|out of work|between jobs|studying|training|"
            r"single|renting|"
             r"sharing|on an?|on the|saving|learning|staying with)\b[^.,;!?]*?) (?:at the moment|right now|for now|at "
             r"present|just now)\b"),
         r"\g<kept>"),
        (rf"\bsince (?={_SPAN}(?! ago))", "for "),
        ((
            rf"\bI(?:'m| am) (?P<what>(?:working|living|studying|learning|playing|teaching|driving)\b[^.,;!?]{{2,60}}? "
            rf"for {_SPAN})"
        ),
         r"I have been \g<what>"),
        (r"^(?P<place>(?:In|At|Since|On) [\w ]+?) (?P<verb>live|work|study|play|learn|teach) I\b(?P<rest>[^.!?]*)",
         lambda f: f"I {f['verb'].lower()} {f['place'][0].lower()}{f['place'][1:]}{f['rest']}"),
        ((rf"\bI (?P<verb>live|work|study|play|teach|drive) (?P<span>(?:for|since) (?:{_SPAN}|\d{{4}}|(?:{_MONTH})\b)) "
         r"(?P<rest>(?:in|at|as|with|on|the) [^,.;!?]+)"), _has_been),
        ((rf"\bI (?P<verb>live|work|study|play|teach|drive) (?P<rest>(?:(?!for |since )[\w'-]+ ){{1,5}}?)(?P<span>since "
         rf"(?:\d{{4}}|(?:{_MONTH})\b|I was \w+)|for {_SPAN})"), lambda f: _has_been(f).replace("  ", " ")),
        ((r"\bI(?:'m| am) (?=(?:vegan|vegetarian|married|single|sober|retired|divorced|engaged|unemployed|learning|working|"
         r"living|studying|playing|training)\b[^,.;!?]* since\b)"), "I have been "),
        (
            (r"\b(?P<verb>went|go|come|came|move|moved|fly|flew) in (?=(?:spain|france|germany|italy|poland|england|"
            r"ireland|america|"
         r"canada|brazil)\b)"), r"\g<verb> to "),
    )
)  # fmt: skip


def _plural(found: re.Match[str]) -> str:
    return "s" if found[1].isdigit() and found[1] != "1" else ""


def standard(text: str) -> str:
    """Return a message, spelled as `spelling.tidy` does, in standard English as far as the rules need it."""
    for pattern, put in _RULES:
        text = pattern.sub(put, text)
    return text
