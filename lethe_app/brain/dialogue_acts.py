"""Separates what a speaker states as themselves from what is said in character."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.brain.quotable import parts, plain
from lethe_app.brain.said import Said


@dataclass(frozen=True)
class MessageParts:
    """The text of one message, by how it is meant."""

    plain: str
    """What its speaker states as themselves; empty where there is nothing."""
    in_character: str
    """Actions and speech of a played scene."""


def read_parts(lines: Sequence[Said]) -> list[MessageParts]:
    """Return the parts of every message, in the order of `lines`."""
    return [_parts(line) for line in lines]


def _parts(line: Said) -> MessageParts:
    said = parts(plain(line.text))
    return MessageParts(
        " ".join(part.text for part in said if not part.narrates), " ".join(part.text for part in said if part.narrates)
    )
