"""Decorators of Character Card V3 are carried out, and none of their lines reaches the prompt."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from lethe_app.brain.lore.compiled import LoreIndex
from lethe_app.brain.lore.decorators import FOREVER, read_decorators
from lethe_app.brain.lore.engine import evaluate
from lethe_app.brain.lore.evaluation import Evaluation, EvaluationTurn
from lethe_app.brain.lore.state import LoreState
from lethe_app.brain.text.utterance import ScanWindow
from lethe_app.domain.chat import Alternative, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.recall import BlockReason
from lethe_app.domain.worldinfo import World, WorldEntry


def entry(content: str, **fields: object) -> WorldEntry:
    return WorldEntry(name="Lamp", content=content, **({"keywords_main": ["lamp"]} | fields))


def heard(
    one: WorldEntry,
    text: str = "the lamp",
    *,
    turn: int = 1,
    messages: int = 2,
    greeting: int | None = None,
    state: LoreState | None = None,
) -> Evaluation:
    question = Message(session_id=UUID(int=0), role=Role.USER, alternatives=[Alternative(content=text)])
    lore = LoreIndex([World(name="Rock", entries=[one])])
    moment = EvaluationTurn(str(uuid4()), turn, messages, now(), greeting=greeting)
    return evaluate(lore, ScanWindow.from_history((), question), state or LoreState(), moment)


@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        ("@@depth 3", "position_index", 3),
        ("@@depth 3\n@@position before_desc", "position_index", -1),
        ("@@position scenario\n@@depth 3", "position_index", -1),
        ("@@role assistant", "role", Role.ASSISTANT),
        ("@@scan_depth 5", "scan_depth", 4),
        ("@@keep_activate_after_match", "duration", FOREVER),
        ("@@dont_activate_after_match", "cooldown", FOREVER),
        ("@@activate", "sticky", True),
        ("@@dont_activate", "enabled", False),
        ("@@dont_activate\n@@activate", "enabled", True),
        ("@@depth 1\n@@depth 9", "position_index", 1),
    ],
)
def test_a_decorator_changes_the_entry(lines: str, field: str, value: object):
    read = read_decorators(entry(f"{lines}\nIt burns oil.", position_index=7))

    assert getattr(read.entry, field) == value
    assert read.entry.content == "It burns oil."


def test_an_unknown_decorator_gives_way_to_the_first_fallback_that_is_known():
    chain = "@@instruct_depth 50\n@@@reverse_depth 1\n@@@is_user_icon x\n@@@depth nonsense\n@@@depth 2\n@@@depth 8"

    read = read_decorators(entry(f"{chain}\n@@made_up\n\nText.\n@@depth 9 stays"))

    assert (read.entry.position_index, read.unknown) == (2, ("made_up",))
    assert read.entry.content == "Text.\n@@depth 9 stays"
    assert read_decorators(entry("@@depth 4\n@@@depth 1\nText.")).entry.position_index == 4


@pytest.mark.parametrize("content", ["", "Text.", "a @@depth 2", "@ depth", "@@", "@@\n@@@", "@@@depth 3\nText."])
def test_whatever_stands_there_is_read(content: str):
    assert "@@depth 3" not in read_decorators(entry(content)).entry.content


def test_lines_of_decorators_are_not_inserted():
    (activated,) = heard(entry("@@depth 2\n@@role user\nIt burns oil.")).activated

    assert (activated.entry.content, activated.entry.position_index, activated.entry.role) == ("It burns oil.", 2, Role.USER)


@pytest.mark.parametrize(
    ("line", "turn", "messages", "is_active"),
    [
        ("@@activate_only_after 2", 1, 2, False),
        ("@@activate_only_after 2", 3, 5, True),
        ("@@activate_only_every 3", 3, 6, True),
        ("@@activate_only_every 3", 4, 8, False),
    ],
)
def test_replies_are_counted(line: str, turn: int, messages: int, is_active: bool):
    evaluation = heard(entry(f"{line}\nText."), turn=turn, messages=messages)

    assert bool(evaluation.activated) == is_active
    if not is_active:
        assert [(one.reason, one.values) for one in evaluation.blocked] == [(BlockReason.DECORATOR, {"name": line[2:-2]})]


@pytest.mark.parametrize(
    ("text", "is_active"),
    [("lamp", False), ("lamp oil", False), ("lamp oil wick", True), ("lamp whale wick", True), ("lamp oil wick storm", False)],
)
def test_additional_and_excluded_keys_are_conditions(text: str, is_active: bool):
    one = entry("@@additional_keys oil, whale\n@@additional_keys wick\n@@exclude_keys storm, fog\nText.")

    assert bool(heard(one, text).activated) == is_active


def test_a_greeting_is_remembered_after_it_has_left_the_prompt():
    one = entry("@@is_greeting 1\nText.")

    first = heard(one, greeting=1)
    later = heard(one, turn=90, messages=180, state=first.state)

    assert first.activated
    assert later.activated
    assert not heard(one, greeting=0).activated
    assert not heard(one).activated


def test_an_entry_fires_once_or_stays_on():
    once, kept = entry("@@dont_activate_after_match\nText."), entry("@@keep_activate_after_match\nText.")

    assert not heard(once, turn=50, state=heard(once).state).activated
    assert heard(kept, "nothing", turn=50, state=heard(kept).state).activated


def test_the_first_to_go_when_the_budget_is_exceeded_is_the_one_that_says_so():
    read = read_decorators(entry("@@ignore_on_max_context\nText.", priority=9))

    assert read.entry.priority < entry("Text.", priority=-1000).priority
