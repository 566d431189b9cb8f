"""The columns say the same whether they grew or were read at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.retrieval.vectors.columns import FACTS, LINES, STANDALONE, ColumnSnapshot, PassageColumns, number_sources
from lethe_app.storage.index.passages import KINDS

STEPS = st.lists(st.tuples(st.sampled_from(["put", "take", "look"]), st.integers(1, 12), st.integers(0, 2)), max_size=40)
SOURCES = [UUID(int=(7 << 64) + 3), UUID(int=(7 << 64) + 9), UUID(int=5)]


def passage(number: int, source: int, kind: PassageKind = PassageKind.FACT, owner: str = "mara") -> Passage:
    when = datetime(2026, 5, number, tzinfo=UTC)
    return Passage(kind, owner, SOURCES[source], uuid4(), "text", "x" * (10 * number), when, number=number)


def sheet(*passages: Passage) -> str:
    """As storage writes it."""
    return "".join(
        f"{one.number:016x}{KINDS.index(one.kind):02x}{one.source == one.origin:02x}{one.time.toordinal():08x}"
        f"{len(one.searched):08x}{one.source.hex}"
        for one in passages
    )


def content_of(columns: ColumnSnapshot) -> list[tuple[int, UUID, int, int]]:
    sources = [columns.sources[int(place)] for place in columns.source]
    return list(zip(columns.number.tolist(), sources, columns.day.tolist(), columns.length.tolist(), strict=True))


@given(STEPS)
def test_a_store_holds_what_was_saved_and_not_removed(steps: list[tuple[str, int, int]]):
    passage_columns, held, pictures = PassageColumns(["mara"], {"mara": []}), {}, []
    for action, number, source in steps:
        if action == "put":
            passage_columns.apply_changes([number], [passage(number, source)])
            held[number] = passage(number, source)
        elif action == "take":
            passage_columns.apply_changes([number], [])
            held.pop(number, None)
        else:
            pictures.append((passage_columns.columns(), content_of(passage_columns.columns())))

    fresh = PassageColumns(["mara"], {"mara": [sheet(*(held[number] for number in sorted(held)))]})

    assert content_of(passage_columns.columns()) == content_of(fresh.columns())
    assert passage_columns.columns().source_count == fresh.columns().source_count == len({one.source for one in held.values()})
    assert len(passage_columns) == len(held)
    assert all((number in passage_columns) == (number in held) for number in range(1, 13))
    assert all(content_of(columns) == then for columns, then in pictures), "a picture does not change afterwards"


def test_several_owners_share_columns_in_the_order_of_numbers():
    passage_columns = PassageColumns(
        ["mara", "world:sea"], {"mara": [sheet(passage(2, 0), passage(5, 1))], "world:sea": [sheet(passage(3, 2))]}
    )

    passage_columns.apply_changes([], [passage(7, 0, owner="tom"), passage(6, 0, owner="world:sea")])

    assert passage_columns.columns().number.tolist() == [2, 3, 5, 6]
    assert passage_columns.columns().owner.tolist() == [0, 1, 0, 1]


def test_a_passage_that_is_there_already_stays():
    passage_columns = PassageColumns(["mara"], {"mara": [sheet(passage(2, 0))]})

    passage_columns.apply_changes([], [passage(2, 1)])

    assert content_of(passage_columns.columns())[0][1] == SOURCES[0]


def test_what_has_no_session_stands_alone():
    session_fact, line, memory = passage(1, 0), passage(2, 0, PassageKind.MESSAGE), passage(3, 0, PassageKind.MEMORY)
    own_fact = replace(passage(4, 1), origin=SOURCES[1])

    grown, read = (
        PassageColumns(["mara"], {"mara": []}),
        PassageColumns(["mara"], {"mara": [sheet(session_fact, line, memory, own_fact)]}),
    )
    grown.apply_changes([], [session_fact, line, memory, own_fact])

    assert grown.columns().group.tolist() == read.columns().group.tolist() == [FACTS, LINES, STANDALONE, STANDALONE]


def test_rows_are_found_by_number_and_strangers_are_told_apart():
    columns = PassageColumns(["mara"], {"mara": [sheet(passage(2, 0), passage(5, 1))]}).columns()

    rows, known = columns.rows_of(np.array([5, 1, 2, 9]))

    assert known.tolist() == [True, False, True, False]
    assert rows[known].tolist() == [1, 0]
    assert not PassageColumns([], {}).columns().rows_of(np.array([1]))[1].any()


@given(STEPS)
def test_the_newest_passage_of_each_source_and_the_size_of_each_group_are_known(steps: list[tuple[str, int, int]]):
    passage_columns = PassageColumns(["mara"], {"mara": []})
    for action, number, source in steps:
        kind = (PassageKind.FACT, PassageKind.MESSAGE, PassageKind.MEMORY)[number % 3]
        passage_columns.apply_changes(
            [number] if action == "take" else [], [passage(number, source, kind)] if action == "put" else []
        )
    columns = passage_columns.columns()

    newest = {source: row for row, source in enumerate(columns.source.tolist())}

    assert columns.last_row.tolist() == [newest.get(place, -1) for place in range(len(columns.sources))]
    assert columns.group_counts == [columns.group.tolist().count(group) for group in range(4)]


@given(st.lists(st.uuids()), st.lists(st.uuids()))
def test_every_source_has_one_place(first: list[UUID], later: list[UUID]):
    halves = np.array([divmod(source.int, 2**64) for source in first], np.uint64).reshape(-1, 2)
    sources, positions = number_sources(halves[:, 0], halves[:, 1])

    places = [sources.add(source) for source in later]

    assert [sources[int(place)] for place in positions] == first
    assert [sources[place] for place in places] == later
    assert len(sources) == len({*first, *later})
    assert sources.positions([*first, *later]).tolist() == [*positions.tolist(), *places]
    assert sources.position(UUID(int=12345)) == -1 or UUID(int=12345) in {*first, *later}
