"""Interface of background tasks: one thing a persona may do while the user is away. Plug-ins can add tasks of their own.

A task is a class with a name, texts for the user, an interval, and two methods:

    class Letters(AgentTask):
        name = "letters"                            # permanent: runs and state are stored under it
        title = "Unsent letters"                    # for the user
        help = "Writes a letter to you about the last conversation."
        every = timedelta(hours=24)                 # counted from the last run that was MADE or NOTHING
        needs = frozenset({TaskRequirement.MODEL})  # a qualified model; WEB: internet access is allowed

        async def observe(self, view: TaskView) -> bool:
            newest = await view.list_sessions(archived=True, limit=1)  # read only, and fast: no model is called here
            return bool(newest) and (await view.load_state()).get("last") != str(newest[0].guid)

        async def execute(self, context: TaskContext) -> TaskResult:
            (newest,) = await context.list_sessions(archived=True, limit=1)
            context.report_progress("Reading the last conversation")
            session = await context.load_session(newest.guid)
            letter = await context.ask("letter", Letter, name=context.persona.name, summary=session.content)
            await context.save_state({"last": str(newest.guid)})
            if not letter.text:
                return NOTHING
            await context.memorize(MemoryUnit(category=MemoryType.JOURNAL, name="A letter", content=letter.text))
            await context.leave_note(f"{context.persona.name} has written {context.user.name} a letter.")
            return TaskResult("Wrote a letter about the last conversation.")

`ask` takes the name of a file in `resources/prompts` (see `prompt.task_prompts`), or a `TaskPrompt` that a plug-in parsed
from its own text, and a subclass of `LlmAnswer` (see `brain.llm_schemas.archive`), whose JSON schema constrains the output.

The runtime guarantees that the user is away, that the settings and the budget allow the run, that the task is due, that one
task runs at a time, that every run is stored before it begins and closed afterwards, that tokens are counted, and that
everything made through the context is recorded with the run and can be undone. The task must expect that `execute` is
cancelled at any `await`, because the user comes first. It is restarted later and must then neither repeat nor lose anything.
Therefore write results last and set the state right after them; a long task stores its position in the state. Do not catch
CancelledError. A LetheError may be raised: the run has then failed, its message is shown, and the task is retried later.

A task that needs more than the context offers (the internet, the changes of a dream) receives it in its constructor.
Built-in tasks are listed in `composition.background`; plug-ins use the entry point group `lethe.tasks`, which names a class
whose constructor takes no arguments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Protocol, TypeVar
from uuid import UUID

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.text.utterance import Utterance
from lethe_app.config.settings import Settings
from lethe_app.domain.agent_runs import ProducedRecord, RunOutcome, TaskRun
from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.domain.recall import RecalledMemory
from lethe_app.errors import LetheError
from lethe_app.prompt.task_prompts import TaskPrompt

T = TypeVar("T", bound=LlmAnswer)


class TaskRequirement(StrEnum):
    """Requirement of a task that must be met before it runs."""

    MODEL = "model"
    """A model that is qualified to write."""
    FACTS = "facts"
    """A model that is also qualified to extract facts."""
    WEB = "web"
    """The user's permission to search the internet."""


class ChangeRefused(LetheError):
    """Raised when a task tries to change what the user wrote or protects."""


@dataclass(frozen=True)
class TaskResult:
    """Result of a run."""

    summary: str = ""
    """One sentence for the user: what was done, or why there was nothing to do."""
    made: tuple[ProducedRecord, ...] = ()
    """Only what was not made through the task context, which records its results itself."""
    outcome: RunOutcome = RunOutcome.MADE
    """MADE or NOTHING."""

    def __post_init__(self) -> None:
        assert self.outcome in {RunOutcome.MADE, RunOutcome.NOTHING}, "every other outcome is set by the runtime"


NOTHING = TaskResult(outcome=RunOutcome.NOTHING)


