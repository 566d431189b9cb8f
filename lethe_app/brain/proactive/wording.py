"""Wording of the hidden line by which the model receives a waiting memory, placed above the user's message."""

from __future__ import annotations

from lethe_app.brain.recall.memory_text import one_line
from lethe_app.domain.memory import MemoryType, MemoryUnit

_OPENINGS = {
    MemoryType.GENERAL: "Something comes back to {name}",
    MemoryType.WORLD_INFO: "{name} remembers something about this world",
    MemoryType.WEB_SEARCH: "{name} has looked something up on the internet",
    MemoryType.CHAT_SESSION: "An earlier conversation comes back to {name}",
    MemoryType.JOURNAL: "{name} thinks of an entry in the journal",
    MemoryType.IMAGE: "{name} thinks of a picture",
    MemoryType.FILE: "{name} thinks of a document",
    MemoryType.LOCATION: "{name} thinks of a place",
    MemoryType.EVENT: "{name} thinks of something that happened",
    MemoryType.PERSON: "{name} thinks of someone",
    MemoryType.GOAL: "There is something {name} would like to achieve",
    MemoryType.REMINDER: "There is something {name} meant to mention",
}
_HINTS = {
    MemoryType.GOAL: "{name} can steer the conversation towards it, gently and only as far as it fits.",
    MemoryType.WEB_SEARCH: "When it fits, {name} can share what turned up, in {name}'s own words.",
    MemoryType.REMINDER: "{name} should find a natural moment in the reply to bring it up.",
}
_HINT = "When it fits, {name} can bring it up in the reply."


def build_hidden_line(memory: MemoryUnit, persona_name: str, *, tagged: bool, quoted: str = "") -> str:
    """Return the hidden line: an opening, the reason, the memory's content and a hint what to do with it. Macros stay
    unexpanded.

    `tagged` selects the form `<SystemEvent>[TYPE] - Topic: name.`, which models mistake less often for an utterance.
    `quoted` replaces the content where it was written by strangers.
    """
    opening = _tagged_opening(memory) if tagged else _sentence_opening(memory, persona_name)
    reason = one_line(memory.reason)
    hint = _insert_name(_HINTS.get(memory.category, _HINT), persona_name)
    lines = (opening, _end_sentence(f"Why it matters: {reason}") if reason else "", quoted or one_line(memory.content), hint)
    return "\n".join(filter(None, lines))


def _tagged_opening(memory: MemoryUnit) -> str:
    kind = memory.category.replace("_", " ").upper()
    topic = one_line(memory.name)
    return f"<SystemEvent>[{kind}] - Topic: {_end_sentence(topic)}" if topic else f"<SystemEvent>[{kind}]"


def _sentence_opening(memory: MemoryUnit, persona_name: str) -> str:
    opening = _insert_name(_OPENINGS[memory.category], persona_name)
    topic = one_line(memory.name)
    return _end_sentence(f"{opening}: {topic}" if topic else opening)


def _insert_name(sentence: str, persona_name: str) -> str:
    """Insert the persona's name. `str.format` is not used because the name may be a macro in braces."""
    return sentence.replace("{name}", persona_name)


def _end_sentence(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."
