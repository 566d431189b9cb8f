from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.config.settings import Settings
from lethe_app.domain.prompt import PromptPart
from lethe_app.prompt import budget
from lethe_app.prompt.budget import CAPS, HISTORY_FLOOR, HISTORY_TARGET, MESSAGE_SHARE, TokenDemand, cut_history, plan_budget


def demand(
    history: list[int], cut: int = 0, limit: int = 900, fixed: int = 100, message: int = 0, **items: list[int]
) -> TokenDemand:
    named = {PromptPart[name.upper()]: sizes for name, sizes in items.items()}
    return TokenDemand(limit, 1000, fixed, named, history, cut, message=message)


def test_all_of_it_is_kept_when_it_fits():
    chosen = plan_budget(demand([50] * 4, memories=[20, 30], facts=[10]))

    assert chosen.kept[PromptPart.MEMORIES] == (0, 1)
    assert chosen.kept[PromptPart.FACTS] == (0,)
    assert chosen.cut == 0


def test_what_ignores_the_budget_is_limited_by_the_free_space_only():
    requested = replace(demand([], world=[150] * 4, memories=[150, 150, 40]), uncapped={part: {0, 1} for part in CAPS})
    chosen = plan_budget(requested)

    assert chosen.kept[PromptPart.WORLD] == (0, 1, 2)
    assert chosen.kept[PromptPart.MEMORIES] == (0, 1, 2)
    assert chosen.capped[PromptPart.WORLD] == 1
    full = plan_budget(replace(requested, items={PromptPart.WORLD: [150] * 20}, uncapped={PromptPart.WORLD: range(20)}))
    assert full.kept[PromptPart.WORLD] == (0, 1, 2)  # half of the context is free, beside what the conversation keeps
    assert full.capped[PromptPart.WORLD] == 0


def test_no_part_gets_more_than_its_cap():
    chosen = plan_budget(demand([], memories=[150, 100, 40], facts=[81]))

    assert chosen.kept[PromptPart.MEMORIES] == (0, 2)
    assert chosen.kept[PromptPart.FACTS] == ()


def test_parts_shrink_in_the_stated_order():
    sizes = {"memories": [100], "summaries": [100], "style": [100], "facts": [80], "world": [100]}
    order = [PromptPart.MEMORIES, PromptPart.SUMMARIES, PromptPart.STYLE, PromptPart.FACTS, PromptPart.WORLD]

    said = int(1000 * MESSAGE_SHARE)
    kept = [plan_budget(demand([250], fixed=fixed, message=said, **sizes)).kept for fixed in range(20, 580, 20)]
    left = [[part for part in order if parts[part]] for parts in kept]

    assert [order[-count:] if count else [] for count in map(len, left)] == left
    assert [len(parts) for parts in left] == sorted((len(parts) for parts in left), reverse=True)
    assert left[0] == order
    assert left[-1] == []


def test_the_order_is_the_one_that_is_told_in_the_docstring_and_in_the_settings():
    reported = ["retrieved memories", "previous sessions", "examples", "core facts", "world info", "oldest history"]
    help_text = str(Settings.model_fields["context"].description)

    assert " → ".join(reported) in str(budget.__doc__)
    assert list(CAPS) == [PromptPart.MEMORIES, PromptPart.SUMMARIES, PromptPart.STYLE, PromptPart.FACTS, PromptPart.WORLD]
    assert "memories are dropped first and the oldest messages are summarised last" in help_text


def test_history_above_its_floor_gives_way_before_memories():
    chosen = plan_budget(demand([100] * 20, memories=[100]))

    assert chosen.kept[PromptPart.MEMORIES] == (0,)
    assert chosen.cut > 10


def test_history_is_cut_in_one_block_and_the_cut_stays():
    history = [10] * 90
    cuts = []
    cut = 0
    for _ in range(120):
        history.append(10)
        cut = cut_history(history, 800, cut)
        cuts.append(cut)

    assert sum(history[cut:]) <= 800
    assert len(set(cuts)) <= 6
    assert (len(history) - cuts[0]) * 10 >= 500
    assert len(range(cuts[0], 91)) * 10 <= 800 * HISTORY_TARGET


