"""What a task is: one thing a persona may do while nobody writes, in a shape to which anybody can add.

A task is a class with a name, words for the user, its own pace, and two methods:

    class Letters(AgentTask):
        name = "letters"                            # for ever: runs and state are kept under it
        title = "Unsent letters"                    # for the user
        help = "Writes a letter to you about the last conversation."
        every = timedelta(hours=24)                 # counted from the last run that was MADE or NOTHING
        needs = frozenset({Need.MODEL})             # a model to be trusted; Need.WEB: the internet is allowed

        async def observe(self, sight: Sight) -> bool:
            newest = await sight.sessions(archived=True, most=1)     # reading only, and quick: no model is asked here
            return bool(newest) and (await sight.state()).get("last") != str(newest[0].guid)

        async def execute(self, scene: TaskContext) -> Result:
            (newest,) = await scene.sessions(archived=True, most=1)
            scene.progress("Thinking of what was said")
            session = await scene.session(newest.guid)
            letter = await scene.ask("letter", Letter, name=scene.persona.name, summary=session.content)
            await scene.set_state({"last": str(newest.guid)})
            if not letter.text:
                return NOTHING
            await scene.memorize(MemoryUnit(category=MemoryType.JOURNAL, name="A letter", content=letter.text))
            await scene.leave_note(f"{scene.persona.name} has written {scene.user.name} a letter.")
            return Result("Wrote a letter about the last conversation.")

`scene.ask` takes the name of a file in `resources/prompts` (see `prompt.task_prompts`), or a `TaskPrompt` that a plug-in parsed
from words of its own, and an `LlmAnswer` (see `brain.llm_schemas.archive`), which is the shape the model is held to.

What the runtime sees to: that the user is away, allows it and can afford it, that the task is due, that one runs at a time,
that every run is stored before it begins and closed afterwards, that tokens are counted, and that everything made with the
hands of a scene is noted with the run and can be undone. What a task sees to: `execute` may be cancelled at every `await`,
for the user comes first; it is begun anew later and must then neither repeat nor lose anything. So write last, and set the
state right after it; long work keeps its place in the state. Catch no CancelledError. A LetheError may simply be raised: the
run has failed, its message is shown, and the task is tried again after a while.

A task that needs more than a scene has (the internet, the changes of a dream) is given it by its constructor. Tasks of ours
are listed in `wiring_away`; those of others come by the entry point group `lethe.tasks`, naming a class that takes no
arguments.
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
from lethe_app.domain.agent_runs import Made, RunOutcome, TaskRun
from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.domain.recall import Recollection
from lethe_app.errors import LetheError
from lethe_app.prompt.task_prompts import TaskPrompt

T = TypeVar("T", bound=LlmAnswer)


class Need(StrEnum):
    """What must be there before a task is begun."""

    MODEL = "model"
    """A model that may be trusted to write."""
    FACTS = "facts"
    """One that may even be trusted with facts."""
    WEB = "web"
    """The user's leave to search the internet."""


class ChangeRefused(LetheError):
    """A task wanted to change what the user wrote or protects."""


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    summary: str = ""
    """One sentence for the user: what was done, or why there was nothing to do."""
    made: tuple[Made, ...] = ()
    """Only what was not made with the task context: those are noted already."""
    outcome: RunOutcome = RunOutcome.MADE
    """MADE or NOTHING."""

    def __post_init__(self) -> None:
        assert self.outcome in {RunOutcome.MADE, RunOutcome.NOTHING}, "every other outcome is for the runtime to tell"


NOTHING = Result(outcome=RunOutcome.NOTHING)


