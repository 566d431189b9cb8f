"""Subjects of sentences by word lists, which give a notebook its title and decide what belongs in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from lethe_app.brain.notebooks.document import Notebook
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.retrieval.query_terms import EVERYDAY, cut, fold

TELLING = frozenset(
    """
    loves hates owns likes prefers wants lives enjoys keeps uses makes takes love hate like prefer want live enjoy keep use make
    take feels thinks says plans works works called named always never often every today tomorrow yesterday week month year
    """.split()  # noqa: SIM905 - a list of fifty quoted words cannot be read
)
"""Words that occur in nearly every fact and are therefore not used as titles."""
MOSTLY = 2 / 3
"""Minimum share of texts for a title made of two subjects or a person."""


@dataclass(frozen=True)
class Matters:
    """Subjects with the stems of their words."""

    roots: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def subjects_in(self, text: str) -> frozenset[str]:
        """Return all subjects that a word of the text belongs to."""
        words = content_words(text)
        return frozenset(title for title, roots in self.roots.items() if words & roots)

    def tally(self, spoken: Iterable[frozenset[str]]) -> Counter[str]:
        """Count in how many texts each subject occurs; equal counts keep the order of the word list."""
        each = list(spoken)
        return Counter({title: count for title in self.roots if (count := sum(title in one for one in each))})

    def common(self, texts: Sequence[str]) -> tuple[str, int]:
        """Return the most frequent subject of the texts and its count; ("", 0) if there is none or a tie."""
        counts = self.tally(map(self.subjects_in, texts)).most_common(2)
        if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
            return "", 0
        return counts[0]

    def of_book(self, book: Notebook) -> frozenset[str]:
        """Return the subjects of a notebook: those of its title, otherwise the one of at least half of its lines."""
        named = next((title for title in self.roots if title.casefold() == book.title.casefold()), "")
        if named or (told := self.subjects_in(book.title)):
            return frozenset({named}) if named else told
        title, count = self.common([line.text for line in book.lines])
        return frozenset({title}) if title and 2 * count >= len(book.lines) else frozenset()

    def belongs(self, text: str, book: Notebook) -> bool:
        """Return whether a text may be added to a notebook; it may not if all its subjects differ from the notebook's."""
        said, about = self.subjects_in(text), self.of_book(book)
        return not said or not about or bool(said & about) or bool(content_words(text) & content_words(book.title))

    def title(self, texts: Sequence[str], names: Collection[str]) -> str:
        """Return a title of one or two words for the texts, or an empty string; `names` are those of the speakers."""
        word, shared = _shared(texts, names)
        subject, spoken = self.common(texts)
        enough = max(2, ceil(len(texts) / 2))
        if word and (shared == len(texts) > 1 or (shared >= enough and shared > spoken)):
            return word
        if subject and spoken >= enough:
            return subject
        return word if shared >= enough else self._both(texts) or _person(texts, names)

    def _both(self, texts: Sequence[str]) -> str:
        """Return a title of two subjects, such as “Family and work”, if they cover nearly all texts."""
        least = max(2, ceil(len(texts) / 4))
        counts = self.tally(map(self.subjects_in, texts))
        best = [title for title, count in counts.most_common(2) if count >= least]
        told = sum(bool(self.subjects_in(text) & set(best)) for text in texts)
        return f"{best[0]} and {best[1].lower()}" if len(best) == 2 and told >= MOSTLY * len(texts) else ""


def parse(texts: Iterable[str]) -> Matters:
    """Parse hand-written lists of the form `Subject: words`; `#` begins a comment."""
    found: dict[str, set[str]] = {}
    for line in (line.strip() for text in texts for line in text.splitlines()):
        title, colon, words = line.partition(":")
        if colon and not line.startswith("#"):
            roots = (root for word in words.split() if "-" not in word for root in content_words(word))
            found.setdefault(" ".join(title.split()), set()).update(roots)
    return Matters({title: frozenset(roots) for title, roots in found.items() if title})


def read(folders: Sequence[Path]) -> Matters:
    """Read all lists in these folders, such as `subjects.en.txt`; unreadable files are skipped."""
    texts: list[str] = []
    for path in sorted(path for folder in folders for path in folder.glob("subjects*.txt")):
        try:
            # A byte order mark, which some editors write, must not become part of the first title.
            texts.append(path.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError):
            continue
    return parse(texts)


def _shared(texts: Sequence[str], names: Collection[str]) -> tuple[str, int]:
    """Return the word that occurs in most texts, in its shortest spelling, and the number of these texts."""
    known = frozenset(root for name in names for root in content_words(name))
    spelled: dict[str, str] = {}
    counts = Counter[str]()
    for text in texts:
        roots: set[str] = set()
        for word in cut(text):
            (*found,) = content_words(word)
            if len(word) > 3 and found and found[0] not in known and fold(word) not in EVERYDAY | TELLING:
                plain = word if len(word) < len(spelled.get(found[0], word + "x")) else spelled[found[0]]
                spelled[found[0]] = plain
                roots.add(found[0])
        counts.update(roots)
    best = max(counts, key=lambda root: (counts[root], -list(spelled).index(root)), default="")
    return (spelled[best][:1].upper() + spelled[best][1:], counts[best]) if best else ("", 0)


def _person(texts: Sequence[str], names: Collection[str]) -> str:
    """Return “About Tomas” if nearly all texts begin with that name."""
    for name in names:
        begins = sum(re.match(rf"{re.escape(name)}\b", text) is not None for text in texts)
        if name and len(texts) > 1 and begins >= MOSTLY * len(texts):
            return f"About {name}"
    return ""
