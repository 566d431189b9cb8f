"""Wording of a session's facts as lines of its summary."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.reading.pieces import DialoguePiece, SentenceMeaning
from lethe_app.brain.reading.statements import SpeakerStatement
from lethe_app.brain.summary.retelling import remove_pictograms, replace_repeated_name, retell_all, starts_with_pronoun
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.markup import display_name
from lethe_app.brain.text.reported_speech import MAX_QUOTE_LENGTH, shorten
from lethe_app.brain.text.sentences import Sentence, normalized_words, split_sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.phrases import RELATIVE_OR_ANIMAL
from lethe_app.dates.resolve import resolve_dates
from lethe_app.domain.chat import Role
from lethe_app.domain.facts import FactKind

MINOR_WEIGHT = 0.6
"""Weight of likings and of facts without a kind in a summary, against 1 of the others."""
VAGUE_WEIGHT = 0.4
"""Weight of a fact that begins with a pronoun or has hardly any words."""
MIN_STATED_SHARE = 0.5
"""Share of the content words of a quoted sentence that its message must contain."""
SHORT_MESSAGE_LENGTH = 160
"""Characters up to which a message is quoted in full, because half of it may say the opposite."""
MIN_QUOTED_WORDS = 2
"""Content words an answer needs to be worth quoting with its question."""
MIN_FACT_WORDS = 3
"""Content words, without the speaker's name, that a fact needs to be understood by itself."""
_QUOTED_FACT = re.compile(r"[^“”]+? said(?: on [^:“”]+)?: “(?P<quote>[^“”]+)”")
"""Fact that consists of a quotation of its speaker alone."""
_ANSWERED_FACT = re.compile(r"Asked “[^“”]*”, [^“”]+? said(?: on [^:“”]+)?: “(?P<answer>[^“”]+)”")
QUOTATIONS = re.compile(r'"([^"]*)"')
"""Quotations in a line of a summary."""
_PRONOUN = re.compile(
    r"\b(?:he|she|they|them|him|her|his|their|it|its|that|this|there|one|others?)\b(?!')|"
    r"\b(?:he|she|it)'s\b",
    re.IGNORECASE,
)
_PERSONAL_PRONOUN = re.compile(r"\b(?:he|she|him|her|hers|his)\b", re.IGNORECASE)
NAMES = re.compile(rf"(?:^|[.!?] )[A-Z][a-z]+(?=[.,!])|(?<=[a-z,] )(?!I\b)[A-Z][a-z]+|\b{RELATIVE_OR_ANIMAL}s?\b")
"""Possible referents of a pronoun: a name within a sentence, a relative or an animal."""
_QUESTION_WORDS = content_words(
    "what kind which sort how many much old long often when where who whose why else called name so far any more"
)
_COURTESY = re.compile(
    r"\W*(?:good (?:morning|evening|afternoon|night)|hi|hello|hey|thanks?|thank you|sorry|please|kindly)\b.{0,24}",
    re.IGNORECASE,
)
_NAME_FACT = re.compile(r".+ (?:is|are) called (?P<names>.+)\.")
_LAST_QUOTATION = re.compile(r'"(?P<quote>[^"]*)"$')
_SENTENCE_END = re.compile(r"[.!?…](?= )")
_EDGE_PUNCTUATION = re.compile(r"\A\W+|\W+\Z")
_PLAIN_QUOTES = str.maketrans('“”"', '""\'')
_DEMONSTRATIVE = re.compile(
    r"\b(?:this|these|those)\b(?! (?:week|month|year|summer|winter|spring|autumn|morning|evening|time|is|was))"
)
_MINOR_KINDS = frozenset({FactKind.TASTE, FactKind.OTHER})


@dataclass(frozen=True, slots=True)
class ReportedFact:
    """Fact about the user as a line of a summary."""

    text: str
    speaker: str
    lines: frozenset[int]
    """Indexes of the messages that state it."""
    words: frozenset[str]
    """Stems of its content words, without the speaker's name."""
    kind: FactKind
    weight: float
    """Weight against other facts, up to 1."""
    is_unclear: bool
    """True if it is understood only with the preceding context."""
    is_quoted: bool
    """True if it is a quotation, often with the question it answers; its words alone do not name its subject."""


