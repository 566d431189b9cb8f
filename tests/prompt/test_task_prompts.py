"""The words of the clerk's errands, as they ship."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.errors import FileError
from lethe_app.prompt.task_prompts import TaskKind, TaskPrompts, parse_prompt

SHIPPED = TaskPrompts(Path(__file__).parent.parent.parent / "resources" / "prompts")


@pytest.mark.parametrize("task", TaskKind)
def test_every_task_prompt_ships_with_examples_and_gaps(task: TaskKind):
    task_prompt = SHIPPED.load_prompt(task)

    assert task_prompt.instructions
    assert task_prompt.placeholders
    assert task_prompt.examples


@pytest.mark.parametrize("task", TaskKind)
def test_the_examples_look_like_the_question(task: TaskKind):
    task_prompt = SHIPPED.load_prompt(task)
    last_words = task_prompt.frame.splitlines()[-1].split("{")[0][:12]

    for question, _answer in task_prompt.examples:
        assert question.splitlines()[-1].startswith(last_words)
        assert "{" not in question


def test_a_task_prompt_is_a_conversation():
    task_prompt = parse_prompt(
        "greet", "Say hello to {who}.\n\n# Material\nNow: {text}\n\n# Example\nNow: hi\n\n# Answer\nHello.\n"
    )

    turns = task_prompt.build_turns({"who": "Mira", "text": "good evening"})

    assert [(turn.role, turn.content) for turn in turns] == [
        ("system", "Say hello to Mira."),
        ("user", "Now: hi"),
        ("assistant", "Hello."),
        ("user", "Now: good evening"),
    ]


@given(st.text())
def test_material_is_taken_as_it_is(text: str):
    task_prompt = parse_prompt("echo", "Repeat.\n\n# Material\n{text}|{other}")

    assert task_prompt.build_turns({"text": text, "other": "{text}"})[-1].content == f"{text}|{{text}}"


def test_material_that_is_missing_is_a_mistake_of_ours():
    with pytest.raises(AssertionError, match="who"):
        parse_prompt("greet", "Hello.\n\n# Material\n{who}").build_turns({})


@pytest.mark.parametrize("text", ["", "No headings.", "Hi.\n# Example\nx\n# Answer\ny", "Hi.\n# Material\nx\n# Example\ny"])
def test_a_file_without_its_headings_is_named(tmp_path: Path, text: str):
    (tmp_path / "title.md").write_text(text, encoding="utf-8")

    with pytest.raises(FileError, match=r"title\.md"):
        TaskPrompts(tmp_path).load_prompt(TaskKind.TITLE)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(FileError, match=r"facts\.md"):
        TaskPrompts(tmp_path).load_prompt(TaskKind.FACTS)


OURS = "Answer briefly.\n\n# Material\n{words}\n"


@pytest.fixture
def both(tmp_path: Path) -> TaskPrompts:
    """Ours and the user's folder."""
    for name in ("ours", "own"):
        (tmp_path / name).mkdir()
    (tmp_path / "ours" / "title.md").write_text(OURS, encoding="utf-8")
    return TaskPrompts(tmp_path / "ours", tmp_path / "own")


def write(tmp_path: Path, text: str, moment: int) -> None:
    path = tmp_path / "own" / "title.md"
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(moment, moment))


def test_the_users_own_words_go_before_ours_as_soon_as_they_are_written_and_until_they_are_gone(
    tmp_path: Path, both: TaskPrompts
):
    assert both.load_prompt("title").instructions == "Answer briefly."

    write(tmp_path, OURS.replace("briefly", "in rhyme"), 1)
    assert both.load_prompt("title").instructions == "Answer in rhyme."
    write(tmp_path, OURS.replace("briefly", "at length"), 2)
    assert both.load_prompt("title").instructions == "Answer at length."

    (tmp_path / "own" / "title.md").unlink()
    assert both.load_prompt("title").instructions == "Answer briefly."


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Answer in rhyme.", "# Material"),
        ("Answer.\n# Material\n{words}\n# Example\nHello", "# Answer"),
        ("Answer.\n# Material\n{wrods}", "{wrods}"),
    ],
)
def test_where_they_cannot_be_used_ours_are_and_it_is_told_what_is_wrong(
    tmp_path: Path, both: TaskPrompts, text: str, named: str
):
    write(tmp_path, text, 1)

    assert both.load_prompt("title").instructions == "Answer briefly."
    assert "title.md" in both.errors["title"].message
    assert named in both.errors["title"].message

    write(tmp_path, OURS, 2)
    both.load_prompt("title")
    assert both.errors == {}
