"""Pages are read as a considerate visitor would: rules asked first, one at a time, and never twice without need."""

from __future__ import annotations

import asyncio

import pytest

from lethe_app.domain.web import RequestPurpose
from lethe_app.errors import PageUnreadable
from lethe_app.web import pages as page_module
from lethe_app.web.http import ByteCounter, NetworkRoute
from lethe_app.web.pages import PageFetcher, WebClock
from tests.web.net import PUBLIC, Net, way
from tests.web.server import SENTENCE, Reply, Site, moved, page, serving

HOME = NetworkRoute(allow_private=True)
SHIP = "Read by a test."


class Watch:
    """A clock that goes only when somebody waits."""

    def __init__(self) -> None:
        self.moment, self.waited = 1000.0, list[float]()

    def clock(self) -> float:
        return self.moment

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.moment += seconds

    def times(self) -> WebClock:
        return WebClock(self.clock, self.sleep)


class Log:
    """What was told before it left."""

    def __init__(self) -> None:
        self.left: list[tuple[RequestPurpose, str]] = []

    async def __call__(self, purpose: RequestPurpose, _host: str, what: str, _meter: ByteCounter) -> None:
        self.left.append((purpose, what))


def robots(text: str, **reply: object) -> Reply:
    return Reply(text.encode(), kind="text/plain", **reply)  # type: ignore[arg-type]


async def test_a_page_is_read_and_everything_was_told():
    log = Log()
    async with serving(Site({"/a": Reply(page())})) as site:
        read = await PageFetcher(Watch().times()).read(f"{site.url}/a#part", HOME, log)

    assert read.title == "The lighthouse"
    assert SENTENCE.strip() in read.text
    assert read.address == f"{site.url}/a"
    assert log.left == [(RequestPurpose.ROBOTS, f"{site.url}/robots.txt"), (RequestPurpose.PAGE, f"{site.url}/a")]
    assert site.paths == ["/robots.txt", "/a"]


async def test_a_page_is_not_read_twice_until_it_may_have_changed():
    watch, log = Watch(), Log()
    pages = PageFetcher(watch.times(), cache_seconds=3600)
    async with serving(Site({"/a": Reply(page())})) as site:
        for spelling in ("/a", "/a/?utm_source=x", "/a#part"):
            await pages.read(site.url + spelling, HOME, log)
        assert site.paths.count("/a") == 1
        watch.moment += 3601
        await pages.read(f"{site.url}/a", HOME, log)
        assert site.paths.count("/a") == 2
        pages.clear_cache()
        await pages.read(f"{site.url}/a", HOME, log)

    assert site.paths.count("/a") == 3


async def test_the_memory_of_pages_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(page_module, "MAX_PAGES", 2)
    pages = PageFetcher(Watch().times())
    async with serving(Site({f"/{name}": Reply(page(name)) for name in "abc"})) as site:
        for name in "abca":
            await pages.read(f"{site.url}/{name}", HOME, Log())

    assert [path for path in site.paths if path != "/robots.txt"] == ["/a", "/b", "/c", "/a"]


async def test_between_two_visits_to_a_site_it_waits_also_when_asked_at_once():
    watch = Watch()
    pages = PageFetcher(watch.times())
    async with serving(Site({f"/{name}": Reply(page(name)) for name in "abc"})) as site:
        await pages.read(f"{site.url}/a", HOME, Log())
        await asyncio.gather(*(pages.read(f"{site.url}/{name}", HOME, Log()) for name in "bc"))

    assert watch.waited[0] == pytest.approx(1)
    assert watch.moment == pytest.approx(1002, abs=1.01)
    assert len(watch.waited) == 2


async def test_a_site_that_wants_more_time_gets_it():
    watch = Watch()
    pages = PageFetcher(watch.times())
    rules = robots("User-agent: *\nCrawl-delay: 4\n")
    async with serving(Site({"/robots.txt": rules, "/a": Reply(page()), "/b": Reply(page())})) as site:
        await pages.read(f"{site.url}/a", HOME, Log())
        await pages.read(f"{site.url}/b", HOME, Log())

    assert watch.waited == [4]
    assert site.paths.count("/robots.txt") == 1


# rules


@pytest.mark.parametrize(
    "rules",
    [
        "User-agent: *\nDisallow: /private\n",
        "User-agent: Lethe\nDisallow: /private\n",
        "\ufeffUser-agent: *\r\nDisallow: /private",
    ],
)
async def test_what_a_site_does_not_want_read_is_not_read(rules: str):
    pages = PageFetcher(Watch().times())
    async with serving(Site({"/robots.txt": robots(rules), "/private/a": Reply(page()), "/open": Reply(page())})) as site:
        with pytest.raises(PageUnreadable, match="does not allow programs"):
            await pages.read(f"{site.url}/private/a", HOME, Log())
        await pages.read(f"{site.url}/open", HOME, Log())

    assert site.paths == ["/robots.txt", "/open"]


