"""Where messages lie while their heights are still guesses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.ui.transcript.row_layout import TOP_SPACE, RowHeights, RowLayout

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
