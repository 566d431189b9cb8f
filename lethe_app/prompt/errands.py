"""The words in which a model is asked to do clerk's work: instructions, worked examples, and the frame for the material.

Each errand is one file of `resources/prompts`. What stands before the first heading is the instruction; `# Material` frames the
material, with `{names}` in its gaps; every `# Example` is followed by its `# Answer`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lethe_app.domain.prompt import Turn
from lethe_app.errors import FileError

SHORT = "one or two paragraphs"
LONG = "two to four paragraphs"
"""What fills the gap `{length}`."""
_HEADING = re.compile(r"^# (Material|Example|Answer)[ \t]*$", re.MULTILINE)
_GAP = re.compile(r"\{([a-z_]+)\}")


class Task(StrEnum):
    """What a clerk can be asked to do; each is the name of a file."""

    TITLE = "title"
    SUMMARY = "summary"
    MERGE = "merge"
    """One summary out of those of the parts."""
    KEYWORDS = "keywords"
    GOALS = "goals"
    RELEVANCE = "relevance"
    ROLEPLAY = "roleplay"
    FACTS = "facts"
    SETTLE = "settle"
    """What a new fact is to an old one near it."""
    RECAP = "recap"
    """The rolling summary of what left the window."""


@dataclass(frozen=True)
class Errand:
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

    def turns(self, material: Mapping[str, str]) -> list[Turn]:
        """The conversation whose next reply is the answer. `material` must fill every gap; its own braces stay as they are."""
        missing = self.gaps - material.keys()
        assert not missing, f"the errand “{self.name}” lacks {missing}"
        turns = [Turn("system", _fill(self.instructions, material))]
        for question, answer in self.examples:
            turns += [Turn("user", question), Turn("assistant", answer)]
        return [*turns, Turn("user", _fill(self.frame, material))]


class Errands:
    """The errands that lie in a folder, each read when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Task, Errand] = {}

    def of(self, task: Task) -> Errand:
        """Raises FileError if the file is not there or not written as it must be."""
        if task not in self._known:
            path = self._folder / f"{task}.md"
            try:
                self._known[task] = parse(task, path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                raise FileError(path, f"it cannot be read: {error}") from error
            except ValueError as error:
                raise FileError(path, str(error)) from error
        return self._known[task]


def parse(name: str, text: str) -> Errand:
    """The errand written in a file; raises ValueError where a heading is missing or stands in the wrong place."""
    instructions, *rest = _HEADING.split(text)
    sections = list(zip(rest[::2], map(str.strip, rest[1::2]), strict=True))
    if not sections or sections[0][0] != "Material":
        raise ValueError("“# Material” must be its first heading")
    examples = sections[1:]
    titles = [title for title, _body in examples]
    if titles != ["Example", "Answer"] * (len(titles) // 2):
        raise ValueError("every “# Example” needs its “# Answer”")
    pairs = zip(examples[::2], examples[1::2], strict=True)
    return Errand(name, instructions.strip(), sections[0][1], tuple((asked[1], answered[1]) for asked, answered in pairs))


def _fill(text: str, material: Mapping[str, str]) -> str:
    return _GAP.sub(lambda gap: material[gap[1]], text)
