"""Where messages lie while their heights are still guesses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.ui.transcript.row_layout import BOTTOM_SPACE, TOP_SPACE, RowHeights, RowLayout

NUMBERS = st.lists(st.integers(0, 500), min_size=1, max_size=80)


def layout(real: list[int], guess: int = 50, viewport: int = 300) -> RowLayout:
    made = RowLayout(lambda row: real[row])
    made.viewport_height = viewport
    made.reset([guess] * len(real))
    return made


@given(NUMBERS, st.data())
def test_prefix_sums_and_searches_agree_with_plain_addition(numbers, data):
    heights = RowHeights(numbers[: len(numbers) // 2])
    for number in numbers[len(numbers) // 2 :]:
        heights.append(number)
    row = data.draw(st.integers(0, len(numbers) - 1))
    numbers[row] = data.draw(st.integers(0, 900))
    heights.set_height(row, numbers[row])
    assert [heights.sum_before(at) for at in range(len(numbers) + 1)] == [sum(numbers[:at]) for at in range(len(numbers) + 1)]
    assert heights.total == sum(numbers)
    y = data.draw(st.integers(0, sum(numbers) + 10))
    expected = next((at for at in range(len(numbers)) if sum(numbers[: at + 1]) > y), len(numbers) - 1)
    assert heights.row_at(y) == expected


def test_a_session_opens_at_its_end():
    places = layout([100] * 50)
    last = places.layout_view()[-1]
    assert (last.row, last.top + last.height) == (49, 300 - BOTTOM_SPACE)


def test_a_short_session_begins_at_the_top():
    assert [(placed.row, placed.top) for placed in layout([40, 40]).layout_view()] == [(0, TOP_SPACE), (1, TOP_SPACE + 40)]


@given(st.lists(st.integers(20, 400), min_size=30, max_size=60), st.lists(st.integers(-250, 250), max_size=20))
def test_scrolling_moves_visible_rows_by_exactly_the_distance(real, steps):
    places = layout(real)
    before = {placed.row: placed.top for placed in places.layout_view()}
    for step in steps:
        places.scroll_by(step)
        after = {placed.row: placed.top for placed in places.layout_view()}
        moved = {before[row] - after[row] for row in before.keys() & after.keys()}
        assert len(moved) <= 1
        at_edge = places.is_at_end or places.position == 0
        assert at_edge or moved <= {step}
        before = after


def test_scrolling_up_reaches_the_very_beginning():
    places = layout([90] * 40)
    places.layout_view()
    for _ in range(60):
        places.scroll_by(-100)
        placed = places.layout_view()
    assert (placed[0].row, placed[0].top, places.position) == (0, TOP_SPACE, 0)


def test_heights_measured_above_do_not_move_visible_rows():
    real = [200] * 40
    places = layout(real)
    places.layout_view()
    places.scroll_by(-900)
    before = {placed.row: placed.top for placed in places.layout_view()}
    places.invalidate_rows(0, 3)
    assert {placed.row: placed.top for placed in places.layout_view()} == before


def test_a_growing_last_row_is_followed_only_at_the_end():
    real = [100] * 10
    places = layout(real)
    places.layout_view()
    real[9] = 180
    places.invalidate_rows(9, 9)
    last = places.layout_view()[-1]
    assert last.top + last.height == 300 - BOTTOM_SPACE
    places.scroll_by(-150)
    before = [(placed.row, placed.top) for placed in places.layout_view()]
    real[9] = 400
    places.invalidate_rows(9, 9)
    assert [(placed.row, placed.top) for placed in places.layout_view()] == before
    assert not places.is_at_end


def test_a_row_taller_than_the_viewport_grows_without_moving_its_top():
    real = [100, 2000]
    places = layout(real)
    places.layout_view()
    places.scroll_by(-700)
    before = places.layout_view()
    real[1] = 2300
    places.invalidate_rows(1, 1)
    after = places.layout_view()
    assert (before[0].row, before[0].top) == (after[0].row, after[0].top)


def test_another_width_keeps_the_position_within_the_row():
    real = [1000] * 5
    places = layout(real, guess=1000)
    places.layout_view()
    places.jump_to(TOP_SPACE + 2000 + 500)
    places.layout_view()
    real[:] = [2000] * 5
    places.reset_heights([1500] * 5)
    first = places.layout_view()[0]
    assert (first.row, first.top) == (2, -1000)


def test_scrolling_to_a_row_moves_as_little_as_needed():
    places = layout([100] * 30)
    places.jump_to(TOP_SPACE + 1000)
    places.layout_view()
    places.scroll_to_row(11)
    assert places.layout_view()[0].row == 10
    places.scroll_to_row(13)
    shown = places.layout_view()[-1]
    assert (shown.row, shown.top + shown.height) == (13, 300)
    places.scroll_to_row(4)
    assert any(placed.row == 4 and placed.top >= 0 for placed in places.layout_view())


def test_removed_rows_reduce_the_content_height():
    real = [100] * 20
    places = layout(real)
    places.layout_view()
    for _ in range(19):
        real.pop()
        places.remove_row(0)
        places.layout_view()
    assert (len(places), places.content_height) == (1, TOP_SPACE + 100 + BOTTOM_SPACE)