class Sight(Protocol):
    """What a task may look at: all of it cheap, none of it changed."""

    @property
    def persona(self) -> Persona: ...

    @property
    def user(self) -> Persona: ...

    @property
    def moment(self) -> datetime:
        """Now, by the clock everything goes by."""

    @property
    def settings(self) -> Settings: ...

    @property
    def last_run(self) -> TaskRun | None:
        """This task's newest run for this persona that came to its end (MADE or NOTHING)."""

    async def memories(self) -> Sequence[MemoryUnit]:
        """All that are neither conversations nor in the trash, newest first."""

    async def facts(self) -> list[ExtractedFact]:
        """Those that hold, newest first."""

    async def sessions(self, *, archived: bool | None = None, most: int = 20) -> list[SessionSummary]:
        """Hers, newest activity first; with `archived` only those that are, or only those that are not."""

    async def session(self, guid: UUID) -> ChatSession:
        """Whole, with title (`name`), summary (`content`), plans (`future_goals`) and so on."""

    async def lines(self, guid: UUID, newest: int = 0) -> list[Utterance]:
        """What was said aloud, oldest first: all of it, or as much of it as the newest so many messages hold."""

    async def state(self) -> dict[str, object]:
        """What this task keeps for this persona: any JSON, empty at first."""


class TaskContext(Sight, Protocol):
    """The context of a task while it runs. What is made through it is noted with the run at once."""

    @property
    def run_id(self) -> UUID: ...

    async def ask(self, errand: str | TaskPrompt, answer: type[T], **material: str) -> T:
        """The model's answer; waits while the user is answered. Raises ModelError, AnswerUnusable among them."""

    async def room(self, errand: str | TaskPrompt, answer: type[LlmAnswer], **material: str) -> int:
        """Tokens that the gaps not named in `material` may take together."""

    async def portions(
        self, errand: str | TaskPrompt, answer: type[LlmAnswer], lines: Sequence[Utterance], **material: str
    ) -> list[list[Utterance]]:
        """All of `lines` in portions that the task prompt can take; see `brain.portions.spell_all` for their words."""

    async def count(self, texts: list[str]) -> list[int]:
        """Tokens of each text."""

    async def search(self, text: str, most: int = 3) -> list[Recollection]:
        """What a text is nearest to in all she remembers, best first; what came from the internet is quoted, within fences."""

    async def memorize(self, memory: MemoryUnit) -> MemoryUnit:
        """Keep it, `made_by` this task; in the place of what a task wrote before if that says the same. As it is now."""

    async def edit(self, memory: MemoryUnit) -> None:
        """Another content under the same guid. Raises Refused for what the user wrote or protects."""

    async def forget_memory(self, guid: UUID) -> None:
        """Move a memory to the trash. Raises Refused for what the user wrote or protects."""

    async def leave_note(self, info: str, uid: str = "") -> None:
        """One sentence to tell at the user's return, in place of one that waits of the same `uid` (the task's name)."""

    async def edit_persona(self, **fields: object) -> None:
        """Her own thoughts (`self_edit_field`) or her plan (`schedule`, `schedule_prefix`); nothing else is hers to change."""

    async def set_state(self, state: Mapping[str, object]) -> None:
        """Replace what is kept."""

    async def note_made(self, made: Made) -> None:
        """Note at once what was made without these hands, so that it is not lost if the run is cut off."""

    def progress(self, words: str) -> None:
        """A few words, shown live: what is being done now."""


class AgentTask(ABC):
    """One thing a persona may do; see above."""

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str] = ""
    every: ClassVar[timedelta] = timedelta(hours=24)
    needs: ClassVar[frozenset[Need]] = frozenset()

    def suits(self, persona: Persona) -> bool:
        """Is it something for this persona, if nobody chose? A persona with tasks of her own choosing is not asked."""
        return True

    @abstractmethod
    async def observe(self, sight: Sight) -> bool:
        """Is there something to do? If not, it is looked again after a while; nothing is recorded."""

    @abstractmethod
    async def execute(self, scene: TaskContext) -> Result:
        """Do it."""


def may_change(memory: MemoryUnit) -> bool:
    """Was it written by a task or a tool, and is it not protected? Else it is the user's."""
    return bool(memory.made_by) and not memory.protected
