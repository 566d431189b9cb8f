"""Classify each sentence of a session as a plain statement, in-character text, or text to be dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from statistics import median

from lethe_app.brain.dialogue import beside_speech, character_speech, scene_setting, unreal_statements
from lethe_app.brain.dialogue.detail_corrections import (
    MOST_BACK,
    announced_detail,
    corrected,
    detail_corrections,
    detail_of_kind,
    nearest,
)
from lethe_app.brain.dialogue.pasted_text import announces_text, own_words, without_quotations
from lethe_app.brain.dialogue.retractions import corrects_another, is_taken_back, retracts, stated_instead
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.sentences import MOST_READ, MessagePart, is_prose, parts, plain, split_sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.retrieval.query_terms import STOP_WORDS, WORD, fold

PAUSE = timedelta(hours=3)
"""Gap between messages after which a scene ends unless it is set up again."""
QUIET = 3
"""Number of user messages without anything acted after which an undeclared scene ends."""
HINTED = 4
"""Number of user messages in which a first sentence that only a character can say stays a hint."""
LONG_ACTION = 4
"""Minimum number of words of narrated actions for the rest of the message to count as acted as well."""
_OUT_OF_CHARACTER = re.compile(
    r"(?<!\()\(\((?P<double>.+?)\)\)|[\[({]+\s*ooc\b[\s:,–-]*(?P<marked>[^\])}]+)[\])}]+|^\s*(?:ooc\s*[:–-]|"
    r"//)\s*(?P<line>[^\n]+)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_BRACKETED = re.compile(r"(?:^|(?<=[\s*]))[(\[](?P<inside>[^()\[\]\n]{12,400})[)\]](?=\s|$|\*)")
_EMOTE = re.compile(r"^\s*/me\s+(?P<act>[^\n.!?]+[.!?]?)", re.MULTILINE)
_WHOLLY_QUOTED = re.compile(r"^\s*[\"“](?P<said>[^\"“”]+)[\"”]\s*$")
_QUOTES = re.compile(r"[\"“”]")
_SPEECH = re.compile(r"[\"“](?P<said>[^\"“”\n]+)[\"”]")
_ANOTHERS = re.compile(
    r"\b(?:said|says|asked|asks|told|tells|wrote|replied|goes|yelled|shouted|whispered|like|"
    r"all)\b[^.!?\"“]{0,25}[,:]?\s*$",
    re.IGNORECASE,
)
_SAYS = r"(?:says?|said|asks?|asked|whispers?|whispered|shouts?|shouted|mutters?|muttered|replies|replied)"
_TAGGED = re.compile(rf"[\"”]\W*(?:(?!i\b)[\w'-]+ {_SAYS}\b|{_SAYS} (?!i\b)[\w'-]+)", re.IGNORECASE)
"""Speech tag of a third party after a quotation: “…” says Ash."""
_ADDRESSES = re.compile(
    r"\b(?:says?|tells?|whispers?|shouts?|yells?|calls?|mutters?|replies|announces?|declares?|lies)\b[^*]{0,20}?"
    r"\b(?:to |at )?(?:the|an?|one of the) \w+\W*$",
    re.IGNORECASE,
)
"""Action after which the following speech addresses somebody in the scene: *whispers to the merchant*."""
_IN_VOICE = re.compile(
    r"\b(?:imaginary|invisible|pretend) \w+\W*$|\b(?:in (?:an?|my|his|her|the) (?:best )?(?!(?:[\w-]+ )*?(?:small|quiet|low|"
    r"soft|tiny|hoarse|shaky|sleepy|tired|hushed|"
    r"calm|"
    r"serious|flat|sad|weak|normal|own) )(?:[\w-]+,? )*(?:voice|accent)|imitat\w+|impersonat\w+|pretend\w* to be|"
    r"(?:voice|accent|impression))\W*$",
    re.IGNORECASE,
)
"""Action after which the following speech is in another character's voice: *in a deep voice*."""
_COURTLY = re.compile(
    r"\b(?:sir|m'?lord|milord|m'?lady|my (?:lord|lady|liege|queen|king)|your (?:grace|majesty|highness|lordship|honour|honor)|"
    r"cap'?n|inspector|arr+|ahoy|matey)\b",
    re.IGNORECASE,
)
"""Forms of address that only occur in roleplay."""
_OWN_ACT = re.compile(r"\b(?:his|her|their|himself|herself|themselves)\b", re.IGNORECASE)
_NARRATED = re.compile(r"^\W*(?:He|She|They|His|Her|Their)\b")
_REPORTED = re.compile(
    r"\b(?!I\b)(?:\w+) (?:said|told|asked|wrote|goes|replied|yelled|texted)\b|\b(?:said|told|asked) (?:me|my|"
    r"to me)\b",
    re.IGNORECASE,
)