def test_a_cut_is_taken_back_when_there_is_much_more_room():
    assert cut_history([10] * 100, 2000, 60) == 0
    assert cut_history([10] * 100, 500, 60) == 60


def test_a_cut_beyond_a_shortened_history_is_survived():
    assert cut_history([10] * 3, 500, 60) == 0
    assert cut_history([], 500, 60) == 0


sizes = st.lists(st.integers(0, 400), max_size=8)


@given(
    fixed=st.integers(0, 1200),
    items=st.lists(sizes, min_size=5, max_size=5),
    turns=st.lists(
        st.tuples(st.integers(1, int(1000 * MESSAGE_SHARE)), st.lists(st.integers(1, 200), max_size=20), sizes), min_size=2
    ),
)
def test_what_stands_in_the_system_prompt_is_the_same_whatever_is_said_in_a_turn(
    fixed: int, items: list[list[int]], turns: list[tuple[int, list[int], list[int]]]
):
    """A message of a few words more would else have the whole conversation read again, and so would the next one."""
    named = dict(zip(CAPS, items, strict=True))
    kept = [
        plan_budget(TokenDemand(900, 1000, fixed, named | {PromptPart.MEMORIES: brought}, history, message=message)).kept
        for message, history, brought in turns
    ]

    heads = [{part: places for part, places in one.items() if part is not PromptPart.MEMORIES} for one in kept]
    assert all(head == heads[0] for head in heads)


def test_a_message_longer_than_expected_takes_room_from_what_is_known():
    usual, long = (plan_budget(demand([250], fixed=200, message=size, facts=[80], world=[200])) for size in (80, 240))

    assert (usual.kept[PromptPart.FACTS], usual.kept[PromptPart.WORLD]) == ((0,), (0,))
    assert (long.kept[PromptPart.FACTS], long.kept[PromptPart.WORLD]) == ((), (0,))


@given(
    history=st.lists(st.integers(1, 300), max_size=60),
    cut=st.integers(0, 80),
    fixed=st.integers(0, 1200),
    message=st.integers(0, 400),
    items=st.lists(sizes, min_size=5, max_size=5),
)
def test_the_plan_fits_unless_the_fixed_part_does_not(
    history: list[int], cut: int, fixed: int, message: int, items: list[list[int]]
):
    requested = TokenDemand(900, 1000, fixed, dict(zip(CAPS, items, strict=True)), history, cut, message=message)
    fixed += message

    chosen = plan_budget(requested)

    used = {part: sum(requested.items[part][place] for place in chosen.kept[part]) for part in CAPS}
    kept = sum(history[chosen.cut :])
    assert fixed + sum(used.values()) + kept <= max(900, fixed)
    assert all(used[part] <= cap * 1000 for part, cap in CAPS.items())
    if chosen.cut and sum(used.values()):
        assert 900 - fixed - sum(used.values()) >= min(sum(history), HISTORY_FLOOR * 1000)


@given(history=st.lists(st.integers(1, 300), max_size=60), cut=st.integers(0, 80), room=st.integers(-10, 2000))
def test_cutting_again_changes_nothing(history: list[int], cut: int, room: int):
    once = cut_history(history, room, cut)

    assert cut_history(history, room, once) == once
    assert sum(history[once:]) <= max(room, 0)


def test_a_cut_leaves_the_newest_messages_unless_the_next_turn_would_cut_again():
    assert cut_history([50] * 8 + [40, 60], 300, 0, 0.1) == 8, "three with the new message"
    assert cut_history([50] * 8 + [90, 110], 300, 0, 0.1) == 10, "two of them are more than half of the room"
    assert cut_history([50] * 10, 300, 0, 0.6) == 7
