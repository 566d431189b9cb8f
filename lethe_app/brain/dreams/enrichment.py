"""Enrichment of a memory that a tool saved: category, tags, keywords, and several entries where it says several things."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from lethe_app.brain.dreams.consolidation import normalize_category, normalize_tags
from lethe_app.brain.fact_guard.grounding import find_invented_words, is_grounded
from lethe_app.domain.memory import MemoryUnit
from lethe_app.searchable_text import WORD, fold

ENRICHMENT_KEY, PENDING = "enrichment", "pending"
"""Metadata of a memory that a tool saved and that is to be enriched."""
_CLAUSE_BREAK = re.compile(r"(?<=[.!?;])\s+|,?\s+(?:and|but|while|whereas|because|so)\s+", re.IGNORECASE)
MAX_TAGS, MAX_KEYWORDS = 5, 6


@dataclass(frozen=True)
class MemoryEntry:
    """One entry of an expanded memory."""

    text: str
    category: str = ""
    tags: Sequence[str] = ()
    keywords: Sequence[str] = ()


def is_pending(memory: MemoryUnit) -> bool:
    """Return whether a memory is to be enriched; not if the user made it their own."""
    return memory.metadata.get(ENRICHMENT_KEY) == PENDING and bool(memory.made_by) and not memory.protected


def without_mark(memory: MemoryUnit) -> MemoryUnit:
    """Return the memory without the mark that it is to be enriched."""
    metadata = {name: value for name, value in memory.metadata.items() if name != ENRICHMENT_KEY}
    return memory.model_copy(update={"metadata": metadata})


def enrich_by_rules(
    memory: MemoryUnit, topics: Iterable[str], subjects_in: Callable[[str], Collection[str]], names: Collection[str]
) -> MemoryUnit:
    """Return the memory with the first subject of its topics as category where it has none, its topics as tags, and the names
    among them as keywords.

    `topics` are the nouns and names in its text, `subjects_in` returns the subjects of a text, and `names` are those of the
    persona and the user, by which everything would be recalled.
    """
    own_topics = [topic for found in topics for topic in _split_topic(found) if not _is_name(topic, names)]
    category = next((min(found).lower() for topic in own_topics if (found := subjects_in(topic))), "")
    named = [topic for topic in own_topics if topic[:1].isupper()]
    return _add_labels(memory, category, own_topics[:MAX_TAGS], named)


def enrich_by_answer(memory: MemoryUnit, entries: Sequence[MemoryEntry], names: Collection[str]) -> list[MemoryUnit]:
    """Return the memory and those beside it that a model's entries make of it. If these are not faithful to it, its text stays
    and only the labels of all entries are added.
    """
    texts = [entry.text for entry in entries]
    if not is_faithful(texts, memory.content, names):
        category = next((entry.category for entry in entries if entry.category.strip()), "")
        tags, keywords = (
            [tag for entry in entries for tag in entry.tags],
            [word for entry in entries for word in entry.keywords],
        )
        return [_add_labels(memory, category, tags, _mentioned(keywords, memory.content, names))]
    found: list[MemoryUnit] = []
    for entry in entries:
        changes: dict[str, object] = (
            {"content": entry.text} if not found else {"content": entry.text, "guid": uuid4(), "name": ""}
        )
        part = MemoryUnit.model_validate({**memory.model_dump(), **changes})
        found.append(_add_labels(part, entry.category, entry.tags, _mentioned(entry.keywords, entry.text, names)))
    return found


def is_faithful(texts: Sequence[str], content: str, names: Collection[str]) -> bool:
    """Return whether the texts together say what a memory says, and nothing else: clause by clause, because one may be negated
    and the next not.
    """
    clauses = [clause.strip() for clause in _CLAUSE_BREAK.split(content) if clause.strip()]
    return (
        all(is_grounded(text, clauses, names) for text in texts)
        and all(is_grounded(clause, texts, names) for clause in clauses)
        and not find_invented_words(content, list(texts))
        and not find_invented_words(" ".join(texts), [content])
    )


def _split_topic(topic: str) -> list[str]:
    """Return the capitalised words of a topic, or its last two words if it has none."""
    words = [word.removesuffix("'s").removesuffix("’s") for word in topic.split()]
    named = [word for word in words if word[:1].isupper()]
    return named or [" ".join(words[-2:])]


def _add_labels(memory: MemoryUnit, category: str, tags: Iterable[str], keywords: Iterable[str]) -> MemoryUnit:
    """Return the memory with labels added to those it has; its own category stays."""
    return memory.model_copy(
        update={
            "filed_under": memory.filed_under or normalize_category(category),
            "tags": list(dict.fromkeys((*memory.tags, *normalize_tags(tags))))[:MAX_TAGS],
            "keywords_main": list(dict.fromkeys((*memory.keywords_main, *keywords)))[:MAX_KEYWORDS],
        }
    )


def _mentioned(keywords: Iterable[str], text: str, names: Collection[str]) -> list[str]:
    """Return the keywords whose words all occur in the text; a keyword that does not would recall the memory for nothing."""
    words = {fold(word) for word in WORD.findall(text)}
    return [
        keyword.strip()
        for keyword in keywords
        if keyword.strip() and not _is_name(keyword, names) and {fold(word) for word in WORD.findall(keyword)} <= words
    ]


def _is_name(text: str, names: Collection[str]) -> bool:
    own = {fold(word) for name in names for word in WORD.findall(name)} | {"user"}
    return {fold(word) for word in WORD.findall(text)} <= own
