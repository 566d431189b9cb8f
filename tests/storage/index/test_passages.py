"""Passages, their words and their vectors change together or not at all, whatever the text."""

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
from lethe_app.storage.database import Database
from lethe_app.storage.index import passages as module
from lethe_app.storage.index import term_positions as words
from lethe_app.storage.index.passages import Passages, PassageVector
from tests.storage.scenes import is_word_index_consistent, remove_passages, store_passages
from tests.sweep import examples

WHEN = datetime(2026, 5, 9, 20, 0, tzinfo=UTC)


def passage(
    text: str, *, owner: str = "mara", source: UUID | None = None, origin: UUID | None = None, number: int = 0
) -> Passage:
    source = source or uuid4()
    return Passage(PassageKind.FACT, owner, source, origin or source, text, text, WHEN, "Mara", 3, number)


DEBTS = "CREATE TABLE IF NOT EXISTS passage_debts (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT, id TEXT)"


async def numbers_with(passages: Passages, word: str) -> list[int]:
    return sorted(set((await passages.occurrences_up_to([word], 10_000)).passage))


async def test_a_passage_is_read_as_it_was_stored(database: Database):
    passages = Passages(database)
    given_passage = passage("Zoë keeps 3 goats. 🐐 \x00 日本語")

    (number,) = await store_passages(database, [given_passage])

    stored = (await passages.read([number]))[number]
    assert stored == Passage(**{**vars(given_passage), "number": number})


async def test_words_are_found_in_all_forms_with_their_positions(database: Database):
    passages = Passages(database)
    one, two = await store_passages(database, [passage("She was running home."), passage("Homes of runners run down.")])

    found = await passages.occurrences_up_to(["run", "HOME", "nowhere"], 10_000)

    places = sorted(zip(found.word, found.passage, found.offset, strict=True))
    assert places == [(0, one, 2), (0, two, 3), (1, one, 3), (1, two, 0)]


async def test_a_replaced_passage_loses_its_words_and_an_unchanged_one_keeps_number_and_vectors(database: Database):
    passages, message = Passages(database), uuid4()
    same, old = passage("She likes tea.", origin=message), passage("She likes cocoa.", origin=message)
    one, two = await store_passages(database, [same, old])
    await passages.set_vectors("minilm", [PassageVector(one, b"abcd"), PassageVector(two, b"abcd")])

    gone, numbers = await passages.replace([message], [passage("She likes coffee.", origin=message), same])

    assert gone == [two]
    assert numbers[1] == one
    assert await numbers_with(passages, "cocoa") == []
    assert await numbers_with(passages, "coffee") == [numbers[0]]
    assert await passages.vectors("minilm", [one, numbers[0]]) == {one: b"abcd"}
    assert await is_word_index_consistent(database)


async def test_replacing_twice_with_the_same_changes_nothing(database: Database):
    passages, message = Passages(database), uuid4()
    wanted = [passage("echo", origin=message), passage("echo", origin=message)]
    _gone, numbers = await passages.replace([message], wanted)

    assert await passages.replace([message], wanted) == ([], numbers)
    assert await passages.replace([], wanted) == ([], numbers), "also when only the passages name where they came from"
    assert await passages.replace([message], []) == (numbers, [])


async def test_queue_entries_are_deleted_with_the_replacement_of_their_passages(database: Database):
    passages, message = Passages(database), uuid4()
    await database.run(lambda connection: connection.execute(DEBTS) and None)
    owe = "INSERT INTO passage_debts (kind, id) VALUES ('message', '1'), ('message', '2'), ('fact', '3')"
    await database.run(lambda connection: connection.execute(owe) and None)

    _gone, (number,) = await passages.replace([message], [passage("settled", origin=message)], [1, 3])
    with pytest.raises(Exception, match="UNIQUE"):
        await passages.replace([], [passage("clash", number=number)], [2])

    left = await database.run(lambda connection: connection.execute("SELECT number FROM passage_debts").fetchall())
    assert left == [(2,)]
    assert await numbers_with(passages, "settled") == [1]


