"""The words in which a persona is asked for her thoughts, and the shape of what she answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from lethe_app.agents.self_reflection import SelfReflectionAnswer
from lethe_app.prompt.task_prompts import TaskPrompts

SHIPPED = TaskPrompts(Path(__file__).parent.parent.parent / "resources" / "prompts")


def test_the_worked_example_is_an_answer_of_the_shape():
    ((question, answer),) = SHIPPED.load_prompt("thoughts").examples

    assert len(SelfReflectionAnswer.parse(answer).paragraphs) == 2
    assert "Clara" in question


def test_it_asks_for_what_the_task_gives():
    assert SHIPPED.load_prompt("thoughts").placeholders == {"name", "user", "bio", "thoughts", "conversations", "words"}


def test_an_answer_that_was_broken_off_keeps_its_whole_sentences():
    broken = '{"paragraphs": ["He was stung and laughed about it. I think I can rely on him. And tomorrow I wi'

    assert SelfReflectionAnswer.parse(broken).text == "He was stung and laughed about it. I think I can rely on him."


def test_an_answer_without_a_thought_is_useless():
    with pytest.raises(ValueError, match="paragraphs"):
        SelfReflectionAnswer.parse('{"paragraphs": []}')
