"""Half a year of talks between Robin and Mira, and what Robin asks about them on the evening of Friday, 20 November 2026.

Of a request, `wanted` are the talks it may bring, by the day on which they began; none means that there was no talk then.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

NOW = datetime(2026, 11, 20, 19, 30).astimezone()


@dataclass(frozen=True)
class Talk:
    """One conversation: the user's lines and the replies in turn."""

    began: str
    title: str
    lines: tuple[str, ...]

    @property
    def key(self) -> str:
        return self.began[:5]


@dataclass(frozen=True)
class Request:
    """What is asked, and the talks it is about."""

    kind: str
    text: str
    wanted: tuple[str, ...]


_DATA = json.loads(Path(__file__).with_name("half_year.json").read_text(encoding="utf-8"))
TALKS = [Talk(began, title, tuple(lines)) for began, title, *lines in _DATA["talks"]]
REQUESTS = [Request(kind, text, tuple(days.split())) for kind, requests in _DATA["requests"].items() for text, days in requests]
ORDINARY: list[str] = _DATA["ordinary"]
"""Messages that only mention a time."""
