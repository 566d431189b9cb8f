"""Kind and unkind phrases in a message, by word lists for each language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lethe_app.brain.vocabulary.common_words import read_lists
from lethe_app.brain.vocabulary.normalize import normalize_text
from lethe_app.searchable_text import SPACELESS

NEGATION_WORDS = 3
"""Number of words before a phrase in which a negation reverses it: “not a very good girl”."""
MAX_CHARACTERS = 8000
"""Number of characters of a message that are examined."""
NEGATION_CHARACTERS = 80
"""Number of characters before a phrase in which negations are searched."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True)
class SentimentPhrases:
    """Phrases that are matched as whole words, and negations that reverse a phrase after them."""

    phrases: tuple[str, ...] = ()
    negations: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        # The dataclass is frozen; as no field, the pattern takes no part in comparison and hash.
        object.__setattr__(self, "_found", _compile_pattern(self.phrases))

    def find(self, text: str) -> str:
        """Return the first phrase in a text that is not reversed, or an empty string."""
        found: re.Pattern[str] | None = getattr(self, "_found", None)
        if found is None:
            return ""
        plain = _normalize(text[:MAX_CHARACTERS])
        hits = (
            hit
            for hit in found.finditer(plain)
            if not self._is_negated(plain[max(0, hit.start() - NEGATION_CHARACTERS) : hit.start()])
        )
        return next((hit[0] for hit in hits), "")

    def _is_negated(self, before: str) -> bool:
        clause = re.split(r"[.!?,;:…]", before)[-1]
        return not self.negations.isdisjoint(_WORD.findall(clause)[-NEGATION_WORDS:])


def parse_phrases(texts: Iterable[str]) -> SentimentPhrases:
    """Parse hand-written lists: one phrase per line, `- ` before a negation, `#` before a comment."""
    phrases, negations = dict[str, None](), set[str]()
    for line in (line.strip() for text in texts for line in text.splitlines()):
        if not line or line.startswith("#"):
            continue
        if line.startswith("- "):
            negations.add(_normalize(line[2:]).strip())
        else:
            phrases[" ".join(_normalize(line).split())] = None
    return SentimentPhrases(tuple(phrases), frozenset(negations))


def load_phrases(folders: Sequence[Path], name: str) -> SentimentPhrases:
    """Read all lists with that name prefix in these folders, such as `praise.en.txt`; unreadable files are skipped."""
    return parse_phrases(read_lists(folders, name))


def _normalize(text: str) -> str:
    return normalize_text(text, keep_case=False)


def _compile_pattern(phrases: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern of whole words, longest phrase first, with any white space between; scripts without spaces have no
    word edges.
    """
    spelled = [
        (r"\s+".join(map(re.escape, one.split())), one) for one in sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    ]
    words = [pattern for pattern, one in spelled if not SPACELESS.search(one)]
    others = [pattern for pattern, one in spelled if SPACELESS.search(one)]
    parts = [rf"(?<![^\W_])(?:{'|'.join(words)})(?![^\W_])"] if words else []
    return re.compile("|".join([*parts, *others])) if spelled else None
