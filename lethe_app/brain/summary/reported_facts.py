"""Puts the facts that a conversation states into the lines of its summary."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from lethe_app.brain.dates.resolve import resolve
from lethe_app.brain.dialogue.dialogue_acts import DialoguePiece, SentenceMeaning
from lethe_app.brain.fact_rules.extractor import Statement, extract
from lethe_app.brain.summary.retelling import leans, retell_all, unrepeated, without_pictograms
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.reported_speech import LONGEST, shorten
from lethe_app.brain.text.sentences import Sentence, name_of, split_sentences, words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.entities import ANIMALS, RELATIVES
from lethe_app.domain.chat import Role
from lethe_app.domain.facts import FactKind

LESSER = 0.6
"""What tastes, and facts of no kind, count in a summary against the others."""
VAGUE = 0.4
"""What a fact counts that begins with a pronoun, or is told in hardly any words."""
STATED = 0.5
"""Share of the content words of a quoted sentence that its message has."""
SHORT_MESSAGE = 160
"""Characters of a message that is quoted in full: half of it may say the opposite."""
FEWEST_QUOTED = 2
"""Content words of an answer by which it is worth its question."""
FEWEST = 3
"""Content words without the speaker's name, from which a fact says something by itself."""
_QUOTED = re.compile(r"[^“”]+? said(?: on [^:“”]+)?: “(?P<quote>[^“”]+)”")
"""A fact told in its speaker's own words alone."""
_ANSWERED = re.compile(r"Asked “[^“”]*”, [^“”]+? said(?: on [^:“”]+)?: “(?P<answer>[^“”]+)”")
QUOTATIONS = re.compile(r'"([^"]*)"')
"""What a line of a summary quotes."""
_PRONOUN = re.compile(
    r"\b(?:he|she|they|them|him|her|his|their|it|its|that|this|there|one|others?)\b(?!')|"
    r"\b(?:he|she|it)'s\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\b(?:he|she|him|her|hers|his)\b", re.IGNORECASE)
NAMES = re.compile(rf"(?:^|[.!?] )[A-Z][a-z]+(?=[.,!])|(?<=[a-z,] )(?!I\b)[A-Z][a-z]+|\b(?:{RELATIVES}|{ANIMALS})s?\b")
"""Somebody whom a pronoun may mean: a name within a sentence, or a relative or animal."""
_ASKING = content_words(
    "what kind which sort how many much old long often when where who whose why else called name so far any more"
)
_COURTESY = re.compile(
    r"\W*(?:good (?:morning|evening|afternoon|night)|hi|hello|hey|thanks?|thank you|sorry|please|kindly)\b.{0,24}",
    re.IGNORECASE,
)
_NAMED = re.compile(r".+ (?:is|are) called (?P<names>.+)\.")
_LAST_QUOTED = re.compile(r'"(?P<said>[^"]*)"$')
_ENDS = re.compile(r"[.!?…](?= )")
_ENDMARKS = re.compile(r"\A\W+|\W+\Z")
_PLAIN_QUOTES = str.maketrans('“”"', '""\'')
_POINTS = re.compile(
    r"\b(?:this|these|those)\b(?! (?:week|month|year|summer|winter|spring|autumn|morning|evening|time|is|was))"
)
_LIGHT = frozenset({FactKind.TASTE, FactKind.OTHER})


@dataclass(frozen=True, slots=True)
class ReportedFact:
    """A fact about the user as a line of a summary."""

    text: str
    speaker: str
    lines: frozenset[int]
    """Places of the messages that state it."""
    words: frozenset[str]
    """Stems of its content words, without the speaker's name."""
    kind: FactKind
    weight: float
    """What it counts against other facts, up to 1."""
    is_unclear: bool
    """It is understood only with what was said before."""
    is_quoted: bool
    """It is quoted, often with the question that it answers: its words alone do not say of whom it is told."""


def reported_facts(lines: Sequence[Utterance], pieces: Sequence[Sequence[DialoguePiece]]) -> list[ReportedFact]:
    """Return what a conversation states about its user and still holds at its end, in the order in which it was said.

    What is said in character, what another fact says with all its words, and names that another fact tells too are left out.
    `pieces` are those of each line (`read_pieces`).
    """
    places = {line.id: place for place, line in enumerate(lines)}
    users = {line.name: name_of(line) for line in lines if line.role is Role.USER}
    found = [one for one in extract(lines) if one.subject in users and not one.in_story]
    ended = {text for one in found for text in one.ends}
    kept = _with_new_names([one for one in found if one.text not in ended])
    others = frozenset(line.name for line in lines) - users.keys()
    stems = [content_words(one.text) - content_words(f"{one.subject} said asked called") for one in kept]
    reported: dict[str, ReportedFact] = {}
    for place, one in enumerate(kept):
        if any(stems[place] < other or (stems[place] == other and place > index) for index, other in enumerate(stems)):
            continue
        last = places[one.messages[-1]]
        plain = [piece.text for piece in pieces[last] if piece.meaning is SentenceMeaning.PLAIN]
        text = _bare(_worded(one, [resolve(each, lines[last].time.date()) for each in plain]), others)
        told = frozenset(places[message] for message in one.messages)
        weight = _weight(one, stems[place])
        is_quoted = "“" in one.text and '"' in text
        unclear = is_unclear(text, one.subject)
        fact = ReportedFact(text, users[one.subject], told, stems[place], one.kind, weight, unclear, is_quoted)
        earlier = reported.get(text)
        reported[text] = fact if earlier is None else replace(earlier, words=earlier.words | fact.words)
    return list(reported.values())


