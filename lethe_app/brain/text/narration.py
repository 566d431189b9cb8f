"""Parts of a message that narrate actions, told apart from speech: asterisks, and prose as in a novel."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lethe_app.searchable_text import WORD

_ACTION = re.compile(r"\*([^*\n]{1,1000})\*")
_SPEECH = re.compile(r"[\"“«][^\"“”«»\n]{1,1000}[,.!?…–—-][\"”»]")
"""Quoted speech with its punctuation inside the quotes, which a title or an ironic word does not have."""
_THIRD_PERSON = re.compile(r"\b(?:he|she|they|his|her|hers|their)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|my)\b")
_VERB = re.compile(r"(?!yes\b|always\b|this\b)[a-z]{3,}s")


@dataclass(frozen=True, slots=True)
class MessagePart:
    """Part of a message that is either narration or speech."""

    text: str
    narrates: bool


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
    return bool(_THIRD_PERSON.search(around)) or (text.lstrip()[0] in '"“«' and bool(_FIRST_PERSON.search(around)))


def _is_lone_action(text: str, action: re.Match[str]) -> bool:
    """Return whether a single word such as *smiles* is an action (at the edge of a sentence) and not emphasis (within one)."""
    before, after = text[: action.start()].rstrip(" \t")[-1:], text[action.end() : action.end() + 20].lstrip(" \t")[:1]
    if not text[: action.start()].strip() and _VERB.fullmatch(action[1]):
        return True
    return (not before or before in '\n.!?…"”') and (not after or after.isupper() or after in '\n"“*')