class SentenceMeaning(Enum):
    """Meaning of a sentence."""

    PLAIN = "plain"
    """Stated by the speaker as themselves."""
    IN_CHARACTER = "in character"
    """Said or done in a roleplay scene."""
    DROPPED = "dropped"
    """Passed on, quoted, drafted, imagined or retracted."""


class _Scene(Enum):
    """Whether the user's messages belong to a roleplay scene."""

    NONE = 0
    LOOSE = 1
    """Acted without a declaration, or in a relationship with the persona; sentences about everyday life stay the user's own."""
    DECLARED = 2
    """Set up with a role for the user; everything but out-of-character asides is in character."""


@dataclass(frozen=True)
class MessageParts:
    """Text of one message by meaning; passed-on, quoted, drafted and retracted text is in neither part."""

    plain: str
    """Statements of the speaker as themselves; may be empty."""
    in_character: str
    """Actions and speech of a roleplay scene."""


@dataclass
class DialoguePiece:
    """One sentence or action of a message with its meaning."""

    text: str
    meaning: SentenceMeaning
    narrates: bool = False
    """True if the text narrates an action instead of being speech."""


@dataclass
class _Reading:
    """State of the session while its messages are read in order."""

    usual: int
    """Median number of words of the user's messages."""
    scene: _Scene = _Scene.NONE
    quiet: int = 0
    hints: int = 0
    """Remaining user messages for which a second sentence that only a character can say begins a scene; a single one may be
    a figure of speech.
    """
    narrated: bool = False
    """True if the user narrates themselves in the third person in this scene."""
    character_asked: bool = False
    """True after the user asked the persona to speak as somebody else."""
    text_announced: bool = False
    dream_announced: bool = False
    """True if the user's last message ended with the announcement of a dream."""
    before: Utterance | None = None
    own: dict[str, list[DialoguePiece]] = field(default_factory=dict)
    """Pieces of the last message of each speaker, by name."""
    scene_words: set[str] = field(default_factory=set)
    """Folded names that the user gave in character."""


def read_parts(lines: Sequence[Utterance]) -> list[MessageParts]:
    """Return the parts of every message, in the order of `lines`.

    Only the user's messages decide whether a scene is played. If in doubt, a statement of everyday life is plain and a
    sentence that only fits a story is in character.
    """
    return [joined(found) for found in read_pieces(lines)]


def read_pieces(lines: Sequence[Utterance]) -> list[list[DialoguePiece]]:
    """Return the classified sentences and actions of every message, in the order of `lines`; corrections are applied to the
    text.
    """
    counts = [len(WORD.findall(line.text[:MOST_READ])) for line in lines if line.role is Role.USER]
    reading = _Reading(usual=int(median(counts)) if counts else 0)
    pieces = [_read(line, reading) for line in lines]
    _correct_details(lines, pieces)
    return pieces


def _correct_details(lines: Sequence[Utterance], pieces: Sequence[Sequence[DialoguePiece]]) -> None:
    """Apply corrections in later user messages to the sentence that first stated the detail."""
    said: list[DialoguePiece] = []
    for line, found in zip(lines, pieces, strict=True):
        if line.role is Role.USER:
            for old, new in detail_corrections(line.text[:MOST_READ]):
                place = nearest(line.text[:MOST_READ], [piece.text for piece in reversed(said[-MOST_BACK:])], old)
                if place is not None:
                    piece = said[-1 - place]
                    piece.text = corrected(piece.text, old, new) or piece.text
            if _correct_day(line.text[:MOST_READ], said):
                _drop_announced(found)
            said += [piece for piece in found if piece.meaning is SentenceMeaning.PLAIN]


def joined(pieces: Sequence[DialoguePiece]) -> MessageParts:
    """Join the pieces of one message by their meaning."""
    return MessageParts(_joined(pieces, SentenceMeaning.PLAIN), _joined(pieces, SentenceMeaning.IN_CHARACTER))