async def test_passages_are_removed_by_origin(database: Database):
    passages = Passages(database)
    session, message = uuid4(), uuid4()
    first, second, third = await store_passages(
        database,
        [passage("goat one", source=session), passage("goat two", source=session, origin=message), passage("goat three")],
    )

    assert await passages.replace([message], []) == ([second], [])
    assert await passages.replace([session], []) == ([first], [])
    assert await passages.replace([session, message], []) == ([], [])

    assert await numbers_with(passages, "goat") == [third]
    assert await passages.replace([], []) == ([], [])
    assert await is_word_index_consistent(database)


async def test_a_transaction_that_fails_leaves_words_and_texts_as_they_were(database: Database):
    passages = Passages(database)
    (number,) = await store_passages(database, [passage("lighthouse")])

    with pytest.raises(Exception, match="UNIQUE"):
        await store_passages(database, [passage("new goat"), passage("clash", number=number)])

    assert await numbers_with(passages, "goat") == []
    assert await numbers_with(passages, "lighthouse") == [number]
    assert await is_word_index_consistent(database)


async def test_vectors_belong_to_one_embedder(database: Database):
    passages = Passages(database)
    one, two = await store_passages(database, [passage("one"), passage("two")])
    await passages.set_vectors("minilm", [PassageVector(one, b"abcd", b"tok"), PassageVector(999, b"lost")])

    assert [left.number for left in await passages.passages_without_vectors("minilm", 10)] == [two]
    assert [left.number for left in await passages.passages_without_vectors("other", 10)] == [two, one]
    assert await passages.token_vectors("minilm", [one, two]) == {one: b"tok"}
    assert await passages.token_vectors("other", [one, two]) == {}
    assert await passages.vectors("minilm", [one, two]) == {one: b"abcd"}
    assert await passages.vectors("other", [one, two]) == {}
    assert await passages.numbers_with_vectors("minilm") == f"{one:016x}"
    assert (await passages.count_without_vectors("minilm"), await passages.count_without_vectors("other")) == (1, 2)


async def test_passages_without_a_vector_are_found_among_the_oldest_too(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "NEWEST_SEARCHED", 2)
    passages = Passages(database)
    numbers = await store_passages(database, [passage(f"text {place}") for place in range(6)])
    for seen in (numbers[4:], numbers[1:4]):
        await passages.set_vectors("minilm", [PassageVector(number, b"abcd") for number in seen])

    assert [left.number for left in await passages.passages_without_vectors("minilm", 10)] == numbers[:1]
    await passages.set_vectors("minilm", [PassageVector(numbers[0], b"abcd")])
    assert await passages.passages_without_vectors("minilm", 10) == []
    assert [left.number for left in await passages.passages_without_vectors("other", 10)] == [numbers[5], numbers[4]]


async def test_a_vector_is_not_given_to_another_passage_that_got_the_number_meanwhile(database: Database):
    passages = Passages(database)
    (number,) = await store_passages(database, [passage("tea")])
    embedded = (await passages.read([number]))[number]
    await remove_passages(database, [number])
    assert await store_passages(database, [passage("coffee")]) == [number]

    assert await passages.set_vectors("minilm", [PassageVector(number, b"abcd", embedded=embedded)]) == []

    assert await passages.count_without_vectors("minilm") == 1


async def test_encoded_rows_are_those_of_one_owner_by_number(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "ROWS_PER_QUERY", 2)
    passages = Passages(database)
    hers = [passage("one"), passage("two", origin=uuid4()), passage("three")]
    first, second, _his, third = await store_passages(database, [*hers[:2], passage("his", owner="tom"), hers[2]])

    sheet = await passages.encoded_rows("mara")

    lines = [
        f"{number:016x}{0:02x}{itself:02x}{WHEN.toordinal():08x}{length:08x}{one.source.hex}"
        for number, itself, length, one in ((first, 1, 3, hers[0]), (second, 0, 3, hers[1]))
    ]
    assert sheet == "".join(lines)
    assert (await passages.encoded_rows("mara", second))[:16] == f"{third:016x}"
    assert await passages.encoded_rows("mara", third) == await passages.encoded_rows("nobody") == ""


