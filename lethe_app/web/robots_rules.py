"""Parser of robots.txt according to RFC 9309: groups by user agent, patterns with * and $, the longest match wins."""

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
    """Rules of one site for one user agent."""

    patterns: tuple[tuple[str, bool], ...] = ()
    """Path patterns, each with whether it allows access."""
    delay: float = 0.0
    """Seconds between two visits; 0 if not specified."""

    def allows(self, path: str) -> bool:
        """Return whether a path with its query may be read. The longest matching pattern decides; among equally long ones,
        an allowing one.
        """
        there = _plain(path)
        fitting = [(len(pattern), allowed) for pattern, allowed in self.patterns if _fits(pattern, there)]
        return max(fitting, default=(0, True))[1]


def read(text: str, name: str) -> RobotsRules:
    """Return the rules for the user agent `name`, or those for * if there are none."""
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
    """Yield keys and values without comments and unknown keys. Empty lines do not separate groups."""
    for line in text.splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        if colon and (word := key.strip().lower()) in _KNOWN:
            yield word, value.strip()[:LONGEST_PATTERN]


def _product(value: str) -> str:
    """Return the product name of a user-agent value: `Lethe/1.0 (something)` is lethe."""
    found = _NAME.match(value.lower())
    return found[0] if found else "*" if value.startswith("*") else ""


def _plain(path: str) -> str:
    """Return a path in one canonical percent-encoding; the pattern characters * and $ stay as written."""
    if _ODD.search(path) is None:
        return path
    return "".join(part if part in {"*", "$"} else quote(unquote(part), safe=_SAFE) for part in re.split(r"([*$])", path))


def _fits(pattern: str, path: str) -> bool:
    """Return whether a pattern matches, in time bounded by the product of both lengths, however many * it contains."""
    is_whole = pattern.endswith("$")
    first, *parts = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    return _follow(parts, path, len(first), is_whole=is_whole)


def _follow(parts: Sequence[str], path: str, place: int, *, is_whole: bool) -> bool:
    """Return whether the parts occur one after the other from `place` on, with anything between them."""
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
