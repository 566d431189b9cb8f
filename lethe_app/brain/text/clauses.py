"""Clauses of a sentence about the speaker: split at new subjects, without fillers, with the time moved to the end."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise

from lethe_app.brain.vocabulary.verbs import BASE_VERBS, VERBS_ALSO_NOUNS, is_adverb, is_past, third_person_form
from lethe_app.language_tables import table_pattern

_pattern = partial(table_pattern, "clauses")

_AND_VERB = re.compile(r"\s*,?\s+(?:and|but)\s+(?P<verb>[a-z']+)(?=\s)")
_THIRD = frozenset(map(third_person_form, BASE_VERBS))
_SELF_LIST = re.compile(r"I(?:'m| am) (?P<parts>[\w' -]+,(?: and)? (?:\d\d\b|from [A-Z]|an? [a-z]+).*)\Z")
_SELF_PART = re.compile(r"(?:\d\d\b|from [A-Z]|an? [a-z]+|(?:living|working|based) )")
"""Part of a list about the speaker: “I'm Tom, 34, from Leeds” states each of its parts."""


def extract_clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence that have a subject of their own, without fillers and end marks. A clause such as
    “and work …” gets its “I” back.
    """
    found: list[str] = []
    whole = _pattern("two_times").sub(lambda times: f"{times['first']}{times['second'] or ''} ", strip_fillers(sentence))
    for piece in _split_at_subjects(_pattern("aside").sub(",", whole)):
        if self_list := _SELF_LIST.match(strip_fillers(piece)):
            found += [
                f"I'm {part}" for part in re.split(r",(?: and)? | and (?=from )", self_list["parts"]) if _SELF_PART.match(part)
            ]
            continue
        whole = strip_fillers(_cut_at_other_subject(_pattern("fronted").sub(_move_time_to_end, strip_fillers(piece))))
        first = whole.split(" ", 1)[0]
        if first in {"I", "I'm", "I've"}:
            found += _split_compound(whole)
        elif whole:
            found.append(_remove_unrelated_tail(whole))
    return [clause for clause in found if clause]


def _move_time_to_end(match: re.Match[str]) -> str:
    """Move the time behind the clause, beside a second time if there is one, because a text behind it may be cut off later."""
    time = f" {match['time'][:1].lower()}{match['time'][1:]}"
    rest = match["rest"]
    second_time = _pattern("also_when").search(rest)
    position = second_time.start() if second_time else len(rest)
    return rest[:position] + time + rest[position:]


def _split_at_subjects(sentence: str) -> list[str]:
    """Split before every new subject. “and my cat” without a verb stays in its clause; “but moved” gets its “I” back."""
    boundaries = [
        (0, 0),
        *((found.start(), found.end()) for found in _pattern("clause_boundary").finditer(sentence)),
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
    piece = _pattern("time_first").sub("", piece)
    if re.fullmatch(r"[A-Z][a-z]+(?: [A-Z][a-z]+)?", piece):
        return True
    return piece.lower().startswith("my ") and not _has_verb(piece)


def _has_verb(text: str) -> bool:
    words = text.lower().split()[1:]
    return bool(_pattern("finite").search(text)) or any(word in _THIRD or word in BASE_VERBS or is_past(word) for word in words)


def strip_fillers(text: str) -> str:
    """Remove fillers at both ends of the text."""
    previous = ""
    stripped = text.strip(" \t,.!?;:-–—")
    while stripped and stripped != previous:
        previous = stripped
        stripped = _pattern("tail").sub("", _pattern("lead").sub("", stripped)).strip(" \t,.!?;:-–—'")
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
        is_other = bool(_pattern("finite").search(part)) and not part.startswith(("who", "where"))
        is_after_who = kept[-1].startswith("who ")  # “My aunt, who raised me, died”
        if not is_after_who and (is_other or not (is_named or is_listed or _pattern("continuation").match(part))):
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
        if found.start() > 4 and _pattern("finite").search(after) and not clause.lower().startswith("my "):
            return clause[: found.start()]
    return clause