async def test_vectors_are_found_by_origin(database: Database):
    passages, origin = Passages(database), uuid4()
    one, two = await store_passages(database, [passage("one", origin=origin), passage("two")])
    await passages.set_vectors("minilm", [PassageVector(one, b"abcd"), PassageVector(two, b"efgh")])

    assert await passages.vectors_of_origins("minilm", [origin]) == [(one, origin, PassageKind.FACT, b"abcd")]
    assert await passages.vectors_of_origins("other", [origin]) == []


async def test_positions_are_read_only_where_they_are_few(database: Database):
    passages = Passages(database)
    await store_passages(database, [passage("salt and sea"), passage("salt")])

    assert await passages.occurrences_up_to(["salt", "sea"], 2) is None
    found = await passages.occurrences_up_to(["salt", "sea"], 3)
    assert found == await passages.occurrences_up_to(["salt", "sea"], 10_000)


async def test_details_are_words_and_vectors_of_these_passages_only(database: Database):
    passages = Passages(database)
    one, two, _three = await store_passages(database, [passage("salt and sea"), passage("sea"), passage("sea")])
    await passages.set_vectors("minilm", [PassageVector(one, b"abcd", b"tok")])

    closer = await passages.details_of("minilm", ["sea", "salts"], [one, two])

    found = closer.occurrences
    assert sorted(zip(found.word, found.passage, found.offset, strict=True)) == [(0, one, 2), (0, two, 0), (1, one, 0)]
    assert (closer.vectors, closer.tokens) == ({one: b"abcd"}, {one: b"tok"})
    assert (await passages.details_of("other", ["sea"], [one])).vectors == {}
    assert (await passages.details_of("minilm", ["sea"], [])).occurrences.word == []


async def test_of_common_words_only_the_newest_passages_are_listed(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(words, "PASSAGES_PER_WORD", 2)
    monkeypatch.setattr(words, "ADDITIONAL_PASSAGES", 3)
    passages = Passages(database)
    texts = ["salt sea", "salt sea", "salt sea", "salt", "salt", "salt fish"]
    await store_passages(database, [passage(text) for text in texts])

    listed = await passages.passages_of_terms(["salt", "fishes", "sea", "nowhere", '"'])

    assert listed.passages == ["6,5,4,3,2", "6", "3,2,1", "", ""]
    assert listed.complete == [False, True, True, True, True]


HOSTILE = ['"', "NEAR(", "a AND b", "*", "\x00", "👩‍👧", "日本", "' OR 1=1 --", "", "\ud800", "col:word", "^x"]


@pytest.mark.parametrize("word", HOSTILE)
async def test_no_word_can_break_a_query(database: Database, word: str):
    passages = Passages(database)
    await store_passages(database, [passage(word), passage("plain")])

    found = await passages.occurrences_up_to([word, "plain"], 10_000)

    assert 1 in found.word
    assert await is_word_index_consistent(database)


def with_database(test: Callable[[Database], Awaitable[None]]) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            database = await Database.open(Path(folder) / "lethe.sqlite3")
            try:
                await test(database)
            finally:
                await database.close()

    asyncio.run(run())


@settings(max_examples=examples(15))
@given(st.lists(st.tuples(st.sampled_from(["add", "replace", "remove"]), st.integers(1, 6), st.sampled_from("abc"))))
def test_words_and_texts_agree_after_any_sequence(steps: list[tuple[str, int, str]]):
    async def run(database: Database) -> None:
        passages = Passages(database)
        held: dict[int, str] = {}
        for action, number, letter in steps:
            if action == "add":
                held[(await store_passages(database, [passage(f"word{letter}")]))[0]] = letter
            elif action == "replace":
                said = passage(f"word{letter}", origin=UUID(int=number))
                gone, (added,) = await passages.replace([said.origin], [said])
                held = {kept: what for kept, what in held.items() if kept not in gone} | {added: letter}
            elif action == "remove":
                assert await remove_passages(database, [number]) == ([number] if held.pop(number, None) else [])
        for letter in "abc":
            assert await numbers_with(passages, f"word{letter}") == sorted(n for n, have in held.items() if have == letter)
        assert await is_word_index_consistent(database)

    with_database(run)