def _correct_day(message: str, said: Sequence[DialoguePiece]) -> bool:
    """Apply a day correction such as “no wait, the play's on the 11th” to the earlier sentences about the same subject.

    Return whether any sentence was corrected.
    """
    return bool(announced_detail(message)) and any(_puts_day_right(message, one) for one in reversed(said[-3 * MOST_BACK :]))


def _drop_announced(pieces: Sequence[DialoguePiece]) -> None:
    """Drop the sentences of a message that only announce the corrected day of an earlier sentence."""
    for piece in pieces:
        if announced_detail(piece.text):
            piece.meaning = SentenceMeaning.DROPPED


def _puts_day_right(message: str, piece: DialoguePiece) -> bool:
    """Replace the day of an earlier sentence if the message announces a new one for it; return whether it was replaced."""
    new = announced_detail(message)
    words = {word for word in content_words(message) if word.isalpha()} - content_words("no wait wrong read letter got")
    old = detail_of_kind(piece.text, new, words) if new else ""
    if old:
        piece.text = corrected(piece.text, old, new) or piece.text
    return bool(old)


def _read(line: Utterance, reading: _Reading) -> list[DialoguePiece]:
    before = reading.before
    if before is not None and line.time - before.time > PAUSE:
        reading.scene, reading.character_asked = _Scene.NONE, False
    is_user = line.role is Role.USER
    text = own_words(line.text[:MOST_READ], reading.usual, was_announced=is_user and reading.text_announced)
    if is_user:
        reading.text_announced = announces_text(line.text)
    pieces = list(_of_user(plain(text), reading) if is_user else _of_persona(plain(text), reading))
    if is_user:
        _drop_dream(pieces, reading)
        _set_game_apart(pieces)
    asked = before.text if before is not None and before.name != line.name else ""
    if _take_back(pieces, reading.own.get(line.name, []), asked) and is_user and reading.scene is _Scene.LOOSE:
        reading.scene = _Scene.NONE  # what looked played was the joke, what follows is meant
        pieces = list(_of_user(plain(text), reading))
        _take_back(pieces, [], asked)
    reading.own[line.name] = pieces
    reading.before = line
    return pieces


def _set_game_apart(pieces: Sequence[DialoguePiece]) -> None:
    """Mark sentences after the name of a game in the same message as in character: “Stardew. Year 6, wife called Abigail.”"""
    plays = False
    for piece in pieces:
        if plays and piece.meaning is SentenceMeaning.PLAIN:
            piece.meaning = SentenceMeaning.IN_CHARACTER
        plays = plays or unreal_statements.names_game(piece.text)


def _drop_dream(pieces: Sequence[DialoguePiece], reading: _Reading) -> None:
    """Drop the sentences that narrate a dream, from its announcement to the first sentence about something else."""
    dreams = reading.dream_announced
    for piece in pieces:
        if unreal_statements.is_of_dream(piece.text):
            dreams = True
        elif dreams and unreal_statements.may_be_dreamt(piece.text):
            piece.meaning = SentenceMeaning.DROPPED
        else:
            dreams = False
    reading.dream_announced = dreams


def _of_persona(text: str, reading: _Reading) -> Iterator[DialoguePiece]:
    """Yield the pieces of a persona's message; they are plain unless the user plays a scene or asked for another character."""
    played = reading.scene is not _Scene.NONE or reading.character_asked
    for part in parts(text):
        for sentence in split_sentences(part.text):
            meaning = SentenceMeaning.IN_CHARACTER if played or part.narrates else SentenceMeaning.PLAIN
            yield DialoguePiece(
                sentence, SentenceMeaning.DROPPED if unreal_statements.is_of_model(sentence) else meaning, part.narrates
            )


def _of_user(text: str, reading: _Reading) -> Iterator[DialoguePiece]:
    text = _EMOTE.sub(r"*\g<act>*", text)
    asides = [found["double"] or found["marked"] or found["line"] for found in _OUT_OF_CHARACTER.finditer(text)]
    rest = _OUT_OF_CHARACTER.sub("\n", text)
    before, declaration, rest = scene_setting.cut_declaration(rest)
    if declaration:
        yield from _of_speech(before, reading)
        reading.scene = _Scene.LOOSE if scene_setting.keeps_own_life(declaration) else _Scene.DECLARED
        reading.quiet = 0
    elif any(found["double"] or found["marked"] for found in _OUT_OF_CHARACTER.finditer(text)) and rest.strip():
        reading.scene, reading.quiet = _Scene.DECLARED, 0  # who marks what is out of character plays the rest
    else:
        _move_scene(rest, reading)
    if reading.scene is not _Scene.NONE:
        asides += [found["inside"] for found in _BRACKETED.finditer(rest)]
        rest = _BRACKETED.sub("\n", rest)
    yield from _of_speech(rest, reading)
    for aside in asides:
        for sentence in split_sentences(aside):
            yield DialoguePiece(sentence, _own(sentence))


