"""Words of a query that can lead to a memory, and the preparation of texts for the full-text index."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from lethe_app.domain.clock import MONTHS

STOP_WORDS = frozenset(
    """
    a about after again ain all also am an and any are aren arent as at be because been before being but by can cannot cant
    could couldn couldnt did didn didnt do does doesn doesnt doing don dont during each em for from further get gonna got
    gotta had hadn hadnt has hasn hasnt have haven havent having he her here heres hers herself hes him himself his how hows
    i if im in into is isn isnt it its itself ive just lemme let lets ll m me more most mustn my myself no not of off on once
    only or our ours ourselves out over own re s same shan she shes should shouldn shouldnt so some such t than that thats
    the their theirs them themselves then there theres these they theyre theyve this those through to too u under until up ur
    us ve very wanna was wasn wasnt we were weren werent weve what whats when where wheres which while who whom whos whose
    why will with wont would wouldn wouldnt yall you your youre yours yourself youve
    """.split()  # noqa: SIM905 - a list of a hundred quoted words cannot be read
)
"""English words that occur in every conversation and therefore do not discriminate."""

EVERYDAY_WORDS = frozenset(
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
"""English words that occur in about every second conversation: in a young memory they only seem to be rare."""

WORD = re.compile(r"[^\W_]+")
NEGATED_VERB = re.compile(r"\b[a-z]+n['’]t\b", re.IGNORECASE)
"""Negated auxiliary verbs. Split at the apostrophe, “won” and “haven” would look like content words."""
SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"
)
"""Characters of scripts written without spaces: Thai, Lao, Burmese, Khmer, Kana, Han."""
HIRAGANA = re.compile("[\u3040-\u309f]")
ARTICLES = frozenset("a an any her his its my no our some that the their these this those which your".split())  # noqa: SIM905
"""Words after which a lower-case word is no name: “the rose” is a flower, even if a participant is called Rose."""
PET_ENDING = re.compile(r"([bcdfgklmnprstvz]?)\1(?:ie|ey|y|i)$")
"""Ending of pet forms such as “Debbie” and “Tommy”, with the doubled consonant before it."""
MAX_TERMS = 24
"""Distinct words of a long query that are looked up, longest first."""


@dataclass(frozen=True)
class QueryTerms:
    """Terms of a query, ready for the full-text index."""

    text: str
    words: tuple[str, ...]
    """Folded words without stop words and repetitions, in order of occurrence."""
    lookups: tuple[str, ...]
    """The words in the form in which the full-text index is queried."""
    names: frozenset[str]
    """Folded words that are capitalised inside the sentence, most likely names."""


def fold(text: str) -> str:
    """Return the text in lower case without accents: “Zoë” becomes “zoe”."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold()  # both, twice: each may leave something for the other
    decomposed = unicodedata.normalize("NFKD", plain).casefold()
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def split_words(text: str) -> list[str]:
    """Return the words of a text as spelled; every character of a spaceless script is a word."""
    return WORD.findall(space_characters(text))


def parse_query(text: str, participants: Collection[str] = ()) -> QueryTerms:
    """Parse a query into terms. A query of stop words only has none.

    The names of participants in `participants` are left out: nearly every memory is about them, so they do not discriminate.
    """
    spelled = _spelled_words(text, participants)
    kept = _longest_words(spelled)
    # The first word of a text is capitalised in any case and therefore no evidence of a name.
    first = WORD.search(text)
    names = {folded for folded, word in spelled if word[:1].isupper()} - ({fold(first[0])} if first else set())
    return QueryTerms(text, tuple(kept), tuple(map(space_characters, kept)), frozenset(names))


def query_words(text: str, participants: Collection[str] = ()) -> list[str]:
    """Return the `words` of `parse_query`, in less time than the whole."""
    return _longest_words(_spelled_words(text, participants))


def _spelled_words(text: str, participants: Collection[str]) -> list[tuple[str, str]]:
    """Return the words of a text without stop words, each folded and as spelled."""
    folded_words = ((fold(word), word) for word in _extract_terms(NEGATED_VERB.sub(" ", text), participants))
    return [(folded, word) for folded, word in folded_words if folded not in STOP_WORDS]


