"""Note of a hidden message about a web look-up, from which its sources are shown."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from lethe_app.domain.chat import Message
from lethe_app.domain.web import WebHit

NOTE_PREFIX = "search"
"""Prefix of the note of a hidden message about a look-up; topic and sources follow as JSON."""
_NOTE = TypeAdapter(tuple[str, list[tuple[str, str]]])


@dataclass(frozen=True)
class WebLookup:
    """Look-up before a reply, with its sources; without sources nothing was found."""

    topic: str
    sources: tuple[WebHit, ...] = ()


def build_note(lookup: WebLookup) -> str:
    """Return the note of a hidden message about a look-up."""
    sources = [(hit.title, hit.address) for hit in lookup.sources]
    return f"{NOTE_PREFIX} {json.dumps([lookup.topic, sources], ensure_ascii=False)}"


def parse_note(message: Message) -> WebLookup | None:
    """Parse the note of a hidden message; None if it does not belong to a look-up."""
    kind, _, payload = message.note.partition(" ")
    if not message.hidden or kind != NOTE_PREFIX:
        return None
    try:
        topic, sources = _NOTE.validate_json(payload)
    except ValidationError:
        return None
    return WebLookup(topic, tuple(WebHit(title, address) for title, address in sources))
