"""Prompt templates of structured tasks: instructions, worked examples, and a frame for the material.

Each task prompt is one file in `resources/prompts`. The text before the first heading is the instruction; `# Material`
frames the material, with `{names}` as placeholders; every `# Example` is followed by its `# Answer`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import FileError

LOG = logging.getLogger(__name__)
SHORT_LENGTH = "one or two paragraphs"
LONG_LENGTH = "two to four paragraphs"
"""Values of the placeholder `{length}`."""
_HEADING = re.compile(r"^# (Material|Example|Answer)[ \t]*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


class TaskKind(StrEnum):
    """Tasks for a model; each value is the name of a prompt file."""

    TITLE = "title"
    SUMMARY = "summary"
    MERGE = "merge"
    """Merge the summaries of parts into one."""
    KEYWORDS = "keywords"
    GOALS = "goals"
    RELEVANCE = "relevance"
    ROLEPLAY = "roleplay"
    FACTS = "facts"
    CONFIRM = "confirm"
    """Check whether a line says what a note says."""
    SETTLE = "settle"
    """Decide how a new fact relates to a similar known one."""
    MOOD = "mood"
    """Estimate the effect of a conversation on one mood dimension."""
    RECAP = "recap"
    """Update the rolling summary of messages that left the context window."""
    MOMENTS = "moments"
    """Choose what mattered in a day."""


@dataclass(frozen=True)
class TaskPrompt:
    """Prompt template of one task."""

    name: str
    instructions: str
    frame: str
    examples: tuple[tuple[str, str], ...] = ()
    """Material and answer of each example."""

    @property
    def placeholders(self) -> set[str]:
        """Return the names of the placeholders."""
        return set(_PLACEHOLDER.findall(self.instructions + self.frame))

    def with_instructions(self, instructions: str) -> TaskPrompt:
        """Return the prompt with the user's instructions, in which braces are text; without any it stays as it is."""
        text = _PLACEHOLDER.sub(r"\1", instructions).strip()
        return replace(self, instructions=text) if text else self

    def build_turns(self, material: Mapping[str, str]) -> list[PromptTurn]:
        """Return the conversation whose next reply is the answer. `material` must fill every placeholder; braces in it are
        left alone.
        """
        missing = self.placeholders - material.keys()
        assert not missing, f"the task “{self.name}” lacks {missing}"
        turns = [PromptTurn("system", _fill_placeholders(self.instructions, material))]
        for question, answer in self.examples:
            turns += [PromptTurn("user", question), PromptTurn("assistant", answer)]
        return [*turns, PromptTurn("user", _fill_placeholders(self.frame, material))]


class TaskPrompts:
    """Task prompts of a folder, loaded when needed. A file in the user's folder takes precedence.

    An unusable user file is ignored and its error is stored in `errors` by task name. User files are read again when they
    change.
    """

    def __init__(self, folder: Path, user_folder: Path | None = None) -> None:
        """Set the folders; `user_folder` is the user's and need not exist."""
        self.errors: dict[str, FileError] = {}
        self._folder = folder
        self._user_folder = user_folder
        self._shipped_prompts: dict[str, TaskPrompt] = {}
        self._user_prompts: dict[str, tuple[int, TaskPrompt | None]] = {}
        """User prompt by task, with the modification time of its file in nanoseconds; None for an unusable file."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return the folders of prompt files, the user's first."""
        return (self._folder,) if self._user_folder is None else (self._user_folder, self._folder)

    def load_prompt(self, task: str) -> TaskPrompt:
        """Return the prompt of a task, which is the name of its file. Raise FileError if the shipped file is missing or
        malformed.
        """
        if task not in self._shipped_prompts:
            self._shipped_prompts[task] = _read_prompt(task, self._folder / f"{task}.md")
        return self._load_user_prompt(task, self._shipped_prompts[task]) or self._shipped_prompts[task]

    def _load_user_prompt(self, task: str, shipped: TaskPrompt) -> TaskPrompt | None:
        path = self._user_folder / f"{task}.md" if self._user_folder is not None else None
        try:
            modified_at = path.stat().st_mtime_ns if path is not None else 0
        except OSError:
            modified_at = 0
        if path is None or not modified_at:
            self.errors.pop(task, None)
            return None
        if self._user_prompts.get(task, (0, None))[0] != modified_at:
            self._user_prompts[task] = (modified_at, self._read_user_prompt(task, path, shipped))
        return self._user_prompts[task][1]

    def _read_user_prompt(self, task: str, path: Path, shipped: TaskPrompt) -> TaskPrompt | None:
        """Return the user's prompt if it is valid and uses no placeholder that the shipped one lacks."""
        self.errors.pop(task, None)
        try:
            prompt = _read_prompt(task, path)
        except FileError as error:
            self.errors[task] = error
        else:
            unknown = prompt.placeholders - shipped.placeholders
            if not unknown:
                return prompt
            available = ", ".join(f"{{{name}}}" for name in sorted(shipped.placeholders)) or "none"
            self.errors[task] = FileError(
                path, f"the placeholder {{{min(unknown)}}} in “# Material” is unknown; available: {available}"
            )
        LOG.info("the user's prompt for the task %s cannot be used: %s", task, self.errors[task])
        return None


def _read_prompt(task: str, path: Path) -> TaskPrompt:
    try:
        return parse_prompt(task, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(path, f"it cannot be read: {error}") from error
    except ValueError as error:
        raise FileError(path, str(error)) from error


def parse_prompt(name: str, text: str) -> TaskPrompt:
    """Parse a task prompt file. Raise ValueError if a heading is missing or misplaced."""
    instructions, *rest = _HEADING.split(text)
    sections = list(zip(rest[::2], map(str.strip, rest[1::2]), strict=True))
    if not sections or sections[0][0] != "Material":
        raise ValueError("“# Material” must be its first heading")
    examples = sections[1:]
    titles = [title for title, _body in examples]
    if titles != ["Example", "Answer"] * (len(titles) // 2):
        raise ValueError("every “# Example” needs its “# Answer”")
    pairs = zip(examples[::2], examples[1::2], strict=True)
    return TaskPrompt(name, instructions.strip(), sections[0][1], tuple((asked[1], answered[1]) for asked, answered in pairs))


def _fill_placeholders(text: str, material: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: material[match[1]], text)