def _longest_words(spelled: Sequence[tuple[str, str]]) -> list[str]:
    """Return the folded words without repetitions, in order of occurrence; of too many, the longest."""
    distinct = dict.fromkeys(folded for folded, _word in spelled)
    if len(distinct) <= MAX_TERMS:
        return list(distinct)
    longest = set(sorted(distinct, key=len, reverse=True)[:MAX_TERMS])
    return [word for word in distinct if word in longest]


def strip_addressing(text: str, participants: Collection[str]) -> str:
    """Remove the names of those in `participants` where they address somebody, before punctuation or at the end: “Are you
    there, Mira?”.

    The text is returned unchanged if nothing else is left.
    """
    names = "|".join(re.escape(name.strip()) for name in sorted(participants, key=len, reverse=True) if name.strip())
    if not names:
        return text
    remaining = re.sub(rf"(?:,\s*)?(?<!\w)(?:{names})(?=\s*(?:[^\w\s'’]|$))[,\s]*", " ", text, flags=re.IGNORECASE).strip()
    return remaining or text


def _without_names(words: list[str], participants: Collection[str]) -> list[str]:
    """Leave out the names of participants and their short forms.

    Any part of a name counts, unless its script has no spaces, where only the whole name does.
    """
    parts = [tuple(map(fold, split_words(name))) for name in participants]
    names = {one for whole in parts for one in ([whole] if SPACELESS.search("".join(whole)) else [(part,) for part in whole])}
    if not names:
        return words
    folded, kept, index = [fold(word) for word in words], list[str](), 0
    while index < len(words):
        length = max((len(name) for name in names if tuple(folded[index : index + len(name)]) == name), default=0)
        if length == 0 and any(_is_short_for(words[index], name[0]) for name in names if len(name) == 1):
            length = 1
        if length == 0 or (length == 1 and not _is_name(words[index], folded[index - 1] if index else "")):
            kept.append(words[index])
            length = 1
        index += length
    return kept


def _is_short_for(word: str, name: str) -> bool:
    """Return whether a word is the beginning of a name, as “Mel” of Melanie, or its pet form, as “Debbie” of Deborah.

    `name` is folded. Short forms must be capitalised and must not be everyday words.
    """
    folded = fold(word)
    if not word[:1].isupper() or folded in EVERYDAY_WORDS:
        return False
    stem = PET_ENDING.sub(r"\1", folded)
    return len(stem) > 1 and (name.startswith(folded) or (len(stem) > 2 and name.startswith(stem)))


def _is_name(word: str, previous_word: str) -> bool:
    """Return whether a word spelled like a participant's name means the participant. Hasty writers use lower case for names."""
    return word[:1].isupper() or (previous_word not in ARTICLES and fold(word) not in EVERYDAY_WORDS)


def space_characters(text: str) -> str:
    """Return the text with spaces around every character of a spaceless script, as the full-text index needs it."""
    return text if text.isascii() else SPACELESS.sub(r" \g<0> ", text)


def _extract_terms(text: str, participants: Collection[str]) -> list[str]:
    """Return the words of a query as spelled; for spaceless scripts, pairs of neighbouring characters.

    A pair approximates a word, because there is no dictionary for segmentation. A single character counts where it stands
    alone; hiragana (particles and endings) is dropped.
    """
    words = _without_names(split_words(text), participants)
    if text.isascii() or not SPACELESS.search(text):
        return words
    terms: list[str] = []
    run = ""
    for word in [*words, ""]:
        if word and SPACELESS.fullmatch(word) and not HIRAGANA.fullmatch(word):
            run += word
            continue
        terms += [run[index : index + 2] for index in range(max(1, len(run) - 1))] if run else []
        run = ""
        if word and not HIRAGANA.fullmatch(word):
            terms.append(word)
    return terms


def to_searchable(text: str, moment: datetime | None = None) -> str:
    """Return the text as the full-text index stores it: preceded by its date in words, with spaces where its script has
    none.
    """
    text = space_characters(text.replace("\0", " "))
    return f"({format_day(moment)}) {text}" if moment else text


def format_day(moment: datetime) -> str:
    """Return a date such as “8 May, 2023”, independent of the system locale."""
    return f"{moment.day} {MONTHS[moment.month - 1]}, {moment.year}"
