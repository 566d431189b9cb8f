"""Hears kind and unkind words in a message, in every language somebody has written a list for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lethe_app.brain.vocabulary.normalize import fold
from lethe_app.retrieval.query_terms import SPACELESS

WITHIN = 3
"""Words before a phrase among which one can turn it round: “not a very good girl”."""
LONGEST = 8000
"""Characters of a message that are listened to."""
REACH = 80
"""Characters before a phrase in which these words are looked for."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True)
class SentimentPhrases:
    """Phrases that are looked for as whole words, and words that turn round what follows them."""

    phrases: tuple[str, ...] = ()
    turning: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "_found", _pattern(self.phrases))

    def find(self, text: str) -> str:
        """The first of them in a text, or nothing."""
        found: re.Pattern[str] | None = getattr(self, "_found", None)
        if found is None:
            return ""
        plain = _plain(text[:LONGEST])
        hits = (hit for hit in found.finditer(plain) if not self._is_turned(plain[max(0, hit.start() - REACH) : hit.start()]))
        return next((hit[0] for hit in hits), "")

    def _is_turned(self, before: str) -> bool:
        clause = re.split(r"[.!?,;:…]", before)[-1]
        return not self.turning.isdisjoint(_WORD.findall(clause)[-WITHIN:])


def parse(texts: Iterable[str]) -> SentimentPhrases:
    """From lists as they are written by hand: a phrase on each line, `- ` before words that turn it round, `#` for remarks."""
    phrases, turning = dict[str, None](), set[str]()
    for line in (line.strip() for text in texts for line in text.splitlines()):
        if not line or line.startswith("#"):
            continue
        if line.startswith("- "):
            turning.add(_plain(line[2:]).strip())
        else:
            phrases[" ".join(_plain(line).split())] = None
    return SentimentPhrases(tuple(phrases), frozenset(turning))


def read(folders: Sequence[Path], name: str) -> SentimentPhrases:
    """All lists of that name in these folders, such as `praise.en.txt` and `praise.de.txt`; what cannot be read is left out."""
    texts: list[str] = []
    for path in sorted(path for folder in folders for path in folder.glob(f"{name}*.txt")):
        try:
            texts.append(path.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError):
            continue
    return parse(texts)


def _plain(text: str) -> str:
    return fold(text, keep_case=False)


def _pattern(phrases: Sequence[str]) -> re.Pattern[str] | None:
    """Whole words, the longest phrase first, with any space between; scripts without spaces have no edges of words."""
    spelled = [
        (r"\s+".join(map(re.escape, one.split())), one) for one in sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    ]
    words = [pattern for pattern, one in spelled if not SPACELESS.search(one)]
    others = [pattern for pattern, one in spelled if SPACELESS.search(one)]
    parts = [rf"(?<![^\W_])(?:{'|'.join(words)})(?![^\W_])"] if words else []
    return re.compile("|".join([*parts, *others])) if spelled else None
