"""Splitting of chat messages into sentences and clauses about the speaker, without actions, quotations and fillers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.verbs import BASE_VERBS, VERBS_ALSO_NOUNS, is_adverb, is_past, third_person_form
from lethe_app.domain.chat import Role
from lethe_app.retrieval.passage_builder import SENTENCE_END
from lethe_app.retrieval.query_terms import MONTHS, SPACELESS, WORD, fold

_NOT_SPEECH = re.compile(
    r"```[\s\S]*?(?:```|\Z)|^>.*$|https?://\S+|\*[^*\n]*\*+|(?<!\w)_[^_\n]+_(?!\w)|~~[^~\n]*~~|^\*.*$|<[^>\n]*>", re.MULTILINE
)
"""Code, quoted lines, URLs, and actions between asterisks."""
_TAG = re.compile(
    r",\s*(?:(?:did|didn't|do|don't|have|haven't|can|can't|could|isn't|aren't|wasn't|weren't|would|wouldn't) (?:I|you|it|we|"
    r"they)\b[^,.?!]{0,24}|you know|right|eh|ok|okay|huh|remember|yeah|no)\?(?=\s|$)",
    re.IGNORECASE,
)
"""Tag questions: “I teach ceramics, did I tell you?” is a statement about ceramics."""
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_TITLE = re.compile(r"\b(?P<before>is|called|named|book|novel|film|movie|song|band|game|show) \"(?P<title>[^\"\n]{1,40})\"")
_WORK = re.compile(
    r"\"(?P<title>(?=[^\"\n]{2,50}\")(?:[A-Z0-9][\w'&:-]*|of|the|and|to|in|an?|for|on|at|de|la)(?: (?:[A-Z0-9][\w'&:-]*|of|"
    r"the|and|to|in|an?|"
    r"for|on|at|de|la)){0,7})\"(?! (?:he|she|I|they|said|says|asked)\b)"
)
"""Title in quotation marks: every content word has a capital and no punctuation mark ends it."""
_QUOTED = re.compile(r"\"[^\"\n]*(?:\"|$)|«[^»\n]*»", re.MULTILINE)
_EMOJI = re.compile(
    r"(?<=[\w!?.)'\"])\s*[\u2600-\u27bf\u2b50\U0001f300-\U0001faff][\u2600-\u27bf\ufe0f\u200d\U0001f300-\U0001faff\s]*(?=[\w'])"
)
"""Emoji between two words, which end a sentence."""
_UNUSUAL_CHARACTERS = re.compile(r"[^\w\s.,;:!?'’()\-–—&/%$€£+#°]+")
_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[a-z]{2}[.!?])(?=[A-Z])|\n+|[()]|\s+[-–—]+\s+|—|\s*\.\.+\s*|[;:]\s|/s\b")
_NOT_AN_END = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|e\.g|i\.e|vs|No|approx|Jr|Sr)\.$")

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
    rf"{'|'.join(MONTHS)})|yesterday|the other day|a (?:while|week|month|year|day) ago|this (?:morning|evening|afternoon)|"
    r"tomorrow|today|tonight|in \d{4}|in (?:[A-Z][a-z]+)|on [a-z]+day|(?:\w+|a few|a couple of) (?:days|weeks|months|years) "
    rf"ago|on (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{'|'.join(MONTHS)})|on (?:{'|'.join(MONTHS)}) \d{{1,2}}(?:st|"
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


@lru_cache(maxsize=256)  # a line is read for itself, as an answer and as a question
def extract_sentences(message: str) -> tuple[str, ...]:
    """Return the sentences the speaker utters, each with its end mark, without actions, quotations, code and emoji."""
    text = _BOLD.sub(r"\1", correct_spelling(message))
    text = _NOT_SPEECH.sub("\n", text)
    text = _TITLE.sub(r"\g<before> \g<title>", text)
    text = _WORK.sub(r"\g<title>", text)
    text = _UNUSUAL_CHARACTERS.sub(" ", _EMOJI.sub("\n", _QUOTED.sub("\n", text)))
    parts: list[str] = []
    text = _TAG.sub(".", text)
    for part in filter(None, map(str.strip, (piece for piece in _END.split(text) if piece))):
        if parts and _NOT_AN_END.search(parts[-1]):
            parts[-1] += " " + part
        else:
            parts.append(part)
    return tuple(parts)


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


MAX_CHARACTERS_READ = 6000
"""Maximum characters of one message that are read."""
MAX_NAME_LENGTH = 40
"""Maximum characters of a speaker's name."""

