"""Reads the rules of a robots.txt as RFC 9309 has them: groups that belong together, patterns with * and $, the longest one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

LONGEST_PATTERN = 1000
MOST_RULES = 20_000
_AGENT, _ALLOW, _DISALLOW, _DELAY = "user-agent", "allow", "disallow", "crawl-delay"
_KNOWN = {_AGENT, _ALLOW, _DISALLOW, _DELAY}
_NAME = re.compile(r"[a-z_-]+")
_SAFE = "/?&=:;,@!+()'~-._"
_ODD = re.compile(rf"[^\w*${re.escape(_SAFE)}]", re.ASCII)


@dataclass(frozen=True)
class RobotsRules:
    """What one site says to one visitor."""

    patterns: tuple[tuple[str, bool], ...] = ()
    """Each with whether it allows."""
    delay: float = 0.0
    """Seconds between two visits; 0 where nothing is said."""

    def allows(self, path: str) -> bool:
        """May this path, with its question, be read? Of the patterns that fit, the longest says; of two as long, the kinder."""
        there = _plain(path)
        fitting = [(len(pattern), allowed) for pattern, allowed in self.patterns if _fits(pattern, there)]
        return max(fitting, default=(0, True))[1]


def read(text: str, name: str) -> RobotsRules:
    """The rules for `name`: those that are addressed to it, or else those for everybody."""
    groups: dict[str, list[tuple[str, str]]] = {}
    agents: list[str] = []
    is_naming = False
    for key, value in _rows(text):
        if key == _AGENT:
            agents = [*(agents if is_naming else []), _product(value)]
            for agent in agents:
                groups.setdefault(agent, [])
        else:
            for agent in agents:
                groups[agent].append((key, value))
        is_naming = key == _AGENT
    rows = groups.get(name.lower(), groups.get("*", []))[:MOST_RULES]
    patterns = tuple((_plain(value), key == _ALLOW) for key, value in rows if key in {_ALLOW, _DISALLOW} and value)
    return RobotsRules(patterns, max((_seconds(value) for key, value in rows if key == _DELAY), default=0.0))


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Without comments, and without what nobody understands; empty lines mean nothing."""
    for line in text.splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        if colon and (word := key.strip().lower()) in _KNOWN:
            yield word, value.strip()[:LONGEST_PATTERN]


def _product(value: str) -> str:
    """`Lethe/1.0 (something)` is lethe."""
    found = _NAME.match(value.lower())
    return found[0] if found else "*" if value.startswith("*") else ""


def _plain(path: str) -> str:
    """The same for every spelling of a path; signs that mean something in a pattern stay as they are written."""
    if _ODD.search(path) is None:
        return path
    return "".join(part if part in {"*", "$"} else quote(unquote(part), safe=_SAFE) for part in re.split(r"([*$])", path))


def _fits(pattern: str, path: str) -> bool:
    """In time that grows with both lengths only, however many stars there are."""
    is_whole = pattern.endswith("$")
    first, *parts = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    return _follow(parts, path, len(first), is_whole=is_whole)


def _follow(parts: Sequence[str], path: str, place: int, *, is_whole: bool) -> bool:
    """Do these parts come one after the other from `place` on, with anything between them?"""
    for number, part in enumerate(parts, 1):
        if is_whole and number == len(parts):
            return len(path) - len(part) >= place and path.endswith(part)
        place = path.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return not is_whole or place == len(path)


def _seconds(value: str) -> float:
    try:
        wanted = float(value)
    except ValueError:
        return 0.0
    return wanted if 0 < wanted < float("inf") else 0.0