def build_reported_facts(lines: Sequence[Utterance], pieces: Sequence[Sequence[DialoguePiece]]) -> list[ReportedFact]:
    """Return what a session states about its user and still holds at its end, in session order.

    Left out are facts in character, facts whose words another fact contains, and names that another fact states too. `pieces`
    are those of each line (`read_pieces`).
    """
    line_indexes = {line.id: index for index, line in enumerate(lines)}
    users = {line.name: display_name(line) for line in lines if line.role is Role.USER}
    found = [one for one in extract_statements(lines) if one.subject in users and not one.in_story]
    ended = {text for one in found for text in one.ended_statements}
    kept = _remove_repeated_names([one for one in found if one.text not in ended])
    others = frozenset(line.name for line in lines) - users.keys()
    stems = [content_words(one.text) - content_words(f"{one.subject} said asked called") for one in kept]
    reported: dict[str, ReportedFact] = {}
    for index, one in enumerate(kept):
        # Of facts with the same words the first one stays.
        if any(
            stems[index] < other or (stems[index] == other and index > other_index) for other_index, other in enumerate(stems)
        ):
            continue
        last_line_index = line_indexes[one.message_ids[-1]]
        plain_texts = [piece.text for piece in pieces[last_line_index] if piece.meaning is SentenceMeaning.PLAIN]
        text = _clean_line(
            _word_fact(one, [resolve_dates(each, lines[last_line_index].time.date()) for each in plain_texts]), others
        )
        stating_lines = frozenset(line_indexes[message] for message in one.message_ids)
        weight = _weight(one, stems[index])
        is_quoted = "“" in one.text and '"' in text
        unclear = is_unclear(text, one.subject)
        fact = ReportedFact(text, users[one.subject], stating_lines, stems[index], one.kind, weight, unclear, is_quoted)
        earlier = reported.get(text)
        reported[text] = fact if earlier is None else replace(earlier, words=earlier.words | fact.words)
    return list(reported.values())


def is_unclear(text: str, speaker: str) -> bool:
    """Return whether a line is understood only with the preceding context: it has a pronoun, or a question that names
    nothing.
    """
    quoted = QUOTATIONS.findall(text)
    if not quoted:
        rest = text.replace(speaker, "")
        has_unnamed_person = bool(_PERSONAL_PRONOUN.search(rest)) and not NAMES.search(rest)
        return starts_with_pronoun(text) or has_unnamed_person or bool(_DEMONSTRATIVE.search(text))
    if not text.startswith("Asked "):
        has_pronoun = starts_with_pronoun(quoted[0]) or bool(_PRONOUN.search(quoted[0]))
        return has_pronoun and not NAMES.search(quoted[0])
    asked, answer = quoted[0], quoted[-1]
    named = content_words(asked) - _QUESTION_WORDS
    return (not named or bool(_PRONOUN.search(asked))) and not NAMES.search(answer)


def _remove_repeated_names(facts: Sequence[SpeakerStatement]) -> list[SpeakerStatement]:
    """Remove facts that state nothing but a name which another fact contains."""
    texts = [one.text for one in facts]
    return [
        one for one in facts if not (named := _NAME_FACT.fullmatch(one.text)) or _is_new_name(named["names"], one.text, texts)
    ]


def _is_new_name(names: str, text: str, texts: Sequence[str]) -> bool:
    return any(not any(name in other for other in texts if other != text) for name in re.findall(r"[^\W\d_]{2,}", names))


def _clean_line(text: str, others: Collection[str]) -> str:
    """Return a line without emoji and without the listener's name at its end."""
    text = remove_pictograms(text)
    for other in others:
        text = re.sub(rf",? {re.escape(other)}\.$", ".", text)
    return text