class TaskView(Protocol):
    """Read-only view for a task that decides whether there is something to do. All its methods are cheap."""

    @property
    def persona(self) -> Persona: ...

    @property
    def user(self) -> Persona: ...

    @property
    def moment(self) -> datetime:
        """Present moment, by the clock of the application."""

    @property
    def settings(self) -> Settings: ...

    @property
    def last_run(self) -> TaskRun | None:
        """Newest completed run (MADE or NOTHING) of this task for this persona."""

    async def list_memories(self) -> Sequence[MemoryUnit]:
        """Return all memories except sessions and those in the trash, newest first."""

    async def list_facts(self) -> list[ExtractedFact]:
        """Return the facts that are neither superseded nor part of a story, newest first."""

    async def list_sessions(self, *, archived: bool | None = None, limit: int = 20) -> list[SessionSummary]:
        """Return the persona's sessions, newest activity first; `archived` selects only those that are, or are not,
        archived.
        """

    async def load_session(self, guid: UUID) -> ChatSession:
        """Return the complete session with its title, summary and plans."""

    async def list_utterances(self, guid: UUID, newest: int = 0) -> list[Utterance]:
        """Return what was said, oldest first: all utterances, or those among the last `newest` messages. Hidden messages are
        left out.
        """

    async def load_state(self) -> dict[str, object]:
        """Return the stored state of this task for this persona: any JSON object, empty at first."""


class TaskContext(TaskView, Protocol):
    """Context of a running task. Everything made through it is recorded with the run at once."""

    @property
    def run_id(self) -> UUID: ...

    async def ask(self, task_prompt: str | TaskPrompt, answer: type[T], **values: str) -> T:
        """Return the model's answer; wait while a reply to the user is generated. Raise ModelError, or its subclass
        AnswerUnusable.
        """

    async def free_tokens(self, task_prompt: str | TaskPrompt, answer: type[LlmAnswer], **values: str) -> int:
        """Return the number of tokens that the placeholders not given in `values` may take together."""

    async def split_to_fit(
        self, task_prompt: str | TaskPrompt, answer: type[LlmAnswer], utterances: Sequence[Utterance], **values: str
    ) -> list[list[Utterance]]:
        """Split `utterances` into portions that fit the task prompt, as formatted by `chunking.format_lines`."""

    async def count(self, texts: list[str]) -> list[int]:
        """Return the number of tokens of each text."""

    async def search_memories(self, text: str, limit: int = 3) -> list[RecalledMemory]:
        """Return the memories most similar to a text, best first. Text from the internet is quoted within fences."""

    async def memorize(self, memory: MemoryUnit) -> MemoryUnit:
        """Store a memory as `made_by` this task and return the stored record. It replaces an equivalent memory that a task
        wrote before.
        """

    async def edit_memory(self, memory: MemoryUnit) -> None:
        """Replace the memory with the same guid. Raise ChangeRefused if the user wrote or protects it."""

    async def forget_memory(self, guid: UUID) -> None:
        """Move a memory to the trash. Raise ChangeRefused if the user wrote or protects it."""

    async def leave_note(self, info: str, uid: str = "") -> None:
        """Store one sentence for the user's return. It replaces a waiting note of the same `uid` (default: the task's name)."""

    async def save_finding(self, key: str, text: str, addresses: Sequence[str] = ()) -> None:
        """Store a text in working memory under `task/<name of the task>`, where replies can read it for a day. `addresses` are
        the web pages it comes from; it is then only ever quoted.
        """

    async def edit_persona(self, **fields: object) -> None:
        """Change the personal thoughts (`Persona.self_edit_field`) or the week (`Persona.schedule` and
        `Persona.schedule_prefix`). Raise ChangeRefused for other fields.
        """

    async def save_state(self, state: Mapping[str, object]) -> None:
        """Replace the stored state."""

    async def record_result(self, made: ProducedRecord) -> None:
        """Record at once what was made without this context, so that it is not lost if the run is cancelled."""

    def report_progress(self, step: str) -> None:
        """Show a few words about the current step."""


class AgentTask(ABC):
    """Base class of background tasks; see the module's docstring."""

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str] = ""
    every: ClassVar[timedelta] = timedelta(hours=24)
    needs: ClassVar[frozenset[TaskRequirement]] = frozenset()

    def is_default_for(self, persona: Persona) -> bool:
        """Return whether the task is a default for this persona. It is not called for a persona with a selection of its own."""
        return True

    @abstractmethod
    async def observe(self, view: TaskView) -> bool:
        """Return whether there is something to do. If not, it is called again after a while and nothing is recorded."""

    @abstractmethod
    async def execute(self, context: TaskContext) -> TaskResult:
        """Perform the task."""


def may_change(memory: MemoryUnit) -> bool:
    """Return whether a task may change the memory: a task or tool wrote it and it is not protected."""
    return bool(memory.made_by) and not memory.protected
