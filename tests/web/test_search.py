"""Whoever is asked, the question is clean, the hits are plain, and trouble is told in a sentence with a remedy."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from types import ModuleType
from typing import Any

import pytest

from lethe_app.domain.web import WebHit
from lethe_app.errors import SearchFailed
from lethe_app.web import duckduckgo as duckduckgo_module
from lethe_app.web.duckduckgo import DuckDuckGo, search_with_ddgs
from lethe_app.web.http import ByteCounter, NetworkRoute
from lethe_app.web.search import clean_query, collect_hits
from lethe_app.web.search_engines import Brave, SearXNG
from tests.web.server import Reply, Site, moved, serving

HOME = NetworkRoute(allow_private=True)
HITS = [
    {"title": "One", "url": "https://one.example/a", "description": "The <strong>first</strong> &amp; best"},
    {"title": "Again", "url": "http://www.one.example/a/?utm_source=x", "description": ""},
    {"title": "Trap", "url": "javascript:alert(1)", "description": "x"},
    {"title": "Two\u202e\u200b", "url": "https://two.example/", "description": None},
    {"title": "Three", "url": "https://three.example/", "description": "third"},
]
PLAIN = [WebHit("One", "https://one.example/a", "The first & best"), WebHit("Two", "https://two.example/", "")]


def answer(value: object, **reply: Any) -> Reply:
    return Reply(json.dumps(value).encode(), **{"kind": "application/json", **reply})


@pytest.mark.parametrize(
    ("asked", "cleaned"),
    [
        ("What is a sheepshank?!", "What is a sheepshank"),
        ('site:example.com -inurl:x "exact" (a OR b)', "site example.com inurl x exact a OR b"),
        ("don't stop, node.js & C++ or C#", "don't stop node.js C++ or C#"),
        ("well-known  \n fact\u200b\x00s", "well-known facts"),
        ("!g bang {braces} <b>bold</b>", "g bang braces b bold b"),
        ("灯台 と 船", "灯台 と 船"),
        ("über_alles", "über alles"),
    ],
)
def test_a_question_is_only_its_words(asked: str, cleaned: str):
    assert clean_query(asked) == cleaned


def test_a_question_is_no_longer_than_two_hundred_letters_and_ends_with_a_word():
    query = clean_query("lighthouse " * 50)

    assert len(query) <= 200
    assert query.split()[-1] == "lighthouse"
    assert len(clean_query("x" * 500)) == 200


@pytest.mark.parametrize("nothing", ["", "   ", "?!…", "\u200b", "--"])
def test_nothing_is_not_searched(nothing: str):
    with pytest.raises(SearchFailed, match="query is empty"):
        clean_query(nothing)


def test_hits_are_plain_bounded_and_none_comes_twice():
    hits = [(hit["title"], hit["url"], hit["description"] or "") for hit in HITS]

    assert collect_hits(hits, 2) == PLAIN
    assert [found.title for found in collect_hits(hits, 10)] == ["One", "Two", "Three"]
    assert len(collect_hits([("t" * 999, "https://a.example", "d" * 9999)], 1)[0].description) <= 600


# Brave


def test_an_engine_that_sends_megabytes_holds_nobody_up():
    began = time.process_time()
    (hit,) = collect_hits([("<a" * 900_000, "https://a.example/", "Wind " + "[a](" * 400_000)], 3)

    assert hit.description.startswith("Wind")
    assert time.process_time() - began < 0.5


async def test_brave_is_asked_with_the_key_and_nothing_else_of_the_user():
    counter = ByteCounter()
    async with serving(Site({"/res/v1/web/search": answer({"web": {"results": HITS}})})) as site:
        found = await Brave("secret", HOME, site.url, counter).search("light-house, keeper?", 2)

    assert found == PLAIN
    assert site.query_of("/res/v1/web/search") == {"q": "light-house keeper", "count": "2"}
    sent = site.headers_of("/res/v1/web/search")
    assert sent["x-subscription-token"] == "secret"
    assert not sent.keys() & {"cookie", "referer"}
    assert counter.received > 0


@pytest.mark.parametrize(
    ("reply", "reported"),
    [
        (answer({}, status=401), "key"),
        (answer({}, status=403), "key"),
        (answer({}, status=429), "too many requests"),
        (answer({}, status=500), "500"),
        (Reply(b"<html>", status=200), "unreadable response"),
        (answer({"web": {"results": "many"}}), "unreadable response"),
        (answer([1, 2]), "unreadable response"),
        (moved("http://127.0.0.1:1/"), "moved"),
        (Reply(raw=b"\x00"), "could not be reached"),
        (Reply(b"x", length=3_000_000), "too long"),
    ],
    ids=range(10),
)
async def test_braves_troubles_are_told(reply: Reply, reported: str):
    async with serving(Site({"/res/v1/web/search": reply})) as site:
        with pytest.raises(SearchFailed, match=reported):
            await Brave("secret", HOME, site.url).search("anything", 3)


async def test_the_key_goes_nowhere_else():
    async with serving(Site()) as thief, serving(Site({"/res/v1/web/search": moved(thief.url)})) as site:
        with pytest.raises(SearchFailed):
            await Brave("secret", HOME, site.url).search("anything", 3)

    assert not thief.asked


async def test_no_hits_are_no_failure():
    empty = {"/res/v1/web/search": answer({"type": "search"}), "/search": answer({"results": []})}
    async with serving(Site(empty)) as site:
        assert await Brave("secret", HOME, site.url).search("anything", 3) == []
        assert await SearXNG(site.url).search("anything", 3) == []


@pytest.mark.parametrize("key", ["", "   ", "ke\ny", "schlüssel"])
def test_without_a_usable_key_brave_is_not_asked(key: str):
    with pytest.raises(SearchFailed, match="key"):
        Brave(key)


# SearXNG


async def test_searxng_may_stand_at_home_since_the_user_named_it():
    hits = {"query": "x", "results": [{**hit, "content": hit["description"], "engine": "y"} for hit in HITS]}
    for address in ("{}", "{}/", "{}/search"):
        async with serving(Site({"/search": answer(hits)})) as site:
            engine = SearXNG(address.format(site.url))
            assert await engine.search("lighthouse", 2) == PLAIN
        assert site.query_of("/search") == {"q": "lighthouse", "format": "json"}
        assert engine.host == "127.0.0.1"


@pytest.mark.parametrize("reply", [Reply(b"Forbidden", status=403), Reply(b"<html>results</html>")], ids=["403", "html"])
async def test_a_searxng_without_json_says_what_to_switch_on(reply: Reply):
    async with serving(Site({"/search": reply})) as site:
        with pytest.raises(SearchFailed) as caught:
            await SearXNG(site.url).search("lighthouse", 3)

    assert "search.formats" in caught.value.remedy


@pytest.mark.parametrize("address", ["", "http://", "nonsense"])
def test_without_an_address_searxng_is_not_asked(address: str):
    with pytest.raises(SearchFailed, match="address"):
        SearXNG(address)


async def test_a_server_at_home_is_not_asked_through_the_proxy():
    async with serving(Site()) as proxy, serving(Site({"/search": answer({"results": []})})) as site:
        await SearXNG(site.url, NetworkRoute(proxy=proxy.url)).search("lighthouse", 3)

    assert not proxy.asked
    assert site.paths == ["/search"]


# DuckDuckGo, whose library is never run here


async def test_duckduckgo_is_asked_in_a_thread_with_the_clean_words():
    asked = list[tuple[str, int, str, str]]()

    def ask(words: str, count: int, proxy: str) -> list[dict[str, object]]:
        asked.append((words, count, proxy, threading.current_thread().name))
        return [{"title": hit["title"], "href": hit["url"], "body": hit["description"]} for hit in HITS] + [{"href": 7}]

    assert await DuckDuckGo("http://proxy:1", ask).search("light-house, keeper?", 2) == PLAIN
    assert asked == [("light-house keeper", 2, "http://proxy:1", "web")]


async def test_duckduckgo_may_be_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(duckduckgo_module, "SECONDS", 0)
    monkeypatch.setattr(duckduckgo_module, "GRACE_SECONDS", 0.02)
    free = threading.Event()

    def ask(_words: str, _count: int, _proxy: str) -> list[dict[str, object]]:
        free.wait()
        return []

    with pytest.raises(SearchFailed, match="did not respond in time"):
        await DuckDuckGo(search_library=ask).search("anything", 3)
    free.set()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch):
    """Sets what the library does when it is asked."""
    errors = ModuleType("ddgs.exceptions")
    kinds = {"DDGSException": Exception}
    for name in ("DDGSException", "RatelimitException", "TimeoutException"):
        kinds[name] = type(name, (kinds["DDGSException"],), {})
        setattr(errors, name, kinds[name])

    def put(outcome: object) -> dict[str, type[BaseException]]:
        def text(_self: object, *_asked: object, **_how: object) -> list[dict[str, str]]:
            if isinstance(outcome, str):
                raise kinds.get(outcome.partition(":")[0], ValueError)(outcome)
            return outcome  # type: ignore[return-value]

        module = ModuleType("ddgs")
        module.DDGS = type("DDGS", (), {"__init__": lambda self, **_how: None, "text": text})  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "ddgs", module)
        monkeypatch.setitem(sys.modules, "ddgs.exceptions", errors)
        return kinds

    return put


@pytest.mark.parametrize(
    ("trouble", "reported"),
    [
        ("RatelimitException", "too many requests"),
        ("TimeoutException", "did not respond in time"),
        ("DDGSException: engine broke", "could not be reached"),
        ("something nobody thought of", "unreadable response"),
    ],
)
async def test_the_librarys_troubles_are_told(library: Any, trouble: str, reported: str):
    library(trouble)

    with pytest.raises(SearchFailed, match=reported):
        await DuckDuckGo().search("anything", 3)


def test_no_proxy_of_the_environment_is_used_and_the_environment_is_left_as_it_was(
    library: Any, monkeypatch: pytest.MonkeyPatch
):
    library([])
    names = ("HTTPS_PROXY", "DDGS_PROXY", "PRIMP_PROXY", "NO_PROXY")
    for name in names[:3]:
        monkeypatch.setenv(name, "http://proxy.example:3128")
    monkeypatch.delenv("NO_PROXY", raising=False)
    before, seen = {name: os.environ.get(name) for name in names}, list[dict[str, str | None]]()
    inside, may_end = threading.Barrier(2), threading.Event()

    def text(_self: object, words: str, **_how: object) -> list[object]:
        inside.wait(5)
        if words == "slow":
            may_end.wait(5)
        seen.append({name: os.environ.get(name) for name in names[1:]})
        return []

    sys.modules["ddgs"].DDGS.text = text  # type: ignore[attr-defined]
    searching = [threading.Thread(target=search_with_ddgs, args=(words, 3, "")) for words in ("slow", "quick")]
    for one in searching:
        one.start()
    searching[1].join()
    may_end.set()
    searching[0].join()

    assert seen == [{"DDGS_PROXY": None, "PRIMP_PROXY": None, "NO_PROXY": "*"}] * 2
    assert {name: os.environ.get(name) for name in names} == before


def test_the_library_finding_nothing_is_no_failure(library: Any):
    library("DDGSException: No results found.")

    assert search_with_ddgs("anything", 3, "") == []
