"""The gate: shut it lets nothing out, open it says what leaves before it leaves, and it can be shut at any moment."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from lethe_app.agents.web_reading import WebReader
from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.config.options import SearchProvider
from lethe_app.domain.clock import now, use_clock
from lethe_app.domain.web import OutgoingRequest, PageText, RequestPurpose, WebHit
from lethe_app.errors import NotAllowed, PageUnreadable, SearchFailed
from lethe_app.paths import Paths
from lethe_app.services.web import gate as surfing_module
from lethe_app.services.web.gate import WebGate, create_engine
from lethe_app.web.http import ByteCounter, NetworkRoute
from lethe_app.web.pages import PageFetcher, WebClock
from tests.web.net import PUBLIC, Net, way
from tests.web.server import SENTENCE, Reply, Site, page, serving

WHY = "Mira wanted to know more about lighthouses."
HITS = [
    {"title": "Keepers", "url": "http://one.example.com/keepers", "content": "About keepers."},
    {"title": "Gone", "url": "http://two.example.com/gone", "content": "Was about lamps."},
]


def standing(**replies: Reply) -> Site:
    """A search engine and two sites in one."""
    hits = Reply(json.dumps({"results": HITS}).encode(), kind="application/json")
    return Site({"/search": hits, "/keepers": Reply(page()), **{f"/{name}": reply for name, reply in replies.items()}})


async def look_up(services: AppServices, surfing: WebGate) -> list[PageText]:
    """What is read when somebody searches for the lighthouse."""
    reader = WebReader(surfing, services.untrusted_memories.build_quoter, services.token_counts.count)
    return [found.whole_text for found in await reader.search_and_read(["lighthouse"], WHY)]


class Engine:
    """Answers as it is told, or does not."""

    name, host = "Oracle", "oracle.example.com"

    def __init__(self, *found: WebHit, waits: asyncio.Event | None = None) -> None:
        self.asked, self._found, self._waits = list[str](), list(found), waits
        self.begun = asyncio.Event()

    async def search(self, query: str, count: int) -> list[WebHit]:
        self.asked.append(query)
        self.begun.set()
        if self._waits is not None:
            await self._waits.wait()
        return self._found[:count]


async def by_words(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


async def no_sleep(_seconds: float) -> None:
    await asyncio.sleep(0)


def gate(
    services: AppServices, site: Site | None = None, engine: Engine | None = None, *, knows_localhost: bool = False
) -> WebGate:
    """A gate of its own to a small internet that lies on this machine."""
    names = {"one_example_com": [[PUBLIC]], "two_example_com": [[PUBLIC]], "home_example_com": [["10.0.0.1"]]}
    out = way(Net(site.port if site else 1), **names)
    if knows_localhost:
        out = NetworkRoute(resolve=Local(out), net=out.net)
    engines = (lambda *_who: engine) if engine is not None else create_engine
    return WebGate(services.preferences, services.app_state, by_words, engines, PageFetcher(WebClock(sleep=no_sleep)), out)


@asynccontextmanager
async def opened(services: AppServices, site: Site) -> AsyncIterator[WebGate]:
    """The gate is open, and SearXNG is the site itself."""
    async with serving(site):
        settings = {"web_allowed": True, "web_provider": SearchProvider.SEARXNG}
        await services.preferences.set(**settings, web_searxng_url=f"http://localhost:{site.port}")
        surfing = gate(services, site, knows_localhost=True)
        try:
            yield surfing
        finally:
            await surfing.close()


class Local:
    """Knows localhost, besides the names of the small internet."""

    def __init__(self, names: NetworkRoute) -> None:
        self._resolve = names.resolve

    async def __call__(self, name: str) -> list[str]:
        return ["127.0.0.1"] if name == "localhost" else await self._resolve(name)


# shut


async def test_a_shut_gate_lets_nothing_out_and_looks_nothing_up(services: AppServices):
    engine = Engine()
    surfing = gate(services, engine=engine)
    reported = list[OutgoingRequest]()
    surfing.changed.add(reported.append)

    for requested in (surfing.search("x", WHY), surfing.read("http://one.example.com/", WHY)):
        with pytest.raises(NotAllowed) as caught:
            await requested
        assert caught.value.remedy
    assert not surfing.is_allowed
    assert not engine.asked
    assert not reported
    assert await surfing.list_requests() == []


def test_with_web_access_off_no_search_library_is_imported(tmp_path: Path):
    """In a process of its own, where nobody else has imported anything; `tests/fence` stands there too."""
    script = f"""
