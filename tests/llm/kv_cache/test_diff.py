"""What of a cached prompt can stay: the plan rebuilds the wanted text exactly, whatever was cut and put in."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.llm.kv_cache.diff import MIN_RUN_LENGTH, TokenRun, common_prefix_length, plan_reuse
from lethe_app.llm.kv_cache.edits import MAX_RECOMPUTED, MAX_SEAMS, Seam, compute_seams, has_too_many_edits, shorten_runs

WORDS = st.integers(0, 9)
"""So few that everything repeats."""
PIECES = st.lists(st.lists(WORDS, min_size=1, max_size=90), min_size=1, max_size=8)


def text(length: int, seed: int) -> list[int]:
    """Tokens that hardly repeat."""
    source = random.Random(seed)
    return [source.randrange(50_000) for _ in range(length)]


def rebuilt(cached: list[int], wanted: list[int], runs: list[TokenRun]) -> list[int]:
    """The wanted text from what is kept of the cached one and the gaps between."""
    result: list[int] = []
    for run in runs:
        result += wanted[len(result) : run.target_start] + cached[run.cached_start : run.cached_end]
    return result + wanted[len(result) :]


def check(cached: list[int], wanted: list[int]) -> list[TokenRun]:
    runs = plan_reuse(cached, wanted)
    assert rebuilt(cached, wanted, runs) == wanted
    assert runs[0].cached_start == runs[0].target_start == 0
    assert runs[-1].target_end < max(len(wanted), 1)
    for earlier, later in pairwise(runs):
        assert later.cached_start >= earlier.cached_end
        assert later.target_start >= earlier.target_end
        assert later.length >= MIN_RUN_LENGTH
        assert (later.cached_start, later.target_start) != (earlier.cached_end, earlier.target_end)
    return runs


@given(st.lists(WORDS, max_size=300), st.lists(WORDS, max_size=300))
def test_any_two_texts_give_a_plan_that_rebuilds_the_wanted_one(cached: list[int], wanted: list[int]):
    check(cached, wanted)


@given(PIECES, st.lists(st.tuples(st.integers(0, 7), st.booleans(), st.lists(WORDS, max_size=60)), max_size=12))
def test_pieces_of_repeating_text_moved_about_give_a_plan_too(
    pieces: list[list[int]], moves: list[tuple[int, bool, list[int]]]
):
    cached = [token for piece in pieces for token in piece]
    wanted = [token for which, kept, new in moves for token in (pieces[which % len(pieces)] if kept else []) + new]

    check(cached, pieces[0] + wanted)


@given(st.integers(0, 2**31), st.data())
def test_everything_that_stayed_is_kept_where_text_does_not_repeat(seed: int, data: st.DataObject):
    source = random.Random(seed)
    stays = [text(source.randrange(MIN_RUN_LENGTH, 400), source.random()) for _ in range(data.draw(st.integers(2, 6)))]
    cached: list[int] = []
    wanted: list[int] = []
    for place, piece in enumerate(stays):
        removed = text(data.draw(st.integers(0, 20)), source.random()) if place else []
        added = text(data.draw(st.integers(0, 20)), source.random()) if place else []
        cached += removed + piece
        wanted += added + piece

    runs = check(cached, [*wanted, 1])

    assert sum(run.length for run in runs) >= sum(map(len, stays))


def test_a_note_that_is_gone_costs_only_what_is_new():
    old, note, said, new_note, new = text(3000, 1), text(150, 2), text(120, 3), text(160, 4), text(40, 5)

    runs = check(old + note + said, old + said + new_note + new)

    assert runs == [TokenRun(0, 0, 3000), TokenRun(3150, 3000, 120)]


def test_a_block_of_history_that_gives_way_to_its_summary_keeps_the_rest():
    head, block, rest, summary = text(700, 1), text(2000, 2), text(3500, 3), text(200, 4)

    runs = check(head + block + rest, head + summary + rest + text(50, 5))

    assert runs == [TokenRun(0, 0, 700), TokenRun(2700, 900, 3500)]


def test_both_at_once():
    head, block, rest, note, said = text(700, 1), text(900, 2), text(3500, 3), text(150, 4), text(80, 5)

    runs = check(head + block + rest + note + said, head + rest + said + text(200, 6))

    assert runs == [TokenRun(0, 0, 700), TokenRun(1600, 700, 3500), TokenRun(5250, 4200, 80)]


def test_a_quotation_does_not_lead_astray():
    head, first, second = text(500, 1), text(300, 2), text(900, 3)
    quoted = second[100:220]

    runs = check(head + first + second, head + quoted + second + text(30, 4))

    assert runs == [TokenRun(0, 0, 500), TokenRun(800, 620, 900)]


def test_a_song_with_a_refrain_is_followed_line_by_line():
    refrain, verses = text(136, 1), [text(40, number) for number in range(2, 7)]
    song = [token for verse in verses for token in verse + refrain]

    runs = check([*song[:40], 7, 8, 9, *song[40:]], song)

    assert runs == [TokenRun(0, 0, 40), TokenRun(43, 40, len(song) - 41)]


@pytest.mark.parametrize("period", [17, 48, 136])
def test_text_that_only_repeats_itself_keeps_its_place(period: int):
    endless = text(period, 1) * (1200 // period)

    runs = check([*endless[:40], 7, 8, 9, *endless[40:]], endless)

    assert sum(run.length for run in runs) == len(endless) - 1
    assert len(runs) == 2


def test_the_end_of_a_task_is_not_kept_after_another_text():
    instructions, closing = text(200, 1), text(60, 2)

    runs = check(instructions + text(1500, 3) + closing, instructions + text(1400, 4) + closing + [7])

    assert runs == [TokenRun(0, 0, 200)]


def test_nothing_is_kept_behind_another_beginning():
    rest = text(2000, 1)

    assert check([1, *rest], [2, *rest, 3]) == [TokenRun(0, 0, 0)]


@pytest.mark.parametrize(("cached", "wanted"), [([], []), ([], [1]), ([1], []), ([1], [1]), ([1, 2], [1]), ([1], [1, 2])])
def test_the_smallest_texts(cached: list[int], wanted: list[int]):
    runs = check(cached, wanted)

    assert runs == [TokenRun(0, 0, min(common_prefix_length(cached, wanted), max(len(wanted) - 1, 0)))]


def test_a_text_of_one_repeated_word_is_planned_soon():
    runs = check([1] * 50 + [2] * 8000, [1] * 50 + [3] * 40 + [2] * 8000 + [4])

    assert sum(run.length for run in runs) == 8050


def test_cutting_a_note_leaves_an_edit_and_rewinding_removes_it():
    joints = compute_seams([], [TokenRun(0, 0, 3000), TokenRun(3150, 3000, 120)])

    assert joints == [Seam(3000, 150)]
    assert compute_seams(joints, [TokenRun(0, 0, 3001)]) == joints
    assert compute_seams(joints, [TokenRun(0, 0, 3000)]) == []


def test_edits_move_with_their_text():
    joints = [Seam(3000, 150), Seam(3400, 100)]

    moved = compute_seams(joints, [TokenRun(0, 0, 700), TokenRun(1600, 850, 2000)])

    assert moved == [Seam(850, 1050), Seam(2250, 150), Seam(2650, 100)]


def test_edits_in_what_is_cut_away_are_recorded_by_the_edit_that_replaces_them():
    joints = [Seam(100, 10), Seam(800, 20), Seam(1600, 30), Seam(1700, 40)]

    assert compute_seams(joints, [TokenRun(0, 0, 700), TokenRun(1600, 700, 500)]) == [
        Seam(100, 10),
        Seam(700, 950),
        Seam(800, 40),
    ]


def test_what_stood_right_behind_a_large_cut_is_computed_anew():
    runs = [TokenRun(0, 0, 700), TokenRun(2300, 1000, 1500)]

    kept, joints = shorten_runs(runs, compute_seams([], runs))

    assert kept == [TokenRun(0, 0, 700), TokenRun(2300 + MAX_RECOMPUTED, 1000 + MAX_RECOMPUTED, 1500 - MAX_RECOMPUTED)]
    assert joints == [Seam(1000 + MAX_RECOMPUTED, 1900)]


def test_no_more_is_mended_than_was_changed():
    runs = [TokenRun(0, 0, 700), TokenRun(710, 700, 1500)]

    assert shorten_runs(runs, compute_seams([], runs)) == ([runs[0], TokenRun(720, 710, 1490)], [Seam(710, 10)])


def test_a_short_stretch_behind_a_cut_stays_whole():
    runs = [TokenRun(0, 0, 3000), TokenRun(3150, 3000, 2 * MAX_RECOMPUTED)]

    assert shorten_runs(runs, compute_seams([], runs)) == (runs, [Seam(3000, 150)])


def test_edits_within_what_is_repaired_become_one_after_it():
    old = [Seam(2400, 30), Seam(2300 + MAX_RECOMPUTED, 5), Seam(3000, 70)]
    runs = [TokenRun(0, 0, 700), TokenRun(2300, 700, 1500)]

    assert shorten_runs(runs, compute_seams(old, runs))[1] == [Seam(700 + MAX_RECOMPUTED, 1600 + 30 + 5), Seam(1400, 70)]


def test_a_cut_that_was_mended_once_is_not_mended_again():
    joints = [Seam(1000 + MAX_RECOMPUTED, 1900)]
    runs = [TokenRun(0, 0, 2500)]

    assert shorten_runs(runs, compute_seams(joints, runs)) == (runs, joints)


def test_too_many_cuts_and_too_large_ones_are_too_much():
    few = [Seam(place, 10) for place in range(MAX_SEAMS)]

    assert not has_too_many_edits(few, 8192)
    assert has_too_many_edits([*few, Seam(500, 10)], 8192)
    assert has_too_many_edits([Seam(700, 5000)], 8192)
