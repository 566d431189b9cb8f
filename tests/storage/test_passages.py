"""Passages, their words and their vectors change together or not at all, whatever is written in them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.storage import passages as module
from lethe_app.storage.database import Database
from lethe_app.storage.passages import Passages, Vectors

WHEN = datetime(2026, 5, 9, 20, 0, tzinfo=UTC)


def passage(
    text: str, *, owner: str = "mara", source: UUID | None = None, origin: UUID | None = None, number: int = 0
) -> Passage:
    source = source or uuid4()
    return Passage(PassageKind.FACT, owner, source, origin or source, text, text, WHEN, "Mara", 3, number)


async def numbers_with(passages: Passages, word: str) -> list[int]:
    return sorted(set((await passages.occurrences([word])).passage))


async def test_a_passage_comes_back_as_it_was(database: Database):
    passages = Passages(database)
    given_passage = passage("Zoë keeps 3 goats. 🐐 \x00 日本語")

    (number,) = await passages.add([given_passage])

    stored = (await passages.read([number]))[number]
    assert stored == Passage(**{**vars(given_passage), "number": number})
    assert await passages.of(given_passage.source) == [stored]


async def test_words_are_found_in_all_forms_with_their_places(database: Database):
    passages = Passages(database)
    one, two = await passages.add([passage("She was running home."), passage("Homes of runners run down.")])

    found = await passages.occurrences(["run", "HOME", "nowhere"])

    places = sorted(zip(found.word, found.passage, found.offset, strict=True))
    assert places == [(0, one, 2), (0, two, 3), (1, one, 3), (1, two, 0)]


async def test_a_changed_passage_loses_its_old_words_and_its_vectors(database: Database):
    passages = Passages(database)
    (number,) = await passages.add([passage("She likes tea.")])
    await passages.set_vectors("minilm", [Vectors(number, b"\0" * 16, b"\1")])

    assert await passages.change(passage("She likes coffee.", number=number))

    assert await numbers_with(passages, "tea") == []
    assert await numbers_with(passages, "coffee") == [number]
    assert [left.number for left in await passages.without_vectors("minilm", 10)] == [number]
    assert await passages.is_whole()


async def test_changing_what_is_not_there_adds_nothing(database: Database):
    passages = Passages(database)

    assert not await passages.change(passage("Ghost.", number=7))

    assert await passages.read([7]) == {}
    assert await numbers_with(passages, "ghost") == []


async def test_what_came_from_a_session_or_a_message_goes_with_it(database: Database):
    passages = Passages(database)
    session, message = uuid4(), uuid4()
    first, second, third = await passages.add(
        [passage("goat one", source=session), passage("goat two", source=session, origin=message), passage("goat three")]
    )

    assert await passages.remove_of(origin=message) == [second]
    assert await passages.remove_of(source=session) == [first]
    assert await passages.remove_of(source=session) == []

    assert await numbers_with(passages, "goat") == [third]
    assert await passages.is_whole()


async def test_a_transaction_that_fails_leaves_words_and_texts_as_they_were(database: Database):
    passages = Passages(database)
    (number,) = await passages.add([passage("lighthouse")])

    with pytest.raises(Exception, match="UNIQUE"):
        await passages.add([passage("new goat"), passage("clash", number=number)])

    assert await numbers_with(passages, "goat") == []
    assert await numbers_with(passages, "lighthouse") == [number]
    assert await passages.is_whole()


async def test_vectors_belong_to_one_embedder(database: Database):
    passages = Passages(database)
    one, two = await passages.add([passage("one"), passage("two")])
    await passages.set_vectors("minilm", [Vectors(one, b"abcd", b"tok"), Vectors(999, b"lost")])

    assert [left.number for left in await passages.without_vectors("minilm", 10)] == [two]
    assert [left.number for left in await passages.without_vectors("other", 10)] == [two, one]
    assert await passages.token_vectors("minilm", [one, two]) == {one: b"tok"}
    assert await passages.token_vectors("other", [one, two]) == {}
    assert [(card.number, card.vector) for card in await passages.cards("mara", "minilm")] == [(one, b"abcd"), (two, b"")]
    assert [card.vector for card in await passages.cards("mara", "other")] == [b"", b""]


async def test_a_persona_has_only_its_own_cards(database: Database):
    passages = Passages(database)
    await passages.add([passage("hers"), passage("his", owner="tom")])

    assert len(await passages.cards("mara", "")) == 1
    assert await passages.cards("nobody", "") == []


async def test_a_word_that_stands_everywhere_is_left_out_beside_a_rare_one(database: Database, monkeypatch: pytest.MonkeyPatch):
    passages = Passages(database)
    monkeypatch.setattr(module, "MOST_PLACES", 2)
    numbers = await passages.add([passage("salt sea"), passage("salt"), passage("salt")])

    assert set((await passages.occurrences(["salt", "sea"])).passage) == {numbers[0]}
    assert set((await passages.occurrences(["salt"])).passage) == set(numbers)


HOSTILE = ['"', "NEAR(", "a AND b", "*", "\x00", "👩‍👧", "日本", "' OR 1=1 --", "", "\ud800", "col:word", "^x"]


@pytest.mark.parametrize("word", HOSTILE)
async def test_no_word_can_break_a_question(database: Database, word: str):
    passages = Passages(database)
    await passages.add([passage(word), passage("plain")])

    found = await passages.occurrences([word, "plain"])

    assert 1 in found.word
    assert await passages.is_whole()


def with_database(test: Callable[[Passages], Awaitable[None]]) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            database = await Database.open(Path(folder) / "lethe.sqlite3")
            try:
                await test(Passages(database))
            finally:
                await database.close()

    asyncio.run(run())


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["add", "change", "remove"]), st.integers(1, 6), st.sampled_from("abc"))))
def test_words_and_texts_agree_after_any_sequence(steps: list[tuple[str, int, str]]):
    async def run(passages: Passages) -> None:
        held: dict[int, str] = {}
        for deed, number, letter in steps:
            if deed == "add":
                held[(await passages.add([passage(f"word{letter}")]))[0]] = letter
            elif deed == "change" and await passages.change(passage(f"word{letter}", number=number)):
                held[number] = letter
            elif deed == "remove":
                assert await passages.remove([number]) == ([number] if held.pop(number, None) else [])
        for letter in "abc":
            assert await numbers_with(passages, f"word{letter}") == sorted(n for n, have in held.items() if have == letter)
        assert await passages.is_whole()

    with_database(run)
