"""The words of a question that can lead to a memory, and texts made ready to be found by words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being but by can could did do does doing don
    during each for from further get got had has have having he her here hers him his how i if in into is it its itself just
    let ll m me more most my no not of off on once only or our out over own re s same she should so some such t than that the
    their theirs them then there these they this those through to too under until up us very ve was we were what when where
    which while who whom whose why will with would you your yours
    """.split()  # noqa: SIM905 - a list of a hundred quoted words cannot be read
)
"""English words that stand in every conversation and so lead nowhere."""

EVERYDAY = frozenset(
    """
    able absolutely actually add afraid afternoon ago agree agreed ah aha almost already alright always amazing anybody
    anymore anyone anything anyway around ask asked asking aw away awesome awful aww back bad basically beautiful become
    becoming began begin beginning behind believe best better big bit book bored boring both bought break bring bringing
    brought buddy busy buy bye call called came care case catch chance change changed changes check cheers choose city come
    comes coming congrats congratulations cool correct couple course crazy damn darling day days deal dear decide decided
    definitely different difficult done down drive early easy eat either else end enjoy enjoyed enjoying enough especially
    even evening event ever every everybody everyone everything exactly excited exciting excuse experience face fact fair
    far fast favorite favourite feel feeling feelings feels felt few find finding fine finish finished first food forget
    found free friend friends front full fun funny future game gave getting give given gives giving glad go goal goals god
    goes going gone good goodbye gosh gotten great grin grins group grow guess guy guys haha hahaha half happen happened
    happens happy hard hear heard heart hell hello help helped helping hey hi high hm hmm home honey hope hoping hour hours
    house hug huge hugs idea important indeed inside interested interesting job join keep keeping kept kid kids kind kinda
    knew know known knows last late lately later laugh laughing laughs least leave left less life like liked likes listen
    little live lived lives living lol long look looked looking looks lot lots love loved lovely loves loving luck lucky
    made main make makes making man many matter maybe mean means meant meet meeting mention mentioned met might mind minute
    minutes moment month months morning move moved moving much must name near need needed needs never new next nice night
    nobody nod nods none nothing now number oh ok okay old one ones oops open others outside pardon part past pay people
    perfect perhaps person pick picture place places plan planned planning plans play played please point possible pretty
    probably problem proud put quite rather reach read reading ready real really reason recently remember rest right room
    run said sat saw say saying says second see seeing seem seemed seems seen sense seriously set share shared sharing short
    show showed shrug shrugs side sigh sighs since sir sit small smile smiles somebody someone something sometimes somewhere
    soon sorry sort sound sounds special spend spent stand start started starting stay step still stop story strong stuff
    super support sure surely sweet take taken takes taking talk talked talking tell telling thank thanks thing things think
    thinking third thought thoughts three time times tired today together told tomorrow tonight took top totally touch town
    tried true truth try trying turn turned two uh um unless use used using usual usually visit wait waiting walk want
    wanted wants watch wave waves way ways week weekend weeks welcome well went whatever whether whole wink winks wish
    within without woman wonder wonderful wondering word words work worked working world worry worse worst worth wow write
    wrong yeah year years yes yesterday yet young
    """.split()  # noqa: SIM905 - as above
)
"""English words that are said in about every second conversation: in a young memory they only seem to be rare."""

WORD = re.compile(r"[^\W_]+")
SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"
)
"""Characters of scripts that write without spaces: Thai, Lao, Burmese, Khmer, Kana, Han."""
ARTICLES = frozenset("a an any her his its my no our some that the their these this those which your".split())  # noqa: SIM905
"""Words after which comes no name, even if it is spelled like one: “the rose” is a flower, also where Rose is there."""
MOST_WORDS = 24
"""Of a long message only so many different words are looked up, the longest ones."""


@dataclass(frozen=True)
class Question:
    """What someone said, as words that may lead somewhere."""

    text: str
    words: tuple[str, ...]
    """Folded, without stop words and repetitions, in the order in which they were said."""
    neighbours: tuple[tuple[int, int], ...]
    """Pairs of `words`, by position, that stood side by side."""
    names: frozenset[str]
    """Words written with a capital inside the sentence, folded: most likely somebody's or some place's name."""


def fold(text: str) -> str:
    """Lower case without accents, so that “Zoë” is “zoe”."""
    plain = unicodedata.normalize("NFKD", text).casefold()  # both, twice: each may leave something for the other
    decomposed = unicodedata.normalize("NFKD", plain).casefold()
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def cut(text: str) -> list[str]:
    """The words of a text, as they are spelled; every character of a spaceless script is one."""
    return WORD.findall(SPACELESS.sub(r" \g<0> ", text))


def question(text: str, present: Collection[str] = ()) -> Question:
    """Take a text apart. Where nothing but stop words was said, nothing leads anywhere.

    The names of those `present` are said to somebody or of somebody about whom nearly everything is: they lead nowhere either.
    """
    spelled = [word for word in _unnamed(cut(text), present) if fold(word) not in STOP_WORDS]
    folded = [fold(word) for word in spelled]
    kept = sorted(sorted(set(folded), key=lambda word: -len(word))[:MOST_WORDS], key=folded.index)
    place = {word: number for number, word in enumerate(kept)}
    pairs = dict.fromkeys(
        (place[left], place[right]) for left, right in pairwise(folded) if left != right and left in place and right in place
    )
    first = WORD.search(text)
    names = {fold(word) for word in spelled if word[:1].isupper()} - ({fold(first[0])} if first else set())
    return Question(text, tuple(kept), tuple(pairs), frozenset(names))


def unaddressed(text: str, present: Collection[str]) -> str:
    """Without the names of those present where one stands before a mark or at the end, as in “Are you there, Mira?”."""
    names = "|".join(re.escape(name.strip()) for name in sorted(present, key=len, reverse=True) if name.strip())
    if not names:
        return text
    left = re.sub(rf"(?:,\s*)?(?<!\w)(?:{names})(?=\s*(?:[^\w\s'’]|$))[,\s]*", " ", text, flags=re.IGNORECASE).strip()
    return left or text


def _unnamed(words: list[str], present: Collection[str]) -> list[str]:
    """The words that are no name of those present. Of a long name any part counts, unless its script has no spaces."""
    parts = [tuple(map(fold, cut(name))) for name in present]
    names = {one for whole in parts for one in ([whole] if SPACELESS.search("".join(whole)) else [(part,) for part in whole])}
    folded, kept, place = [fold(word) for word in words], list[str](), 0
    while place < len(words):
        length = max((len(name) for name in names if tuple(folded[place : place + len(name)]) == name), default=0)
        if length == 0 or (length == 1 and not _is_a_name(words[place], folded[place - 1] if place else "")):
            kept.append(words[place])
            length = 1
        place += length
    return kept


def _is_a_name(word: str, before: str) -> bool:
    """Spelled like the name of somebody who is there: is it meant? Who writes in haste writes it small."""
    return word[:1].isupper() or (before not in ARTICLES and fold(word) not in EVERYDAY)


def searchable(text: str, when: datetime | None = None) -> str:
    """The text as the word index gets it: with its day in words, and spaces where its script has none."""
    spaced = SPACELESS.sub(r" \g<0> ", text.replace("\0", " "))
    return f"({day(when)}) {spaced}" if when else spaced


def day(when: datetime) -> str:
    """Such as “8 May, 2023”, whatever the language of the system."""
    return f"{when.day} {MONTHS[when.month - 1].capitalize()}, {when.year}"


MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