def _weight(fact: SpeakerStatement, stems: frozenset[str]) -> float:
    """Return the weight of a fact against others."""
    text = fact.text.translate(_PLAIN_QUOTES)
    if starts_with_pronoun(text) or len(stems) < MIN_FACT_WORDS or _DEMONSTRATIVE.search(text) or _is_barely_quoted(text):
        return VAGUE_WEIGHT
    return MINOR_WEIGHT if fact.kind in _MINOR_KINDS else 1.0


def _is_barely_quoted(text: str) -> bool:
    """Return whether the last quotation has a word or two only, or breaks off."""
    quoted = _LAST_QUOTATION.search(text)
    return quoted is not None and (quoted["quote"].endswith("…") or len(content_words(quoted["quote"])) < MIN_QUOTED_WORDS)


def _word_fact(fact: SpeakerStatement, message_sentences: Sequence[str]) -> str:
    """Return the fact in the third person if its whole quotation can be converted, else as a quotation.

    `message_sentences` are those of the last message that states it: a short message is quoted in full, and of a quotation from
    several messages only the part in the last one.
    """
    found = _QUOTED_FACT.fullmatch(fact.text)
    if found:
        quoted = list(split_sentences(found["quote"]))
        if len(fact.message_ids) > 1:
            is_short = sum(map(len, message_sentences)) <= SHORT_MESSAGE_LENGTH
            quoted = ([] if is_short else [text for text in quoted if _is_part_of(text, " ".join(message_sentences))]) or list(
                message_sentences
            )
        retold = retell_all([_as_sentence(fact.subject, text) for text in quoted])
        if retold and len(retold) <= MAX_QUOTE_LENGTH:
            return retold
        if sum(map(len, message_sentences)) <= SHORT_MESSAGE_LENGTH:
            quoted = _complete_quotation(quoted, message_sentences)
        return _format_quotation(f"{fact.text[: found.start('quote')]}{' '.join(quoted)}”")
    if (answered := _ANSWERED_FACT.fullmatch(fact.text)) and sum(map(len, message_sentences)) <= SHORT_MESSAGE_LENGTH:
        answer = " ".join(_complete_quotation(list(split_sentences(answered["answer"])), message_sentences))
        return _format_quotation(f"{fact.text[: answered.start('answer')]}{answer}”")
    if "“" not in fact.text:
        return replace_repeated_name(fact.text, fact.subject)
    return _format_quotation(fact.text)


def _complete_quotation(quoted: Sequence[str], message_sentences: Sequence[str]) -> list[str]:
    """Return all sentences of a message, the quoted ones in the wording of the quotation."""
    whole: list[str] = []
    for text in message_sentences:
        as_quoted = next((one for one in quoted if _is_part_of(one, text) or _EDGE_PUNCTUATION.sub("", text) in one), text)
        is_told = bool(whole) and content_words(text) <= content_words(" ".join(whole))
        if not is_told and as_quoted not in whole and not text.rstrip().endswith("?") and not _COURTESY.fullmatch(text):
            whole.append(as_quoted)
    return whole or list(quoted)


def _is_part_of(sentence: str, message: str) -> bool:
    """Return whether a quoted sentence, in which dates may be spelt out, is a sentence of the message."""
    words = content_words(sentence)
    return len(words & content_words(message)) >= MIN_STATED_SHARE * max(1, len(words))


def _format_quotation(text: str) -> str:
    """Return a quotation with the quotation marks of a summary."""
    text = _shorten_quotation(text).translate(_PLAIN_QUOTES).replace(' said: "', ' said, "')
    return text[:1].upper() + text[1:]


def _shorten_quotation(text: str) -> str:
    """Remove the last sentences of a long quotation."""
    if len(text) <= MAX_QUOTE_LENGTH:
        return text
    ends = [found.end() for found in _SENTENCE_END.finditer(text, text.rindex("“"), MAX_QUOTE_LENGTH)]
    return f"{text[: ends[-1]]}”" if ends else f"{shorten(text, MAX_QUOTE_LENGTH)}”"


def _as_sentence(name: str, text: str) -> Sentence:
    return Sentence(0, name, Role.USER, text, normalized_words(text), narrates=False, asks=text.rstrip().endswith("?"))
