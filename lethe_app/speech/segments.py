"""Segments of a reply as they are spoken: text with its kind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SegmentKind(StrEnum):
    """What a segment is in a roleplay, which decides whether and by whom it is spoken."""

    SPEECH = "speech"
    """Text outside asterisks, spoken by the persona."""
    ACTION = "action"
    """Text of an action between asterisks, left out or spoken by the narrator."""


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """At most one sentence, without markup, on one line."""

    text: str
    kind: SegmentKind = SegmentKind.SPEECH