_MARKUP = re.compile(
    r"```.*?(?:```|\Z)"
    r"|<\|[^<>|\n]{0,40}\|>|</?[a-zA-Z][^<>\n]{0,80}>|\[/?(?:INST|SYS)\]"
    r"|https?://\S+"
    r"|(?m:^[ \t]{0,8}(?:[#>]{1,6}|[-*+•]|\d{1,3}[.)])[ \t]+)"
    r"|(?m:^[ \t]{0,8}[-*_=]{3,}[ \t]*$)"
    r"|\*\*|__|~~|`",
    re.DOTALL,
)
_MARKED = re.compile(r"[`<\[*_~#>]|https?:|^\s*(?:[-+]|\d{1,3}[.)])\s")
"""Printable text without any of these characters has no markup to remove."""
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,400}\)")
_BREAKS = str.maketrans(dict.fromkeys("\r\u2028\u2029\x0b\x0c\x85", "\n"))
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffc-\uffff]"
)
_ACTION = re.compile(r"\*([^*\n]{1,1000})\*")
_SPEECH = re.compile(r"[\"“«][^\"“”«»\n]{1,1000}[,.!?…–—-][\"”»]")
"""Quoted speech with its punctuation inside the quotes, which a title or an ironic word does not have."""
_ABBREVIATED = re.compile(
    r"(?:^|\s)(?:[Mm]rs?|[Mm]s|[Dd]r|St|[Pp]rof|Jr|Sr|vs|No|etc|approx|e\.g|i\.e|[A-Z]|"
    r"(?!U\.[SK]|D\.C|L\.A|N\.Y|T\.V|[AP]\.M)[A-Z]\.[A-Z])\.$"
)
_SMALL_BEGINNING = re.compile(
    r"(?<=[a-z][!?])\s+(?=[a-z])|(?<=[a-z]{2}\.)\s+(?=[a-z])|(?<=\d\.)\s+(?=(?:i|i'\w+|im|my|we|he|she|it|they)\b)"
)
"""Sentence boundaries before a lowercase letter, because many people type without capitals."""
_THIRD_QUOTABLE = re.compile(r"\b(?:he|she|they|his|her|hers|their)\b", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:I|my)\b")
_VERB = re.compile(r"(?!yes\b|always\b|this\b)[a-z]{3,}s")
_HIRAGANA = re.compile("[\u3040-\u309f]{2}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of one message."""

    line: int
    """Index of its message in the input."""
    name: str
    role: Role
    text: str
    """As written, without markup, on one line."""
    words: tuple[str, ...]
    """Normalised words; in scripts without spaces pairs of adjacent characters."""
    narrates: bool
    """True if it narrates an action instead of being speech."""
    asks: bool = False
    """True if it ends with a question mark."""
    in_story: bool = False
    """True if it is uttered or done in character."""
    standing: float = 1.0
    """Weight as a statement of the user, from 0 for mere context to 1 for the user's own words; see
    brain/summary/endorsed_lines.
    """
    day: date | None = None
    """Day of its message."""


@dataclass(frozen=True, slots=True)
class MessagePart:
    """Part of a message that is either narration or speech."""

    text: str
    narrates: bool


def remove_markup(text: str) -> str:
    """Remove code, markup, links and invisible characters. Asterisks of actions stay. Reads at most `MAX_CHARACTERS_READ`
    characters.
    """
    text = text[:MAX_CHARACTERS_READ]
    # Fast path: most messages have nothing to remove.
    if text.isascii() and text.isprintable() and not _MARKED.search(text):
        return text
    text = _INVISIBLE.sub("", text.translate(_BREAKS))
    # A code block leaves a line break, so that the sentences around it are not joined.
    return _MARKUP.sub(lambda found: "\n" if found[0].startswith("```") else "", _LINK.sub(r"\1", text))


def display_name(line: Utterance) -> str:
    """Return the speaker's name for display, at most `MAX_NAME_LENGTH` characters, without double quotes and line breaks."""
    # The name is cut before it is searched, because it may be very long.
    visible = " ".join(_INVISIBLE.sub("", line.name[: 4 * MAX_NAME_LENGTH].translate(_BREAKS)).split())
    # Double quotes delimit quotations in reported speech.
    name = visible.replace('"', "")[:MAX_NAME_LENGTH].strip()
    return name or ("User" if line.role is Role.USER else "Persona")


def normalized_words(text: str) -> tuple[str, ...]:
    """Return the normalised words of a text; where a script has no spaces, pairs of adjacent characters."""
    found: list[str] = []
    for word in WORD.findall(text):
        if word.isascii() or not SPACELESS.search(word):
            found.append(_folded(word))
        else:
            found += _character_pairs(word)
    return tuple(found)


def split_narration(text: str) -> list[MessagePart]:
    """Split a plain text into actions between asterisks and speech. A single emphasised word is no action."""
    if "*" not in text:
        return [MessagePart(text, is_prose(text))] if WORD.search(text) else []
    found: list[MessagePart] = []
    cursor, spoken = 0, ""
    for action in _ACTION.finditer(text):
        spoken += text[cursor : action.start()]
        cursor = action.end()
        if len(action[1].split()) < 2 and not _is_lone_action(text, action):
            spoken += action[1]
            continue
        found += [MessagePart(spoken, narrates=False), MessagePart(action[1], narrates=True)]
        spoken = ""
    found.append(MessagePart(spoken + text[cursor:], narrates=False))
    visible = [MessagePart(part.text.replace("*", ""), part.narrates) for part in found if WORD.search(part.text)]
    return [MessagePart(part.text, part.narrates or is_prose(part.text)) for part in visible]


def is_prose(text: str) -> bool:
    """Return whether the text is written like a novel: quoted speech surrounded by narration."""
    if not any(mark in text for mark in '"“«'):
        return False
    around, speeches = _SPEECH.subn(" ", text)
    if not speeches or len(WORD.findall(around)) < 3:
        return False
    return bool(_THIRD_QUOTABLE.search(around)) or (text.lstrip()[0] in '"“«' and bool(_FIRST.search(around)))


def _is_lone_action(text: str, action: re.Match[str]) -> bool:
    """Return whether a single word such as *smiles* is an action (at the edge of a sentence) and not emphasis (within one)."""
    before, after = text[: action.start()].rstrip(" \t")[-1:], text[action.end() : action.end() + 20].lstrip(" \t")[:1]
    if not text[: action.start()].strip() and _VERB.fullmatch(action[1]):
        return True
    return (not before or before in '\n.!?…"”') and (not after or after.isupper() or after in '\n"“*')


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each on one line. An abbreviation does not end a sentence."""
    pending = ""
    for piece in (part for end in SENTENCE_END.split(text) for part in _SMALL_BEGINNING.split(end)):
        pending = " ".join(f"{pending} {piece}".split())
        # The length limit keeps a text made of abbreviations from becoming one endless sentence.
        if len(pending) > MAX_NAME_LENGTH * 10 or not _ABBREVIATED.search(pending[-8:]):
            if pending:
                yield pending
            pending = ""
    if pending:
        yield pending


def _character_pairs(word: str) -> Iterator[str]:
    if len(word) == 1:
        yield word
    for left, right in pairwise(word):
        if not _HIRAGANA.match(left + right):
            yield left + right


_folded = lru_cache(20_000)(fold)
