"""What is made for short lists says the same as the general functions of NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.retrieval.vectors.top_k import distinct, highest_first, is_member, mark_first

numbers = st.lists(st.integers(-5, 20), max_size=30)


@given(numbers)
def test_each_number_comes_once_in_rising_order(values: list[int]):
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


def test_a_value_begins_where_another_one_ended():
    assert mark_first(np.array([1, 1, 4, 4, 4, 7])).tolist() == [True, False, True, False, False, True]
    assert mark_first(np.zeros(0)).tolist() == []


@given(numbers, st.integers(0, 35))
def test_the_highest_come_first_and_of_equals_the_one_before(values: list[int], most: int):
    right = sorted(range(len(values)), key=lambda place: -values[place])[:most]

    assert highest_first(np.array(values, np.float32), most).tolist() == right


@given(numbers, numbers)
def test_what_is_among_some_is_found(values: list[int], some: list[int]):
    found = is_member(np.array([values, values], np.int64), np.array(some, np.int64))

    assert found.tolist() == [[value in some for value in values]] * 2
