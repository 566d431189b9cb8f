"""Is every word of the world's languages found where it stands?

One line in each of 35 languages and kinds of signs is stored, and its words are searched as people type them: as they stand, in
capitals, without accents, half-width, composed and decomposed. Of the `words`, `found` counts those for which the search shows
the line with a mark. Of the `recallable`, which are those but particles and emoji, `recalled` counts those by which a search of
the memory by words brings the conversation.
"""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

from lethe_app.composition.app_services import AppServices
from lethe_app.retrieval.query_terms import parse_query
from tests.bench._setup import PERSONAS, built
from tests.bench.report import Figures, Row, run
from tests.services.past_sessions import hold

PERSONA = "mira-test"
FILE = Path(__file__).with_name("search_languages.json")


def spellings(words: str) -> set[str]:
    """The words of one language, composed and decomposed."""
    return {unicodedata.normalize(form, word) for word in words.split() for form in ("NFC", "NFD")}


async def is_found(services: AppServices, word: str, line: str) -> bool:
    """Whether the search shows the line, with a mark."""
    hits = [hit async for some in services.search.search_by_words(word) for hit in some]
    return any(hit.marks and line in hit.text for hit in hits)


async def measure() -> tuple[list[Row], Figures]:
    """All words of all languages, with those not found."""
    lines: dict[str, tuple[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    counts = dict.fromkeys(("words", "found", "recallable", "recalled"), 0)
    async with built(personas=PERSONAS) as services:
        sessions = {language: (await hold(services, "Hello.", line)).guid for language, (line, _words) in lines.items()}
        await services.indexing.catch_up(limits=False)
        for language, (line, words) in lines.items():
            for word in sorted(spellings(words)):
                counts["words"] += 1
                counts["found"] += (found := await is_found(services, word, line))
                if not found:
                    print(f"  not found: {language} {word}")
                if parse_query(word).words:
                    counts["recallable"] += 1
                    recalled = await services.memory_lookup.search(PERSONA, word, 10)
                    if sessions[language] in {memory.memory for memory in recalled}:
                        counts["recalled"] += 1
                    else:
                        print(f"  not recalled: {language} {word}")
    return [("languages", len(lines))], {**counts, "found_percent": 100 * counts["found"] / counts["words"]}


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