def _move_scene(text: str, reading: _Reading) -> None:
    """Continue, end or begin an undeclared scene according to the user's current message."""
    found = parts(text)
    said = [sentence for part in found if not part.narrates for sentence in split_sentences(part.text)]
    acted = any(part.narrates for part in found)
    lives = sum(map(character_speech.tells_life, said))
    turns = reading.scene is _Scene.LOOSE or lives > 0
    if not acted and any(scene_setting.ends_scene(sentence, may_turn=turns) for sentence in said):
        reading.scene, reading.quiet, reading.character_asked = _Scene.NONE, 0, False
        return
    if scene_setting.asks_for_character(text):
        reading.character_asked = True
    if reading.scene is _Scene.DECLARED:
        return
    played = sum(map(character_speech.plays, said))
    may_begin = acted or played > 1 or reading.scene is _Scene.LOOSE or reading.hints > 0
    reading.hints = HINTED if played else max(0, reading.hints - 1)
    if (played and may_begin) or any(map(_is_played, found)):
        narrated = any(part.narrates and _NARRATED.match(part.text) for part in found)
        reading.narrated = narrated or (reading.narrated and reading.scene is _Scene.LOOSE)
        reading.scene, reading.quiet = _Scene.LOOSE, 0
    elif reading.scene is _Scene.LOOSE and not acted:
        reading.quiet += 1 + lives
        if reading.quiet >= QUIET:
            reading.scene = _Scene.NONE


def _is_played(part: MessagePart) -> bool:
    """Return whether a part is an action in the third person or with fantastic content, or prose that does not report what
    others said.
    """
    if not part.narrates:
        return False
    if is_prose(part.text):
        return not _is_report(part.text)
    own = _OWN_ACT.search(part.text) or _NARRATED.match(part.text)
    return bool(own) or character_speech.plays(part.text)


def _is_report(prose: str) -> bool:
    """Return whether prose only reports what others said; roleplay prose begins with speech or has no first person in the
    narration.
    """
    around = _SPEECH.sub(" ", prose)
    is_own = bool(re.search(r"\b(?:I|I'm|I've|I'd|im|me|my|mine|we|our|us)\b", around, re.IGNORECASE))
    is_amid_own = bool(_SPEECH.search(prose)) and prose.lstrip()[:1] not in {'"', "“", "«"}
    return is_own and (is_amid_own or bool(_REPORTED.search(around)))


def _of_speech(text: str, reading: _Reading) -> Iterator[DialoguePiece]:
    """Yield the sentences and actions of a user's message without its marked asides."""
    found = parts(text)
    told = [part for part in found if part.narrates and (reading.scene is not _Scene.NONE or not _is_report(part.text))]
    actions = sum(len(WORD.findall(part.text)) for part in told)
    acted = actions >= LONG_ACTION and 3 * actions >= len(WORD.findall(text))
    before, in_role = "", False
    for part in found:
        addressed = bool(_ADDRESSES.search(before) or _IN_VOICE.search(before))
        before = part.text if part in told else ""
        if part in told:
            in_role = in_role or bool(_COURTLY.search(text))
            yield from (_of_narration(text, part.text, reading) for text in split_sentences(part.text))
            continue
        quoted = actions > 0 and bool(_QUOTES.search(part.text)) and not _is_anothers(part.text)
        is_anothers = bool(_TAGGED.search(part.text))
        said = beside_speech.by_quotes(part.text) if quoted else [(_unquoted(part.text), False)]
        for own, is_speech in said:
            for sentence in split_sentences(own):
                if ((addressed or in_role) and not scene_setting.is_aside(sentence)) or (is_anothers and is_speech):
                    yield _in_character(sentence, reading)
                else:
                    yield _of_sentence(sentence, reading, acted=acted, quoted=is_speech)


def _of_narration(sentence: str, narration: str, reading: _Reading) -> DialoguePiece:
    if own := beside_speech.own_behind(sentence, narration, frozenset(reading.scene_words)):
        return DialoguePiece(own, _own(own))
    return _in_character(sentence, reading, narrates=True)


