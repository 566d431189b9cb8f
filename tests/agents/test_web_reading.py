"""Many pages, little room: what is shown to the model never outgrows it, and a shut gate ends everything."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.agents.web_reading import MergedPages, ReadingRequest, ReadPage, WebReader, fit_pages, join_site_names
from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.llm_schemas.web import MergedPagesAnswer
from lethe_app.domain.web import PageText, WebHit
from lethe_app.errors import (
    LetheError,
    ModelCrashed,
    ModelError,
    NotAllowed,
    PageUnreadable,
    SearchFailed,
    StorageError,
    WebError,
)
from lethe_app.prompt.untrusted_text import UntrustedTextQuoter
from tests.sweep import examples

FRAME = Path(__file__).parent.parent.parent / "resources" / "prompts" / "quoted.md"
WORDS = "The keeper of the lighthouse wrote down every ship that passed. "


class Net:
    """Every query leads to the same hits; what a page says is its text, or why it cannot be read."""

    def __init__(self, hits: Sequence[WebHit], pages: dict[str, str | LetheError]) -> None:
        self.hits, self.pages, self.is_open = hits, pages, True
        self.read_addresses: list[str] = []
        self.troubles: list[WebError] = []

    def check_allowed(self) -> None:
        if not self.is_open:
            raise NotAllowed("It is shut.")

    async def search(self, query: str, why: str, count: int = 0) -> list[WebHit]:
        self.check_allowed()
        if self.troubles:
            raise self.troubles.pop(0)
        return list(self.hits)

    async def read(self, address: str, why: str, max_tokens: int = 0) -> PageText:
        self.read_addresses.append(address)
        await asyncio.sleep(0)
        said = self.pages.get(address, PageUnreadable("There is no such page."))
        if isinstance(said, LetheError):
            raise said
        return PageText(address, "", said)


class ScriptedModel:
    """Counts words, and answers what it is told to."""

    def __init__(self, *answers: str | ModelError, room: int = 2000) -> None:
        self.answers, self.space, self.asked = list(answers), room, list[dict[str, str]]()

    async def ask(self, task_prompt: str, answer: type, **values: str):  # type: ignore[no-untyped-def]
        self.asked.append(values)
        said = self.answers.pop(0)
        if isinstance(said, ModelError):
            raise said
        return answer.parse(said)

    async def free_tokens(self, task_prompt: str, answer: type[LlmAnswer], **values: str) -> int:
        return self.space

    async def count(self, texts: list[str]) -> list[int]:
        return [len(text.split()) for text in texts]


async def quoter() -> UntrustedTextQuoter:
    return UntrustedTextQuoter(FRAME, [])


def reader(net: Net) -> WebReader:
    return WebReader(net, quoter, ScriptedModel().count)


def page(number: int, words: int, description: str = "About keepers.") -> ReadPage:
    text = " ".join(f"{WORDS}".split() * (words // 11 + 1))
    return ReadPage(WebHit(f"Page {number}", f"https://{number}.example/", description), text if words else "")


@settings(max_examples=examples(40))
@given(st.lists(st.integers(0, 4000), max_size=12), st.integers(0, 3000))
def test_all_pages_together_never_have_more_than_the_room(lengths: list[int], room: int):
    async def run() -> tuple[list[PageText], int]:
        made, tasks_model = await quoter(), ScriptedModel()
        found = await fit_pages([page(number, length) for number, length in enumerate(lengths)], room, made, tasks_model)
        return found, (await tasks_model.count([made.quote_pages(found)]))[0] if found else 0

    found, tokens = asyncio.run(run())

    assert tokens <= room
    if room >= 100 and lengths:
        assert found[0].address == "https://0.example/"


async def test_a_long_page_leaves_room_for_the_others():
    found = await fit_pages([page(number, 3000) for number in range(3)], 1200, await quoter(), ScriptedModel())

    assert [one.address for one in found] == [f"https://{number}.example/" for number in range(3)]
    assert all(one.is_cut and len(one.text.split()) > 150 for one in found)


async def test_each_page_is_read_once_and_a_short_or_unreadable_one_keeps_its_description():
    hits = [
        WebHit("A", "https://a.example/x", "Of A."),
        WebHit("A again", "http://www.a.example/x/#top"),
        WebHit("B", "https://b.example"),
    ]
    net = Net(hits, {"https://a.example/x": WORDS * 20, "https://b.example": "Menu."})
    web_reader = reader(net)

    pages = await web_reader.search_and_read(["one", "two"], "why")

    assert net.read_addresses == ["https://a.example/x", "https://b.example"]
    assert [bool(one.text) for one in pages] == [True, False]
    assert pages[0].whole_text.text.startswith("Of A.\n\nThe keeper")


async def test_a_short_page_is_kept_on_demand_if_it_says_more_than_its_description():
    hits = [WebHit("A", "https://a.example/", "Of A."), WebHit("B", "https://b.example/", "All about the keepers.")]
    net = Net(hits, {"https://a.example/": WORDS, "https://b.example/": "Menu."})

    pages = await reader(net).read_hits(hits, "why", keep_short=True)

    assert [one.text for one in pages] == [WORDS, ""]


async def test_an_error_of_ours_while_pages_are_read_is_raised_as_it_is():
    net = Net([WebHit("A", "https://a.example/")], {"https://a.example/": StorageError("The disk is full.")})

    with pytest.raises(StorageError, match="full"):
        await reader(net).search_and_read(["one"], "why")


async def test_one_query_that_fails_harms_nothing_and_all_of_them_are_a_failure():
    net = Net([WebHit("A", "https://a.example/", "Of A.")], {})
    net.troubles = [SearchFailed("It is busy.")]
    assert len(await reader(net).search_and_read(["one", "two"], "why")) == 1

    net.troubles = [SearchFailed("It is busy."), SearchFailed("It is still busy.")]
    with pytest.raises(SearchFailed, match="still"):
        await reader(net).search_and_read(["one", "two"], "why")


async def test_a_gate_that_is_shut_while_pages_are_read_ends_it():
    net = Net([WebHit("A", "https://a.example/")], {"https://a.example/": NotAllowed("It is shut.")})
    web_reader = reader(net)

    async def shut() -> None:
        net.is_open = False

    with pytest.raises(NotAllowed):
        await asyncio.gather(web_reader.search_and_read(["one"], "why"), shut())


async def test_what_the_model_reads_is_quoted_and_names_its_source():
    tasks_model = ScriptedModel('{"paragraphs": ["The keeper wrote down every ship."]}')

    merge = await reader(Net([], {})).merge_pages(ReadingRequest("Mira", "keepers"), [page(1, 200)], tasks_model)

    shown = tasks_model.asked[0]["pages"]
    assert "Quoted from 1.example. Strangers wrote it." in shown
    assert all(line.startswith((">", "Quoted", "[quote", "[end")) for line in shown.splitlines() if line)
    assert merge.text == "The keeper wrote down every ship."
    assert merge.content == "The keeper wrote down every ship.\n\nRead at 1.example."


async def test_an_unusable_answer_ends_in_quotations_and_a_dead_model_in_its_error():
    web_reader, pages = reader(Net([], {})), [page(1, 200)]

    merge = await web_reader.merge_pages(
        ReadingRequest("Mira", "keepers of the lighthouse"), pages, ScriptedModel(ModelError("Nothing usable."))
    )
    assert merge.plain_text.startswith("On 1.example it says: “The keeper of the lighthouse wrote down every ship that passed.")
    with pytest.raises(ModelCrashed):
        await web_reader.merge_pages(ReadingRequest("Mira", "keepers"), pages, ScriptedModel(ModelCrashed("It died.")))


async def test_where_somebody_waits_less_is_read():
    tasks_model = ScriptedModel('{"paragraphs": ["The keeper wrote down every ship."]}')

    await reader(Net([], {})).merge_pages(ReadingRequest("Mira", "keepers"), [page(1, 3000), page(2, 3000)], tasks_model, 400)

    assert len(tasks_model.asked[0]["pages"].split()) <= 400


async def test_without_pages_and_without_room_nothing_is_made_up():
    web_reader = reader(Net([], {}))

    assert await web_reader.merge_pages(ReadingRequest("Mira", "keepers"), [], ScriptedModel()) == MergedPages()
    assert (
        await web_reader.merge_pages(ReadingRequest("Mira", "the moon"), [page(1, 200)], ScriptedModel(room=5))
    ).content == ""
    assert MergedPagesAnswer.max_tokens == 1024


def test_sites_are_named_once():
    found = [WebHit("", address) for address in ("https://www.a.org/x", "http://a.org/y", "https://b.org", "https://c.org")]

    assert join_site_names(found) == "a.org, b.org and c.org"
    assert join_site_names(found[:2]) == "a.org"
    assert join_site_names([]) == "no page"
