"""What is only true for a turn stands where the user wants it, and never behind what is to be continued."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import NotePlacement, PromptNote, PromptPart, PromptSpan, PromptTurn
from lethe_app.prompt.layout import PromptPieces, arrange_turns

OLD = [PromptTurn("assistant", "Welcome."), PromptTurn("user", "Hello."), PromptTurn("assistant", "Sit down.")]
NOTES = [
    PromptNote("far", depth=3),
    PromptNote("near", order=200),
    PromptNote("nearer still", order=300),
    PromptNote("said", role="assistant"),
]
PIECES = PromptPieces([PromptSpan(PromptPart.SYSTEM, "You are Ada.")], OLD, [PromptTurn("user", "Thanks.")], NOTES, "# Now")


def contents(layout: PromptLayout, pieces: PromptPieces = PIECES) -> list[str]:
    return [one.to_turn.content for one in arrange_turns(layout, pieces)]


def test_late_notes_stand_just_above_the_newest_message_the_nearest_last():
    assert contents(PromptLayout.LATE) == [
        "You are Ada.", "Welcome.", "Hello.", "Sit down.", "# Now\nfar\nnear\nnearer still", "said", "Thanks.",
    ]  # fmt: skip


def test_in_the_system_prompt_they_stand_at_its_end():
    assert contents(PromptLayout.SYSTEM) == [
        "You are Ada.\n\n# Now\nfar\nnear\nnearer still", "Welcome.", "Hello.", "Sit down.", "said", "Thanks.",
    ]  # fmt: skip


def test_at_depth_each_stands_so_many_messages_up():
    assert contents(PromptLayout.DEPTH) == [
        "You are Ada.", "# Now\nfar", "Welcome.", "Hello.", "Sit down.", "# Now\nnear\nnearer still", "said", "Thanks.",
    ]  # fmt: skip


INSTRUCTIONS = [
    PromptNote("It rains.", depth=1, placement=NotePlacement.ALONE),
    PromptNote("Stay calm.", placement=NotePlacement.LAST),
]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (PromptLayout.LATE, ["You are Ada.", "Welcome.", "Hello.", "Sit down.", "# Now\nfar", "It rains."]),
        (PromptLayout.SYSTEM, ["You are Ada.\n\n# Now\nfar", "Welcome.", "Hello.", "Sit down.", "It rains."]),
        (PromptLayout.DEPTH, ["You are Ada.", "# Now\nfar", "Welcome.", "Hello.", "It rains.", "Sit down."]),
    ],
)
def test_instructions_are_no_memories_and_the_last_one_follows_the_newest_message(layout: PromptLayout, expected: list[str]):
    notes = [PromptNote("far", depth=3), *INSTRUCTIONS]

    assert contents(layout, replace(PIECES, notes=notes)) == [*expected, "Thanks.", "Stay calm."]


def test_the_last_instruction_stands_before_a_reply_that_goes_on():
    tail = [PromptTurn("user", "Thanks."), PromptTurn("assistant", "You are")]
    turns = contents(PromptLayout.LATE, replace(PIECES, notes=INSTRUCTIONS, tail=tail, continue_last=True))

    assert turns[-3:] == ["Thanks.", "Stay calm.", "You are"]


def test_a_depth_beyond_the_history_is_its_beginning():
    deep = replace(PIECES, notes=[PromptNote("deep", depth=99)])
    assert contents(PromptLayout.DEPTH, deep)[:2] == ["You are Ada.", "# Now\ndeep"]


@pytest.mark.parametrize("layout", PromptLayout)
def test_without_notes_every_layout_is_the_same(layout: PromptLayout):
    assert contents(layout, replace(PIECES, notes=[])) == ["You are Ada.", "Welcome.", "Hello.", "Sit down.", "Thanks."]


@pytest.mark.parametrize("layout", PromptLayout)
def test_nothing_stands_behind_a_reply_that_goes_on(layout: PromptLayout):
    going_on = replace(PIECES, tail=[PromptTurn("user", "Thanks."), PromptTurn("assistant", "You are")], continue_last=True)
    assert contents(layout, going_on)[-1] == "You are"


@pytest.mark.parametrize("layout", PromptLayout)
def test_who_speaks_is_said_just_above_the_newest_message(layout: PromptLayout):
    assert contents(layout, replace(PIECES, speaker="Ada speaks."))[-2:] == ["Ada speaks.", "Thanks."]


@pytest.mark.parametrize("layout", PromptLayout)
def test_every_word_knows_its_part(layout: PromptLayout):
    reported = [
        (span.part, span.text.strip()) for one in arrange_turns(layout, PIECES) for span in one.spans if span.text.strip()
    ]

    assert [text for part, text in reported if part is PromptPart.HISTORY] == ["Welcome.", "Hello.", "Sit down."]
    assert {text for part, text in reported if part is PromptPart.MEMORIES} == {"# Now", "far", "near", "nearer still", "said"}
    assert [text for part, text in reported if part in {PromptPart.SYSTEM, PromptPart.MESSAGE}] == ["You are Ada.", "Thanks."]


@given(
    st.sampled_from(list(PromptLayout)),
    st.lists(st.builds(PromptNote, st.text("ab", min_size=1), depth=st.integers(0, 9), order=st.integers(0, 5)), max_size=6),
    st.integers(0, 5),
)
def test_nothing_is_lost_or_said_twice_in_any_layout(layout: PromptLayout, notes: list[PromptNote], messages: int):
    old = [PromptTurn("user" if place % 2 else "assistant", f"m{place}") for place in range(messages)]
    head = [PromptSpan(PromptPart.SYSTEM, "head")]
    turns = [one.to_turn for one in arrange_turns(layout, PromptPieces(head, old, [PromptTurn("user", "last")], notes, ""))]
    text = "\n".join(turn.content for turn in turns)
    assert sorted(text.replace("\n\n", "\n").split("\n")) == sorted(
        ["head", "last", *(turn.content for turn in old), *(note.text for note in notes)]
    )
    assert [turn.content for turn in turns if turn.content.startswith("m")] == [turn.content for turn in old]
    assert turns[-1].content == "last"


def test_what_has_a_depth_of_its_own_stands_there_in_the_late_layout_too():
    fixed = [PromptNote("lore", depth=3, keeps_depth=True), PromptNote("deep", depth=9, keeps_depth=True)]
    note = PromptNote("It rains.", depth=2, keeps_depth=True, placement=NotePlacement.ALONE)
    pieces = replace(PIECES, notes=[*fixed, note, *NOTES])

    assert contents(PromptLayout.LATE, pieces) == [
        "You are Ada.", "# Now\ndeep", "Welcome.", "# Now\nlore", "Hello.", "It rains.", "Sit down.",
        "# Now\nfar\nnear\nnearer still", "said", "Thanks.",
    ]  # fmt: skip


def test_an_entry_at_a_depth_stands_lower_where_the_messages_below_it_are_long():
    note = PromptNote("It rains.", depth=3, keeps_depth=True, placement=NotePlacement.ALONE)
    long = [OLD[0], PromptTurn("user", "Hello. " * 400), OLD[2]]
    pieces = replace(PIECES, history=long, notes=[PromptNote("lore", depth=3, keeps_depth=True), note])

    found = contents(PromptLayout.LATE, pieces)

    assert found.index("# Now\nlore") == found.index("Sit down.") - 1
    assert found.index("It rains.") == 2
