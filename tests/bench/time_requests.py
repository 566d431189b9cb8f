"""Do requests for a time bring the conversations of that time, and does nothing else?

Half a year of scripted talks is stored in a real house with the starter embedder, and asked about as people type. Of the
`requests`, `found` counts those whose conversation is among the first ten of a search, `first` those where it leads, `inserted`
those where it comes first in the prompt (or, where nobody talked then, the prompt says so), and `wrong_day` those where a
conversation of another time gets in. `quiet` is how many of the `ordinary` messages, which only mention a time, are not taken
for a request.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from uuid import UUID

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.clock import use_clock
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import RecalledMemory, RecallWay
from tests.bench._half_year import NOW, ORDINARY, REQUESTS, TALKS, Request
from tests.bench._setup import built
from tests.bench.report import Figures, Row, run
from tests.services.past_sessions import chats_of, hold

PERSONAS = {
    "mira-test": {"name": "Mira", "bio": "A friend."},
    "tomas": {"is_user": True, "name": "Robin", "bio": ""},
}
PERSONA = "mira-test"
SEARCHED = 10


async def remembered(services: AppServices) -> dict[UUID, str]:
    """Store the talks; the day of each by its id."""
    days: dict[UUID, str] = {}
    for talk in TALKS:
        began = datetime.fromisoformat(f"{NOW.year}-{talk.began}").astimezone()
        session = await hold(services, *talk.lines, at=began)
        await chats_of(services).change_session(session.guid, name=talk.title, archived=True)
        days[session.guid] = talk.key
    await services.indexing.catch_up(limits=False)
    return days


def of_talks(found: list[RecalledMemory], days: dict[UUID, str]) -> list[str]:
    """The days of the conversations among what was found."""
    return [days[one.memory] for one in found if one.category is MemoryType.CHAT_SESSION and one.memory in days]


async def measured(services: AppServices, days: dict[UUID, str], request: Request) -> tuple[Counter[str], list[str], str]:
    """What one request counts for, the days it brought into the prompt, and the remark."""
    search = of_talks(await services.memory_lookup.search(PERSONA, request.text, SEARCHED), days)
    memory = await services.memory_lookup.preview_recall(PERSONA, request.text)
    inserted, wanted = of_talks(memory.recalled, days), set(request.wanted)
    counts: Counter[str] = Counter()
    if wanted:
        counts["found"] = bool(wanted & set(search))
        counts["first"] = bool(search) and search[0] in wanted
        counts["inserted"] = bool(inserted) and inserted[0] in wanted
    else:
        counts["found"] = counts["first"] = not search
        counts["inserted"] = not inserted and memory.remark.startswith("There was no conversation")
    counts["wrong_day"] = bool(set(inserted) - wanted)
    return counts, inserted, memory.remark


async def measure() -> tuple[list[Row], Figures]:
    """All requests and all ordinary messages, with whatever went wrong."""
    with use_clock(lambda: NOW):
        async with built(personas=PERSONAS, by_meaning=True) as services:
            days = await remembered(services)
            figures: Counter[str] = Counter(requests=len(REQUESTS), ordinary=len(ORDINARY))
            kinds: Counter[str] = Counter()
            for request in REQUESTS:
                counts, inserted, remark = await measured(services, days, request)
                figures.update(counts)
                kinds[request.kind] += counts["inserted"]
                if not counts["inserted"] or counts["wrong_day"]:
                    print(f"  {request.text}  wanted {request.wanted}, got {inserted} {remark}")
            for text in ORDINARY:
                memory = await services.memory_lookup.preview_recall(PERSONA, text)
                quiet = not memory.remark and all(one.way is not RecallWay.TIME for one in memory.recalled)
                figures["quiet"] += quiet
                if not quiet:
                    print(f"  not a request: {text}")
            return [*kinds.items()], {key: float(value) for key, value in figures.items()}


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
