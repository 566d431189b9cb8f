"""What a dream may make of memories and facts, whatever a model answers."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from lethe_app.brain.dreams.consolidation import (
    MergeDecision,
    build_changes,
    can_change_fact,
    can_change_memory,
    count_categories,
    group_by_identical_words,
    group_by_pairs,
    merge_identical,
    normalize_category,
    normalize_tags,
    signature,
)
from lethe_app.brain.dreams.corrections import CorrectionStrength
from lethe_app.brain.dreams.preferences import (
    STRONG_TAG,
    CorrectionRemark,
    build_anti_pattern_change,
    build_preference_change,
    group_remarks,
    is_sensitive,
    strong_pattern_ids,
)
from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.llm_schemas.memories import AntiPatternAnswer, ConsolidationAnswer, PreferencesAnswer
from lethe_app.brain.recall.memory_text import format_memory
from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.domain.changes import DROP, MERGE, REFINE, ChangedRecord, ChangedRecords
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import PERMISSION_KEY, TRUE, MemoryType, MemoryUnit
from lethe_app.prompt.task_prompts import TaskPrompts

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = ("Mira", "Tomas")


def note(content: str, **fields: object) -> MemoryUnit:
    return MemoryUnit.model_validate({"content": content, "made_by": "journal", "added": NOON, "last_trigger": NOON, **fields})


def made(decision: MergeDecision, *group: ChangedRecord) -> list[RecordedChange]:
    return build_changes(decision, group, "mira", None, NOON, NAMES)


def test_one_in_the_place_of_several_has_the_earliest_day_all_sources_summed_counts_and_the_highest_priority():
    old = note("Anna has a dog.", added=NOON - timedelta(days=9), trigger_count=2, priority=1, sources=["https://a.example"])
    more = {"sources": ["https://b.example"], "tags": ["pets"], "metadata": {PERMISSION_KEY: TRUE, "origin": "b"}}
    new = note("Anna has a dog.", added=NOON, trigger_count=3, priority=4, **more)

    (change,) = made(merge_identical([old, new]), old, new)
    (one,) = ChangedRecords.after(change).memories

    assert (one.added, one.trigger_count, one.priority, one.made_by) == (old.added, 5, 4, "dream")
    assert one.sources == ["https://a.example", "https://b.example"]
    assert one.tags == ["pets"]
    assert one.needs_permission
    assert one.metadata["origin"] == "b"


def test_one_fact_in_the_place_of_several_knows_all_that_said_it():
    first, second = uuid4(), uuid4()
    old = ExtractedFact(
        fact="Anna sings.",
        first_seen=NOON - timedelta(days=9),
        last_seen=NOON,
        source_messages=[first],
        reference_count=2,
    )
    new = ExtractedFact(fact="Anna sings!", first_seen=NOON, last_seen=NOON + timedelta(days=1), source_messages=[second])

    (change,) = made(merge_identical([old, new]), old, new)
    whole, *gone = ChangedRecords.after(change).facts

    assert (whole.first_seen, whole.last_seen, whole.reference_count) == (old.first_seen, new.last_seen, 3)
    assert whole.source_messages == [first, second]
    assert {one.superseded_by for one in gone} == {whole.guid}


ANSWERS = [
    {"verdict": "merge", "merged": [], "dropped": []},
    {"verdict": "merge", "merged": [1], "dropped": []},
    {"verdict": "merge", "merged": [1, 2, 3], "dropped": []},
    {"verdict": "merge", "merged": [1, 2, 3], "dropped": [1, 2]},
    {"verdict": "merge", "merged": [3, 2, 1, 9], "dropped": [0, 9]},
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_no_source_of_a_merger_survives_even_where_the_model_forgets_to_name_it(answer: dict[str, object]):
    group = [note("Anna has a dog."), note("Anna's dog is Pip."), note("Anna has a dog called Pip.")]
    said = ConsolidationAnswer.model_validate({"text": "Anna has a dog called Pip.", "filed_under": "", "tags": [], **answer})

    changes = made(said.to_decision(len(group)), *group)

    before = {guid for change in changes for guid in ChangedRecords.before(change).guids}
    after = {guid for change in changes for guid in ChangedRecords.after(change).guids}
    assert before == {one.guid for one in group}
    assert before.isdisjoint(after)


def test_what_is_dropped_beside_a_merger_goes_too():
    group = [note("Anna has a dog."), note("Anna has a dog called Pip."), note("Good morning.")]

    changes = made(MergeDecision(text="Anna has a dog called Pip.", sources=(0, 1), dropped=(2,)), *group)

    assert [change.what for change in changes] == [MERGE, DROP]
    assert ChangedRecords.before(changes[1]).memories == [group[2]]


@pytest.mark.parametrize(
    "text",
    [
        "Anna has a dog called Pip, a terrier.",
        "Anna has a dog.",
        "Anna has no dog called Pip.",
        "Anna has a dog called Pip. She lives in Oslo.",
        "",
    ],
)
def test_merged_words_add_nothing_and_lose_no_name(text: str):
    group = [note("Anna has a dog called Pip."), note("Anna has a dog.")]

    assert made(MergeDecision(text=text, sources=(0, 1)), *group) == []


def test_nothing_of_the_users_is_ever_part_of_a_change_whatever_is_decided():
    dice = random.Random(11)
    text = "Anna has a dog called Pip."
    for _round in range(400):
        group: list[ChangedRecord] = []
        for _place in range(dice.randint(1, 5)):
            if dice.random() < 0.5:
                fields = {"protected": dice.random() < 0.3, "sticky": dice.random() < 0.3}
                group.append(note(text, made_by=dice.choice(["", "journal"]), **fields))
            else:
                group.append(ExtractedFact(fact=text, made_by=dice.choice(list(MadeBy)), pinned=dice.random() < 0.3))
        kept = [one for one in group if not may(one)]
        decision = MergeDecision(
            text=dice.choice(["", text]),
            sources=tuple(dice.randrange(5) for _ in range(dice.randrange(4))),
            dropped=tuple(dice.randrange(5) for _ in range(dice.randrange(4))),
            filed_under="pets",
        )
        alike = [one for one in group if isinstance(one, type(group[0]))]
        touched = {guid for change in made(decision, *alike) for guid in ChangedRecords.before(change).guids}
        assert touched.isdisjoint(one.guid for one in kept)


def may(one: ChangedRecord) -> bool:
    return can_change_memory(one, NOON) if isinstance(one, MemoryUnit) else can_change_fact(one)


@pytest.mark.parametrize(
    "fields",
    [
        {"made_by": ""},
        {"protected": True},
        {"sticky": True},
        {"category": MemoryType.REMINDER},
        {"insertion": "natural"},
        {"filed_under": "user-preferences/inferred"},
        {"added": NOON + timedelta(days=1)},
    ],
)
def test_what_is_the_users_or_somebody_elses_is_not_dreamt_of(fields: dict[str, object]):
    assert can_change_memory(note("Anna sings."), NOON)
    assert not can_change_memory(note("Anna sings.", **fields), NOON)


def test_word_for_word_means_case_and_articles_do_not_count_and_everything_else_does():
    same = [note("The lamp is dark."), note("Lamp is dark!")]
    others = [note("The lamp is not dark."), note("The lamp was dark."), note("The lamp is dark.", category="event")]

    assert group_by_identical_words([*same, *others]) == [same]


def test_groups_follow_from_pairs_and_never_mix_kinds():
    one, two, three, event = note("a"), note("b"), note("c"), note("d", category="event")

    groups = group_by_pairs([one, two, three, event], [(one.guid, two.guid), (two.guid, three.guid), (three.guid, event.guid)])

    assert groups == [[one, two, three]]


def test_a_single_note_is_filed_and_keeps_its_tags():
    memory = note("Anna has a dog.", tags=["mine"])

    (change,) = made(MergeDecision(filed_under="pets/dogs", tags=("dog",)), memory)
    (filed,) = ChangedRecords.after(change).memories

    assert change.what == REFINE
    assert (filed.guid, filed.filed_under, filed.tags) == (memory.guid, "pets/dogs", ["mine", "dog"])


def test_the_same_is_not_thought_of_twice():
    group = [note("Anna has a dog."), note("Anna has a dog.")]

    assert signature(made(merge_identical(group), *group)[0]) == signature(made(merge_identical(group), *reversed(group))[0])


def test_categories_are_small_and_none_of_a_dreams_own():
    assert normalize_category(" Family / Sister! /x/y ") == "family/sister/x"
    assert normalize_category("Anti-patterns/names") == ""
    assert normalize_tags(["Big Dog", "", "big dog"]) == ("big-dog",)


def test_a_category_counts_what_lies_in_its_branches():
    filed = [note("a", filed_under="pets/dogs"), note("b", filed_under="pets"), note("c")]

    assert count_categories(filed) == {"pets": 2, "pets/dogs": 1}


# wishes


def remark(words: str, strength: CorrectionStrength, *, day: int = 0, **fields: object) -> CorrectionRemark:
    values = {"words": words, "strength": strength, "message": uuid4(), "session": uuid4(), "at": NOON + timedelta(days=day)}
    return CorrectionRemark.model_validate({**values, **fields})


@pytest.mark.parametrize(
    ("strengths", "counts"),
    [
        ("S", True),
        ("M", False),
        ("MM", True),
        ("CC", False),
        ("CCC", True),
        ("MC", False),
        ("MCC", True),
    ],
)
def test_a_preference_counts_once_strongly_twice_mildly_three_times_casually(strengths: str, counts: bool):
    named = {"S": CorrectionStrength.STRONG, "M": CorrectionStrength.MILD, "C": CorrectionStrength.CASUAL}

    (requested,) = group_remarks([remark("Keep it short.", named[letter], day=day) for day, letter in enumerate(strengths)])

    assert requested.is_frequent_enough is counts


def test_what_was_said_twice_in_one_message_or_sent_again_is_one_occasion():
    message, session = uuid4(), uuid4()
    said = [
        remark("Keep it short.", CorrectionStrength.CASUAL, message=message, session=session),
        remark("Please, shorter.", CorrectionStrength.CASUAL, message=message, session=session),
        remark("Keep it short.", CorrectionStrength.CASUAL, session=session),
    ]

    (requested,) = group_remarks([*said[:1], *said[2:]])
    assert len(requested.distinct_remarks) == 1
    assert not requested.is_frequent_enough


def test_a_preference_leads_to_its_messages_and_asks_first_where_money_is_touched():
    said = [remark("I'd prefer shorter answers about money.", CorrectionStrength.CASUAL, day=day) for day in range(3)]
    (requested,) = group_remarks(said)

    (memory,) = ChangedRecords.after(build_preference_change(requested, "Tomas", ("mira", None, NOON))).memories

    assert memory.filed_under == "user-preferences/inferred"
    assert memory.tags == ["inferred"]
    assert memory.sources == [f"message:{one.message}" for one in said]
    assert memory.metadata == {"source": "inferred", "requires_user_permission": "true"}
    assert format_memory(memory, dates=False).startswith("Ask before acting on this: ")
    assert not is_sensitive("Tomas wants shorter answers.")


def test_what_is_not_to_be_done_again_says_so_in_the_users_own_words():
    said = remark(
        "Don't call me Tommy, call me Tom.", CorrectionStrength.STRONG, unwanted="call me Tommy", instead="call me Tom"
    )
    (requested,) = group_remarks([said])

    (memory,) = ChangedRecords.after(build_anti_pattern_change(requested, "Tomas", ("mira", None, NOON))).memories

    assert memory.content == (
        "Don't call Tomas Tommy, because Tomas objected: “Don't call me Tommy, call me Tom.” Instead: call Tomas Tom."
    )
    assert memory.filed_under == "anti-patterns/names"
    assert STRONG_TAG in memory.tags


@pytest.mark.parametrize(
    ("task", "answer"), [("dream", ConsolidationAnswer), ("infer", PreferencesAnswer), ("avoid", AntiPatternAnswer)]
)
def test_the_worked_examples_are_answers_of_the_right_shape(task: str, answer: type[LlmAnswer]):
    examples = TaskPrompts(Path(__file__).parents[3] / "resources" / "prompts").load_prompt(task).examples

    assert examples
    for _question, said in examples:
        answer.parse(said)


def test_only_the_two_newest_of_what_must_never_happen_stand_in_every_prompt():
    own = {"filed_under": "anti-patterns/names", "tags": ["anti-pattern", STRONG_TAG]}
    held = [note(f"Don't {day}.", added=NOON + timedelta(days=day), **own) for day in range(4)]
    weak = note("Don't hum.", filed_under="anti-patterns/talk", tags=["anti-pattern"], added=NOON + timedelta(days=9))

    assert strong_pattern_ids([*held, weak]) == {held[2].guid, held[3].guid}
