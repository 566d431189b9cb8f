"""Subjects of sentences by word lists, which give a notebook its title and decide what belongs in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from lethe_app.brain.notebooks.document import Notebook
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.vocabulary.common_words import read_lists
from lethe_app.language_tables import lazy_words
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS
from lethe_app.searchable_text import fold, split_words

UNSUITABLE_TITLE_WORDS = lazy_words("no_notebook_titles")
"""Words that occur in nearly every fact and are therefore not used as titles."""
MIN_TITLE_SHARE = 2 / 3
"""Minimum share of texts for a title made of two subjects or a person."""
MAX_DENIED_SHARE = 1 / 6
"""Maximum share of texts that are about something else than the title says."""


@dataclass(frozen=True)
class SubjectStems:
    """Subjects with the stems of their words."""

    stems_by_subject: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def subjects_in(self, text: str) -> frozenset[str]:
        """Return all subjects that a word of the text belongs to."""
        words = content_words(text)
        return frozenset(title for title, roots in self.stems_by_subject.items() if words & roots)

    def count_subjects(self, text_subjects: Iterable[frozenset[str]]) -> Counter[str]:
        """Count in how many texts each subject occurs; equal counts keep the order of the word list."""
        each = list(text_subjects)
        return Counter({title: count for title in self.stems_by_subject if (count := sum(title in one for one in each))})

    def most_common_subject(self, texts: Sequence[str]) -> tuple[str, int]:
        """Return the most frequent subject of the texts and its count; ("", 0) if there is none or a tie."""
        counts = self.count_subjects(map(self.subjects_in, texts)).most_common(2)
        if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
            return "", 0
        return counts[0]

    def subjects_of_notebook(self, notebook: Notebook) -> frozenset[str]:
        """Return the subjects of a notebook: those of its title, otherwise the one of at least half of its lines."""
        named = next((title for title in self.stems_by_subject if title.casefold() == notebook.title.casefold()), "")
        if named or (title_subjects := self.subjects_in(notebook.title)):
            return frozenset({named}) if named else title_subjects
        title, count = self.most_common_subject([line.text for line in notebook.lines])
        return frozenset({title}) if title and 2 * count >= len(notebook.lines) else frozenset()

    def can_belong(self, text: str, notebook: Notebook) -> bool:
        """Return whether a text may be added to a notebook; it may not if all its subjects differ from the notebook's."""
        text_subjects, notebook_subjects = self.subjects_in(text), self.subjects_of_notebook(notebook)
        return (
            not text_subjects
            or not notebook_subjects
            or bool(text_subjects & notebook_subjects)
            or bool(content_words(text) & content_words(notebook.title))
        )

    def build_title(self, texts: Sequence[str], names: Collection[str]) -> str:
        """Return a title of one or two words for the texts, or an empty string; `names` are those of the speakers."""
        word, texts_with_word = _most_shared_word(texts, names)
        subject, texts_with_subject = self.most_common_subject(texts)
        min_count = max(2, ceil(len(texts) / 2))
        is_word_fit = texts_with_word >= min_count and self._suits(
            texts, lambda text: content_words(word) & content_words(text)
        )
        if is_word_fit and (texts_with_word == len(texts) or texts_with_word > texts_with_subject):
            return word
        if texts_with_subject >= min_count and self._suits(texts, lambda text: subject in self.subjects_in(text)):
            return subject
        return word if is_word_fit else self._two_subject_title(texts) or _person_title(texts, names)

    def _suits(self, texts: Sequence[str], is_covered: Callable[[str], object]) -> bool:
        """Return whether nearly all texts are covered by a title or have no subject that the title would deny."""
        denied_count = sum(bool(self.subjects_in(text)) and not is_covered(text) for text in texts)
        return denied_count <= MAX_DENIED_SHARE * len(texts)

    def _two_subject_title(self, texts: Sequence[str]) -> str:
        """Return a title of two subjects, such as “Family and work”, if they cover nearly all texts."""
        min_count = max(2, ceil(len(texts) / 4))
        counts = self.count_subjects(map(self.subjects_in, texts))
        best = [title for title, count in counts.most_common(2) if count >= min_count]
        covered = sum(bool(self.subjects_in(text) & set(best)) for text in texts)
        is_fit = covered >= MIN_TITLE_SHARE * len(texts) and self._suits(texts, lambda text: self.subjects_in(text) & set(best))
        return f"{best[0]} and {best[1].lower()}" if len(best) == 2 and is_fit else ""


def parse_subjects(texts: Iterable[str]) -> SubjectStems:
    """Parse hand-written lists of the form `Subject: words`; `#` begins a comment."""
    found: dict[str, set[str]] = {}
    for line in (line.strip() for text in texts for line in text.splitlines()):
        title, colon, words = line.partition(":")
        if colon and not line.startswith("#"):
            roots = content_words(" ".join(word for word in words.split() if "-" not in word))
            found.setdefault(" ".join(title.split()), set()).update(roots)
    return SubjectStems({title: frozenset(roots) for title, roots in found.items() if title})


def load_subjects(folders: Sequence[Path]) -> SubjectStems:
    """Read all lists in these folders, such as `subjects.en.txt`; unreadable files are skipped."""
    return parse_subjects(read_lists(folders, "subjects"))


def _most_shared_word(texts: Sequence[str], names: Collection[str]) -> tuple[str, int]:
    """Return the word that occurs in most texts, in its shortest spelling, and the number of these texts."""
    known = frozenset(root for name in names for root in content_words(name))
    unsuitable = EVERYDAY_WORDS | UNSUITABLE_TITLE_WORDS
    spelled: dict[str, str] = {}
    counts = Counter[str]()
    for text in texts:
        roots: set[str] = set()
        for word in split_words(text):
            (*found,) = content_words(word)
            if len(word) > 3 and found and found[0] not in known and fold(word) not in unsuitable:
                plain = word if len(word) < len(spelled.get(found[0], word + "x")) else spelled[found[0]]
                spelled[found[0]] = plain
                roots.add(found[0])
        counts.update(roots)
    best = max(counts, key=lambda root: (counts[root], -list(spelled).index(root)), default="")
    return (spelled[best][:1].upper() + spelled[best][1:], counts[best]) if best else ("", 0)


def _person_title(texts: Sequence[str], names: Collection[str]) -> str:
    """Return “About Tomas” if nearly all texts begin with that name."""
    for name in names:
        count = sum(re.match(rf"{re.escape(name)}\b", text) is not None for text in texts)
        if name and len(texts) > 1 and count >= MIN_TITLE_SHARE * len(texts):
            return f"About {name}"
    return ""
