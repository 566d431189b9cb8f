"""The words in which a model is asked to fill a schema: instructions, worked examples, and the frame for the material.

Each task prompt is one file of `resources/prompts`. What stands before the first heading is the instruction; `# Material`
frames the material, with `{names}` in its gaps; every `# Example` is followed by its `# Answer`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import FileError

LOG = logging.getLogger(__name__)
SHORT = "one or two paragraphs"
LONG = "two to four paragraphs"
"""What fills the gap `{length}`."""
_HEADING = re.compile(r"^# (Material|Example|Answer)[ \t]*$", re.MULTILINE)
_GAP = re.compile(r"\{([a-z_]+)\}")


class TaskKind(StrEnum):
    """What a model can be asked to do; each is the name of a file."""

    TITLE = "title"
    SUMMARY = "summary"
    MERGE = "merge"
    """One summary out of those of the parts."""
    KEYWORDS = "keywords"
    GOALS = "goals"
    RELEVANCE = "relevance"
    ROLEPLAY = "roleplay"
    FACTS = "facts"
    CONFIRM = "confirm"
    """Does a line say what a note says?"""
    SETTLE = "settle"
    """What a new fact is to an old one near it."""
    MOOD = "mood"
    """What a conversation did to one side of a mood."""
    RECAP = "recap"
    """The rolling summary of what left the window."""


@dataclass(frozen=True)
class TaskPrompt:
    """Something to be done, in the words the model reads."""

    name: str
    instructions: str
    frame: str
    examples: tuple[tuple[str, str], ...] = ()
    """Question and answer of each."""

    @property
    def gaps(self) -> set[str]:
        """The names of the material it wants."""
        return set(_GAP.findall(self.instructions + self.frame))

    def turns(self, material: Mapping[str, str]) -> list[PromptTurn]:
        """The conversation whose next reply is the answer. `material` must fill every gap; its own braces stay as they are."""
        missing = self.gaps - material.keys()
        assert not missing, f"the errand “{self.name}” lacks {missing}"
        turns = [PromptTurn("system", _fill(self.instructions, material))]
        for question, answer in self.examples:
            turns += [PromptTurn("user", question), PromptTurn("assistant", answer)]
        return [*turns, PromptTurn("user", _fill(self.frame, material))]


class TaskPrompts:
    """The task prompts that lie in a folder, each read when it is needed; the user's own words for one go before ours.

    A file of the user's that cannot be used stops nothing: ours is taken, and `broken` tells what is wrong with it, by name.
    It is read again whenever it was changed.
    """

    def __init__(self, folder: Path, own: Path | None = None) -> None:
        """`own` is the user's folder, which need not be there."""
        self.broken: dict[str, FileError] = {}
        self._folder = folder
        self._own = own
        self._known: dict[str, TaskPrompt] = {}
        self._own_known: dict[str, tuple[int, TaskPrompt | None]] = {}
        """With the moment at which its file was written; None is one that cannot be used."""

    def prompt_of(self, task: str) -> TaskPrompt:
        """By the name of its file. Raises FileError if ours is not there or not written as it must be."""
        if task not in self._known:
            self._known[task] = _read(task, self._folder / f"{task}.md")
        return self._users(task, self._known[task]) or self._known[task]

    def _users(self, task: str, ours: TaskPrompt) -> TaskPrompt | None:
        path = self._own / f"{task}.md" if self._own is not None else None
        try:
            written = path.stat().st_mtime_ns if path is not None else 0
        except OSError:
            written = 0
        if path is None or not written:
            self.broken.pop(task, None)
            return None
        if self._own_known.get(task, (0, None))[0] != written:
            self._own_known[task] = (written, self._fitting(task, path, ours))
        return self._own_known[task][1]

    def _fitting(self, task: str, path: Path, ours: TaskPrompt) -> TaskPrompt | None:
        """The user's words, if they want no other material than ours do."""
        self.broken.pop(task, None)
        try:
            errand = _read(task, path)
        except FileError as error:
            self.broken[task] = error
        else:
            unknown = errand.gaps - ours.gaps
            if not unknown:
                return errand
            there = _listed(ours.gaps)
            self.broken[task] = FileError(path, f"nothing fills the gap {{{min(unknown)}}} in “# Material”; there are {there}")
        LOG.info("the errand %s of the user cannot be used: %s", task, self.broken[task])
        return None


def _listed(gaps: Iterable[str]) -> str:
    return ", ".join(f"{{{gap}}}" for gap in sorted(gaps)) or "none"


def _read(task: str, path: Path) -> TaskPrompt:
    try:
        return parse(task, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(path, f"it cannot be read: {error}") from error
    except ValueError as error:
        raise FileError(path, str(error)) from error


def parse(name: str, text: str) -> TaskPrompt:
    """The task prompt written in a file; raises ValueError where a heading is missing or stands in the wrong place."""
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


def _fill(text: str, material: Mapping[str, str]) -> str:
    return _GAP.sub(lambda gap: material[gap[1]], text)
