"""The shapes of answers about the internet, and the worked examples that teach them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.llm_schemas.web import (
    CompletenessAnswer,
    MergedPagesAnswer,
    OutlineAnswer,
    PageSummaryAnswer,
    ReportAnswer,
    SearchDecisionAnswer,
    TopicAnswer,
    TopicsAnswer,
)
from lethe_app.llm.engines.llama_sampling import grammar_from_schema
from lethe_app.prompt.task_prompts import TaskPrompts

SHIPPED = TaskPrompts(Path(__file__).parents[3] / "resources" / "prompts")
KINDS: dict[str, type[LlmAnswer]] = {
    "topics": TopicsAnswer,
    "merge_pages": MergedPagesAnswer,
    "wants_search": SearchDecisionAnswer,
    "plan": OutlineAnswer,
    "finding": PageSummaryAnswer,
    "report": ReportAnswer,
    "enough": CompletenessAnswer,
}


@pytest.mark.parametrize("name", KINDS)
def test_the_worked_examples_are_answers_we_would_take_as_they_are(name: str):
    task = SHIPPED.load_prompt(name)
    last_words = task.frame.splitlines()[-1].split("{")[0][:12]

    assert task.examples
    for question, answer in task.examples:
        assert question.splitlines()[-1].startswith(last_words)
        assert json.loads(KINDS[name].parse(answer).model_dump_json()).items() >= json.loads(answer).items()


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.__name__)
def test_every_schema_becomes_a_grammar(kind: type[LlmAnswer]):
    assert "root ::=" in grammar_from_schema(kind.schema_text())


@pytest.mark.parametrize(("urgency", "weight"), [(1, 1), (4, 1), (5, 2), (7, 2), (8, 3), (10, 3)])
def test_ten_steps_of_urgency_are_three(urgency: int, weight: int):
    topic = TopicAnswer.model_validate(
        {"topic": "Bees", "reason": "Ivo asked for it.", "urgency": urgency, "queries": ["bees"]}
    )

    assert topic.weight == weight


def test_a_finding_that_says_nothing_is_none():
    assert PageSummaryAnswer.parse('{"finding": ""}').text == ""
    assert PageSummaryAnswer.parse('{"finding": "None."}').text == ""
    assert PageSummaryAnswer.parse('{"finding": "The hive gives thirty kilograms"}').text == "The hive gives thirty kilograms."