async def test_rules_for_others_are_not_for_us():
    rules = robots("User-agent: Greedy\nDisallow: /\n")
    async with serving(Site({"/robots.txt": rules, "/a": Reply(page())})) as site:
        assert (await PageFetcher(Watch().times()).read(f"{site.url}/a", HOME, Log())).title


async def test_a_redirect_to_a_forbidden_address_is_not_followed():
    rules = robots("User-agent: *\nDisallow: /private\n")
    async with serving(Site({"/robots.txt": rules, "/a": moved("/private"), "/private": Reply(page())})) as site:
        with pytest.raises(PageUnreadable, match="does not allow programs"):
            await PageFetcher(Watch().times()).read(f"{site.url}/a", HOME, Log())

    assert "/private" not in site.paths


async def test_a_site_in_trouble_is_left_alone_for_a_while():
    watch = Watch()
    pages = PageFetcher(watch.times())
    site = Site({"/robots.txt": robots("", status=503), "/a": Reply(page())})
    async with serving(site):
        for _ in range(2):
            with pytest.raises(PageUnreadable, match="currently unavailable"):
                await pages.read(f"{site.url}/a", HOME, Log())
        assert site.paths == ["/robots.txt"]
        watch.moment += 121
        site.replies["/robots.txt"] = Reply(status=404)
        await pages.read(f"{site.url}/a", HOME, Log())

    assert site.paths == ["/robots.txt", "/robots.txt", "/a"]


@pytest.mark.parametrize(
    "rules",
    [
        Reply(status=404),
        Reply(status=403),
        Reply(b"<html>no rules</html>"),
        Reply(raw=b"nonsense\r\n\r\n"),
        robots("x" * 100, length=1000),
        robots("\x00\xff: \n:::\nDisallow\nUser-agent\n" * 10),
        moved("/robots.txt"),
    ],
    ids=["none", "forbidden", "html", "nonsense", "broken off", "garbage", "round and round"],
)
async def test_rules_that_cannot_be_read_allow_everything(rules: Reply):
    async with serving(Site({"/robots.txt": rules, "/a": Reply(page())})) as site:
        assert (await PageFetcher(Watch().times()).read(f"{site.url}/a", HOME, Log())).text


# what is no page


@pytest.mark.parametrize(
    ("reply", "reported"),
    [
        (Reply(status=404), "page not found"),
        (Reply(status=403), "access denied"),
        (Reply(status=500), "server error"),
        (Reply(b"\x89PNG", kind="image/png"), "image/png"),
        (Reply(b"%PDF", kind="application/pdf"), "application/pdf"),
        (Reply(b"{}", kind="application/json"), "application/json"),
        (Reply(b"\x00\x01\x02", kind=""), "did not send text"),
        (Reply(b"<html><body><img src=x></body></html>"), "no text"),
        (Reply(b""), "no text"),
    ],
    ids=range(9),
)
async def test_what_is_no_page_is_told_in_a_sentence(reply: Reply, reported: str):
    async with serving(Site({"/a": reply})) as site:
        with pytest.raises(PageUnreadable, match=reported):
            await PageFetcher(Watch().times()).read(f"{site.url}/a", HOME, Log())


async def test_a_page_of_a_wrong_alphabet_is_read_all_the_same():
    body = page(body="<p>" + "Der Käse war groß und süß. " * 20 + "</p>").decode().encode("cp1252")
    async with serving(Site({"/a": Reply(body, kind="text/html; charset=utf-8")})) as site:
        read = await PageFetcher(Watch().times()).read(f"{site.url}/a", HOME, Log())

    assert "Käse war groß und süß" in read.text


async def test_a_page_on_the_open_internet_that_moves_home_is_not_followed():
    async with serving(Site({"/a": moved("http://127.0.0.1/admin"), "/admin": Reply(page())})) as site:
        net, log = Net(site.port), Log()
        with pytest.raises(Exception, match="local address"):
            await PageFetcher(Watch().times()).read("http://open.example.com/a", way(net, open_example_com=[[PUBLIC]]), log)

    assert site.paths == ["/robots.txt", "/a"]
    assert all("127.0.0.1" not in what for _purpose, what in log.left)


async def test_a_site_is_asked_for_its_rules_once_however_many_of_its_pages_are_wanted_at_the_same_time():
    pages = PageFetcher(Watch().times())
    async with serving(Site({f"/{name}": Reply(page(name)) for name in "abcd"})) as site:
        await asyncio.gather(*(pages.read(f"{site.url}/{name}", HOME, Log()) for name in "abcd"))

    assert site.paths.count("/robots.txt") == 1


async def test_rules_are_taken_whatever_they_are_called_unless_they_are_a_page():
    rules = Reply(b"User-agent: *\nDisallow: /\n", kind="application/octet-stream")
    async with serving(Site({"/robots.txt": rules, "/a": Reply(page())})) as site:
        with pytest.raises(PageUnreadable, match="does not allow programs"):
            await PageFetcher(Watch().times()).read(f"{site.url}/a", HOME, Log())