def _of_sentence(sentence: str, reading: _Reading, *, acted: bool, quoted: bool) -> DialoguePiece:
    if unreal_statements.is_of_game(sentence):
        return DialoguePiece(sentence, SentenceMeaning.IN_CHARACTER)
    if reading.scene is _Scene.DECLARED:
        return DialoguePiece(sentence, _own(sentence)) if scene_setting.is_aside(sentence) else _in_character(sentence, reading)
    if character_speech.plays(sentence, in_scene=reading.scene is not _Scene.NONE):
        return _in_character(sentence, reading)
    if reading.scene is _Scene.NONE and not (acted or quoted):
        return DialoguePiece(sentence, _own(sentence))
    if reading.scene is _Scene.LOOSE and reading.narrated and quoted:
        return _in_character(sentence, reading)
    tells = character_speech.tells_life(sentence, frozenset(reading.scene_words), quoted=quoted)
    tells = tells or scene_setting.is_aside(sentence)
    if not quoted and reading.scene is _Scene.NONE:
        tells = tells or character_speech.tells_of_self(sentence)
    return DialoguePiece(sentence, _own(sentence)) if tells else _in_character(sentence, reading)


def _in_character(text: str, reading: _Reading, *, narrates: bool = False) -> DialoguePiece:
    names = re.findall(r"(?<=[a-z,] )[A-Z][a-zà-ÿ]{2,}", text)
    reading.scene_words |= {fold(name) for name in names} - STOP_WORDS
    return DialoguePiece(text, SentenceMeaning.IN_CHARACTER, narrates)


def _own(sentence: str) -> SentenceMeaning:
    """Return PLAIN for a sentence by the user as themselves, DROPPED if it is hypothetical or ends as a joke."""
    unreal = unreal_statements.is_hypothetical(sentence) or is_taken_back(sentence)
    return SentenceMeaning.DROPPED if unreal else SentenceMeaning.PLAIN


def _is_anothers(text: str) -> bool:
    """Return whether a quotation in the text is attributed to somebody else."""
    return any(_ANOTHERS.search(text[: found.start()]) for found in _SPEECH.finditer(text))


def _unquoted(text: str) -> str:
    whole = _WHOLLY_QUOTED.match(text)
    return whole["said"] if whole and character_speech.tells_of_self(whole["said"]) else without_quotations(text)


def _take_back(pieces: list[DialoguePiece], before: list[DialoguePiece], asked: str) -> bool:
    """Drop the sentences that a retraction cancels and apply its corrections; return whether there was a retraction."""
    found = False
    for place, piece in enumerate(pieces):
        stated = _last_statement(pieces[:place])
        if piece.meaning is SentenceMeaning.DROPPED or not retracts(piece.text, follows_own=stated is not None, asked=asked):
            continue
        # “Did I tell you I'm a prince? Kidding.” retracts only the question in the same message, nothing in the one before.
        says_it_here = any(len(one.text.split()) > LONG_ACTION for one in pieces[:place])
        taken = stated or (None if says_it_here else _last_statement(before))
        if stated is None and taken is not None and corrects_another(piece.text, taken.text):
            continue
        if taken is not None and _puts_day_right(piece.text, taken):
            piece.meaning = SentenceMeaning.DROPPED
            found = True
        elif taken is not None:
            piece.text, piece.meaning = stated_instead(piece.text, taken.text), SentenceMeaning.PLAIN
            taken.meaning = SentenceMeaning.DROPPED
            found = True
    return found


def _last_statement(pieces: Sequence[DialoguePiece]) -> DialoguePiece | None:
    told = (piece for piece in reversed(pieces) if piece.meaning is not SentenceMeaning.DROPPED)
    return next(
        (piece for piece in told if not piece.text.rstrip("\"”’') ").endswith("?") and len(piece.text.split()) > 2), None
    )


def _joined(pieces: Sequence[DialoguePiece], meaning: SentenceMeaning) -> str:
    """Join the pieces of one meaning, with a line break after a piece without an end mark."""
    text = ""
    for piece in pieces:
        if piece.meaning is meaning and (bare := piece.text.strip()):
            ended = text.rstrip("\"”’')")[-1:] in ".!?…。！？"
            text += bare if not text else f"{' ' if ended else chr(10)}{bare}"
    return text