def is_unclear(text: str, speaker: str) -> bool:
    """Return whether a line is understood only with what was said before: by a pronoun, or by a question that names nothing."""
    quoted = QUOTATIONS.findall(text)
    if not quoted:
        rest = text.replace(speaker, "")
        is_of_nobody = bool(_PERSON.search(rest)) and not NAMES.search(rest)
        return leans(text) or is_of_nobody or bool(_POINTS.search(text))
    if not text.startswith("Asked "):
        return _depends(quoted[0])
    asked, answer = quoted[0], quoted[-1]
    named = content_words(asked) - _ASKING
    return (not named or bool(_PRONOUN.search(asked))) and not NAMES.search(answer)


def _depends(said: str) -> bool:
    """Return whether a quotation has a pronoun and names nobody."""
    return not NAMES.search(said) and (leans(said) or bool(_PRONOUN.search(said)))


def _with_new_names(facts: Sequence[Statement]) -> list[Statement]:
    """Return the facts without those that only tell a name which another one tells."""
    texts = [one.text for one in facts]
    return [one for one in facts if not (named := _NAMED.fullmatch(one.text)) or _is_new(named["names"], one.text, texts)]


def _is_new(names: str, text: str, texts: Sequence[str]) -> bool:
    return any(not any(name in other for other in texts if other != text) for name in re.findall(r"[^\W\d_]{2,}", names))


def _bare(text: str, others: Collection[str]) -> str:
    """Return a line without emoji and without the name of the one spoken to at its end."""
    text = without_pictograms(text)
    for other in others:
        text = re.sub(rf",? {re.escape(other)}\.$", ".", text)
    return text


def _weight(fact: Statement, stems: frozenset[str]) -> float:
    """Return what a fact counts against others."""
    text = fact.text.translate(_PLAIN_QUOTES)
    if leans(text) or len(stems) < FEWEST or _POINTS.search(text) or _says_little(text):
        return VAGUE
    return LESSER if fact.kind in _LIGHT else 1.0


def _says_little(text: str) -> bool:
    """Return whether what is quoted last is a word or two, or breaks off."""
    quoted = _LAST_QUOTED.search(text)
    return quoted is not None and (quoted["said"].endswith("…") or len(content_words(quoted["said"])) < FEWEST_QUOTED)


def _worded(fact: Statement, said: Sequence[str]) -> str:
    """Return the fact in the third person where all of its quotation can be told so, and else as a quotation.

    `said` are the sentences of the last message that states it: a short message is quoted in full, and of a quotation from
    several messages only what stands in the last one.
    """
    found = _QUOTED.fullmatch(fact.text)
    if found:
        quoted = list(split_sentences(found["quote"]))
        if len(fact.messages) > 1:
            is_short = sum(map(len, said)) <= SHORT_MESSAGE
            quoted = ([] if is_short else [text for text in quoted if _stands_in(text, " ".join(said))]) or list(said)
        told = retell_all([_sentence(fact.subject, text) for text in quoted])
        if told and len(told) <= LONGEST:
            return told
        if sum(map(len, said)) <= SHORT_MESSAGE:
            quoted = _with_the_rest(quoted, said)
        return _plainly(f"{fact.text[: found.start('quote')]}{' '.join(quoted)}”")
    if (answered := _ANSWERED.fullmatch(fact.text)) and sum(map(len, said)) <= SHORT_MESSAGE:
        answer = " ".join(_with_the_rest(list(split_sentences(answered["answer"])), said))
        return _plainly(f"{fact.text[: answered.start('answer')]}{answer}”")
    if "“" not in fact.text:
        return unrepeated(fact.text, fact.subject)
    return _plainly(fact.text)


def _with_the_rest(quoted: Sequence[str], said: Sequence[str]) -> list[str]:
    """Return all that a message says, with the quoted sentences as they stand in the quotation."""
    whole: list[str] = []
    for text in said:
        as_quoted = next((one for one in quoted if _stands_in(one, text) or _ENDMARKS.sub("", text) in one), text)
        is_told = bool(whole) and content_words(text) <= content_words(" ".join(whole))
        if not is_told and as_quoted not in whole and not text.rstrip().endswith("?") and not _COURTESY.fullmatch(text):
            whole.append(as_quoted)
    return whole or list(quoted)


def _stands_in(sentence: str, message: str) -> bool:
    """Return whether a quoted sentence is one of a message, whose dates it may spell out."""
    words = content_words(sentence)
    return len(words & content_words(message)) >= STATED * max(1, len(words))


def _plainly(text: str) -> str:
    """Return a quotation in the marks of a summary."""
    text = _shortened(text).translate(_PLAIN_QUOTES).replace(' said: "', ' said, "')
    return text[:1].upper() + text[1:]


def _shortened(text: str) -> str:
    """Return a quotation without its last sentences where it is long."""
    if len(text) <= LONGEST:
        return text
    ends = [found.end() for found in _ENDS.finditer(text, text.rindex("“"), LONGEST)]
    return f"{text[: ends[-1]]}”" if ends else f"{shorten(text, LONGEST)}”"


def _sentence(name: str, text: str) -> Sentence:
    return Sentence(0, name, Role.USER, text, words(text), narrates=False, asks=text.rstrip().endswith("?"))
