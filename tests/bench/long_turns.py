"""Is a question found in a long message? Questions of conversations in the public LoCoMo format with a text of 80 to 160 words
of another conversation pasted before or behind them.

Ours is the search of a turn of the chat. The plain hybrid beside it embeds the whole message once, counts its words by BM25,
and adds the reciprocal ranks (k = 60) of the best passage of each session. Keys: `r5`, `r1`, `mrr` (percent) of both with the
question alone (`alone`), with the text before it (`after`) and behind it (`before`), and `brought_up`: the share of questions
of which a session with evidence is inserted into three slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import islice
from statistics import mean
from uuid import UUID

import numpy as np

from lethe_app.retrieval.embedding_geometry import Embed
from lethe_app.retrieval.features import Floats
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.ranking import SearchEvidence
from tests.bench._locomo_stories import ADVERSARIAL, Asked, Story
from tests.bench._setup import LOCOMO, on_locomo
from tests.bench.locomo import SLOTS, remembering, share
from tests.bench.report import run
from tests.retrieval.conftest import sure_hits

EVERY = 5
"""Of so many questions one is asked."""
MIN_QUESTION_CHARACTERS, MAX_QUESTION_CHARACTERS = 80, 160
"""Words of a pasted text."""
RECIPROCAL = 60
"""The constant of reciprocal rank fusion (Cormack et al. 2009)."""
FORMS = ("alone", "after", "before")


def pasted(sample: dict, number: int) -> str:
    """Return some lines that follow each other in a conversation, other ones for every number."""
    talk = sample["conversation"]
    sessions = [talk[key] for key in sorted(talk) if key.startswith("session_") and isinstance(talk[key], list) and talk[key]]
    lines = [turn["text"] for turn in sessions[number % len(sessions)]]
    words: list[str] = []
    for line in islice(lines, number % max(1, len(lines) // 2), None):
        if len(words) >= MIN_QUESTION_CHARACTERS:
            break
        words += line.split()
    return " ".join(words[:MAX_QUESTION_CHARACTERS])


def long_turn(question: str, text: str, form: str) -> str:
    """Return a question with a pasted text, as people send one."""
    if form == "after":
        return f"My friend sent me this today:\n{text}\nAnyway. {question}"
    return f"{question}\nBy the way, my friend sent me this today:\n{text}" if form == "before" else question


def hybrid(evidence: SearchEvidence) -> list[UUID]:
    """Return the sessions in the order of a plain hybrid search."""
    features = evidence.features
    score = sum(_reciprocal(_best(values, features.source)) for values in (features.cosine, features.bm25))
    order = (-np.asarray(score)).argsort(kind="stable")
    return [evidence.columns.sources[int(features.sources[place])] for place in order]


def _best(values: Floats, source: np.ndarray) -> Floats:
    best = np.full(int(source.max()) + 1, -np.inf, np.float32)
    np.maximum.at(best, source, values)
    return best


def _reciprocal(values: Floats) -> np.ndarray:
    ranks = np.empty(len(values), np.int64)
    ranks[(-values).argsort(kind="stable")] = np.arange(1, len(values) + 1)
    return 1 / (RECIPROCAL + ranks)


async def asked(recall: MemoryIndex, story: Story, one: Asked, text: str) -> dict[str, float]:
    """Return what came of one message, by our search and by the plain hybrid."""
    at = story.last + timedelta(days=1)
    found = await recall.search([story.name], text, limit=50, at=at)
    evidence = await recall.collect_evidence([story.name], text, at=at)
    assert evidence is not None, "there is always something to weigh"
    inserted = {hit.source for hit in sure_hits(found, SLOTS)}
    figures = {"brought_up": float(bool(one.sessions & inserted))}
    for name, ranked in (("ours", [hit.source for hit in found.hits]), ("hybrid", hybrid(evidence))):
        first = next((place for place, source in enumerate(ranked, 1) if source in one.sessions), 0)
        figures |= {f"{name}_r{count}": share(one.sessions, ranked[:count]) for count in (1, 5)}
        figures[f"{name}_mrr"] = 1 / first if first else 0.0
    return figures


async def measure(samples: Sequence[dict], embed: Embed, _wanted: object) -> dict[str, dict[str, float]]:
    """Return the figures of all conversations together, by form."""
    rows: dict[str, list[Mapping[str, float]]] = {form: [] for form in FORMS}
    async with remembering(samples, embed, own=False) as (recall, _passages, stories):
        for place, story in enumerate(stories):
            other = samples[(place + 1) % len(samples)]
            plain = [one for one in story.questions if one.category != ADVERSARIAL][::EVERY]
            for number, one in enumerate(plain):
                text = pasted(other, number)
                for form in FORMS:
                    rows[form].append(await asked(recall, story, one, long_turn(one.text, text, form)))
    return {
        form: {key: round(100 * mean(row[key] for row in few), 2) for key in few[0]} | {"questions": len(few)}
        for form, few in rows.items()
    }


if __name__ == "__main__":
    run(__doc__, on_locomo(measure), LOCOMO)