import asyncio, sys
from pathlib import Path
from tests.fence import LEFT, put_up
put_up()
from lethe_app.agents.web_reading import WebReader
from lethe_app.app import build
from lethe_app.errors import NotAllowed
from lethe_app.paths import Paths

async def main():
    house = await build(Paths.standard(Path({str(tmp_path)!r})), engine="echo")
    gate = house.web_gate
    for wish in (gate.search("x", "y"), gate.read("https://example.com/", "y")):
        try:
            await wish
            print("got through")
        except NotAllowed:
            pass
    await house.close()
    print(sorted({{"ddgs", "primp", "trafilatura", "lxml"}} & set(sys.modules)), LEFT)

asyncio.run(main())
"""
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False, timeout=600)

    assert done.stdout.strip() == "[] []", done.stderr


async def test_shutting_it_ends_what_is_under_way(services: AppServices):
    await services.preferences.set(web_allowed=True)
    waits = asyncio.Event()
    engine = Engine(waits=waits)
    surfing = gate(services, engine=engine)
    search = asyncio.ensure_future(surfing.search("lighthouse", WHY))
    await engine.begun.wait()

    await services.preferences.set(web_allowed=False)
    await services.preferences.set(font_size=20)

    with pytest.raises(NotAllowed, match="switched off"):
        await search
    assert [(one.is_under_way, bool(one.trouble)) for one in await surfing.list_requests()] == [(False, True)]
    assert not waits.is_set()


async def test_closing_waits_until_what_is_under_way_has_ended_and_is_written_down(services: AppServices):
    await services.preferences.set(web_allowed=True)
    engine = Engine(waits=asyncio.Event())
    surfing = gate(services, engine=engine)
    search = asyncio.ensure_future(surfing.search("lighthouse", WHY))
    await engine.begun.wait()

    await surfing.close()

    assert not (await surfing.list_requests())[0].is_under_way
    with pytest.raises(NotAllowed):
        await search


async def test_a_closed_gate_stays_closed(services: AppServices):
    await services.preferences.set(web_allowed=True)
    surfing = gate(services, engine=Engine())
    await surfing.close()

    with pytest.raises(NotAllowed):
        await surfing.search("x", WHY)


# open


async def test_a_search_is_told_and_on_disk_before_it_leaves_and_again_when_it_is_over(services: AppServices):
    await services.preferences.set(web_allowed=True)
    engine = Engine(WebHit("One", "https://one.example.com/"))
    surfing = gate(services, engine=engine)
    reported = list[tuple[OutgoingRequest, int]]()
    surfing.changed.add(lambda one: reported.append((one, len(engine.asked))))

    found = await surfing.search("What is a sheepshank?", WHY)

    assert [one.title for one in found] == ["One"]
    (before, asked_before), (after, _asked) = reported
    assert (before.purpose, before.to, before.host, before.what, before.why) == (
        RequestPurpose.SEARCH,
        "Oracle",
        "oracle.example.com",
        "What is a sheepshank",
        WHY,
    )
    assert asked_before == 0
    assert before.is_under_way
    assert not after.is_under_way
    assert engine.asked == ["What is a sheepshank"]
    assert [one.id for one in await surfing.list_requests()] == [before.id]


async def test_looking_up_reads_pages_and_makes_do_with_what_the_engine_says(services: AppServices):
    body = "".join(f"<p>Page {number}. {SENTENCE * 2}</p>" for number in range(4))
    async with opened(services, standing(keepers=Reply(page(body=body)))) as surfing:
        results = await look_up(services, surfing)
        left = await surfing.list_requests()

    read, described = results
    assert (read.title, described.title) == ("Keepers", "Gone")
    assert SENTENCE.strip() in read.text
    assert read.address == "http://one.example.com/keepers"
    assert (described.text, described.is_description) == ("Was about lamps.", True)
    assert sorted((one.purpose.value, one.host) for one in left) == [
        ("page", "one.example.com"),
        ("page", "two.example.com"),
        ("robots", "one.example.com"),
        ("robots", "two.example.com"),
        ("search", "localhost"),
    ]
    assert all(one.why == WHY and not one.is_under_way for one in left)
    assert next(one for one in left if one.host == "two.example.com" and one.purpose is RequestPurpose.PAGE).trouble
    assert next(one for one in left if one.host == "one.example.com" and one.purpose is RequestPurpose.PAGE).received >= len(
        page()
    )


async def test_a_long_page_is_cut_by_tokens(services: AppServices):
    async with opened(services, standing()) as surfing:
        read = await surfing.read("http://one.example.com/keepers", WHY, max_tokens=20)
        await services.preferences.set(web_page_tokens=20_000)
        whole = await surfing.read("http://one.example.com/keepers", WHY)

    assert len(read.text.split()) <= 20
    assert read.is_cut
    assert read.text.endswith(".")
    assert not whole.is_cut
    assert len(whole.text) > len(read.text)


async def test_a_page_at_home_is_read_only_where_that_is_allowed(services: AppServices):
    async with opened(services, standing()) as surfing:
        with pytest.raises(NotAllowed, match="local address"):
            await surfing.read("http://home.example.com/keepers", WHY)
        await services.preferences.set(web_private_addresses=True)
        assert (await surfing.read("http://home.example.com/keepers", WHY)).text


async def test_what_did_not_work_is_written_down_with_its_reason(services: AppServices):
    async with opened(services, standing(search=Reply(status=500))) as surfing:
        with pytest.raises(SearchFailed):
            await surfing.search("lighthouse", WHY)
        with pytest.raises(PageUnreadable):
            await surfing.read("http://two.example.com/gone", WHY)
        troubles = [one.trouble for one in await surfing.list_requests()]

    assert "page not found" in troubles[0]
    assert "500" in troubles[-1]


async def test_a_key_that_is_missing_is_told_and_nothing_leaves(services: AppServices):
    await services.preferences.set(web_allowed=True, web_provider=SearchProvider.BRAVE)
    surfing = gate(services)

    with pytest.raises(SearchFailed, match="key"):
        await surfing.search("lighthouse", WHY)
    assert await surfing.list_requests() == []


async def test_a_search_that_is_cancelled_is_not_left_open(services: AppServices):
    await services.preferences.set(web_allowed=True)
    engine = Engine(waits=asyncio.Event())
    surfing = gate(services, engine=engine)
    search = asyncio.ensure_future(surfing.search("lighthouse", WHY))
    await engine.begun.wait()
    search.cancel()

    with pytest.raises(asyncio.CancelledError):
        await search
    assert (await surfing.list_requests())[0].trouble == "stopped"


# the list


async def test_the_list_survives_and_what_was_under_way_has_ended(tmp_path: Path):
    home = Paths.standard(tmp_path / "home")
    services = await build(home, engine="echo")
    await services.preferences.set(web_allowed=True)
    surfing = gate(services, engine=Engine())
    await surfing.search("lighthouse", WHY)
    await surfing.log_request(OutgoingRequest(purpose=RequestPurpose.PAGE, to="x", host="x", what="http://x/", why=WHY))
    await services.close()

    again = await build(home, engine="echo")
    left = await again.web_gate.list_requests()
    await again.close()

    assert [(one.what, one.is_under_way) for one in left] == [("http://x/", False), ("lighthouse", False)]


async def test_the_list_and_its_days_are_bounded_and_can_be_forgotten(services: AppServices, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(surfing_module, "MAX_LOGGED_REQUESTS", 5)
    monkeypatch.setattr(surfing_module, "MAX_LOGGED_DAYS", 3)
    await services.preferences.set(web_allowed=True)
    surfing, day = gate(services, engine=Engine()), now()

    for passed in range(6):
        moment = day + timedelta(days=passed)
        with use_clock(lambda moment=moment: moment):  # type: ignore[misc]
            await surfing.search("one", WHY)
            await surfing.search("two", WHY)

    assert len(await surfing.list_requests()) == 5
    days = await surfing.daily_totals()
    assert [one.requests for one in days.values()] == [2, 2, 2]
    assert max(days) == datetime.date(day + timedelta(days=5)).isoformat()
    await surfing.clear_log()
    assert await surfing.list_requests() == []
    assert await surfing.daily_totals() == {}


async def test_bytes_are_counted_by_day(services: AppServices):
    async with opened(services, standing()) as surfing:
        await look_up(services, surfing)
        (day,) = (await surfing.daily_totals()).values()
        left = await surfing.list_requests()

    assert day.requests == len(left) == 5
    assert day.received == sum(one.received for one in left) > len(page())


async def test_a_damaged_list_begins_anew(services: AppServices):
    await services.app_state.set(surfing_module.SCOPE, surfing_module.LIST_KEY, [{"nonsense": 1}])

    assert await gate(services).list_requests() == []


@pytest.mark.parametrize(
    ("provider", "name"),
    [(SearchProvider.DUCKDUCKGO, "DuckDuckGo"), (SearchProvider.BRAVE, "Brave"), (SearchProvider.SEARXNG, "SearXNG")],
)
async def test_the_settings_choose_who_is_asked(services: AppServices, provider: SearchProvider, name: str):
    await services.preferences.set(web_provider=provider, web_brave_key="k", web_searxng_url="https://searx.example.com")

    assert create_engine(services.preferences.current, NetworkRoute(), ByteCounter()).name == name
