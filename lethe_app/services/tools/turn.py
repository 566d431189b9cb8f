"""Tools in one reply: hears what the model asks for, asks the user where that is wanted, does it, and tells the model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar
from uuid import UUID

from pydantic import ValidationError

from lethe_app.domain.chat import Alternative, ChatSession
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.recall import TurnMemory
from lethe_app.domain.tools import MALFORMED, CallOutcome, PermissionAnswer, Tool, ToolCall, ToolContext, ToolOutput, ToolResult
from lethe_app.errors import LetheError
from lethe_app.prompt.format.tool_calls import CallEars
from lethe_app.services.events import AskTool, Began, NoteAdded, ToolUsed
from lethe_app.services.participants import Participants
from lethe_app.services.prompting.tool_messages import as_messages
from lethe_app.services.sessions.reply_writer import ReplyWriter
from lethe_app.services.tools.invocation import NO_SUCH, NOT_WANTED, UNREADABLE, Means, at_stake, carried_out, failed, faults

Report = TypeVar("Report")
LOG = logging.getLogger(__name__)
ROUNDS = 10
"""Times that a model may ask for tools in one reply."""
AT_ONCE = 5
"""Calls that are heard in one of them."""


@dataclass
class ToolTurn:
    """Made for every reply; without tools it does nothing at all."""

    session: ChatSession
    writing: ReplyWriter
    persona: str
    user: str
    above: UUID | None
    """The message whose history ends above it, where the reply is not the newest one yet."""
    means: Means | None = None
    turn: str = ""
    known: Sequence[ToolResult] = ()
    """What was done already for another wording of the same reply."""
    unheard: Sequence[str] = ()
    """Names of tools that are not to be used now; a model that asks for one all the same does so unseen."""
    rounds: int = 0
    lead: Alternative | None = None
    """What was said and thought of the reply before it asked for something."""
    _ears: CallEars | None = None
    _counts: dict[str, int] = field(default_factory=dict)
    _refused: set[str] = field(default_factory=set)
    _is_fresh: bool = True
    _earlier: Sequence[ToolResult] = ()

    def __post_init__(self) -> None:
        self._earlier = self.known  # what this wording does itself comes on top of `known`

    @property
    def before(self) -> UUID | None:
        """Where the history of the prompt ends."""
        return self.above or (self.writing.message.id if self.writing.is_stored else None)

    @property
    def so_far(self) -> Alternative | None:
        """What of the reply stands at the end of the prompt."""
        return self.lead if self.lead is not None and self.lead.content.strip() else None

    def remembered(self, memory: TurnMemory | None) -> TurnMemory | None:
        """With what lies on the workbench."""
        if self.means is None or not self.means.inventory:
            return memory
        return (memory or TurnMemory()).model_copy(update={"bench": self.means.inventory})

    def listen(self) -> CallEars | None:
        """For one generation; None where the model does not ask by itself."""
        names = [tool.name for tool in self.means.tools] if self.means is not None and self.means.is_native else self.unheard
        self._ears = CallEars(names) if names else None
        return self._ears

    async def attend(self, reports: AsyncGenerator[Report]) -> AsyncGenerator[Report]:
        """What the model says, up to where it asks and makes up the answer."""
        async with aclosing(reports) as stream:
            async for report in stream:
                yield report
                if self._ears is not None and self._ears.has_heard:
                    return

    @property
    def is_wanted(self) -> bool:
        """Did the last generation ask for something that it may have?"""
        return self.means is not None and self._ears is not None and bool(self._ears.calls) and self.rounds < ROUNDS

    def keep_text(self, wording: Alternative) -> None:
        """What is said before tools are used; what comes after them begins a paragraph."""
        if wording.content.strip():
            wording = wording.model_copy(update={"content": f"{wording.content.rstrip()}\n\n"})
        self.lead = wording.model_copy(update={"complete": False})

    @property
    def goes_on(self) -> bool:
        """Is there something to be said still? At first there is."""
        return self._is_fresh or self.is_wanted

    async def work(self) -> AsyncGenerator[AskTool | Began | NoteAdded | ToolUsed]:
        """What is to be done before the model speaks, or speaks again."""
        is_first, self._is_fresh = self._is_fresh, False
        if is_first:
            async with aclosing(self._beforehand()) as early:
                async for event in early:
                    yield event
            return
        calls = self._ears.calls[:AT_ONCE] if self._ears is not None else []
        self._ears = None
        self.rounds += 1
        async with aclosing(self._carry_out(calls)) as events:
            async for later in events:
                yield later

    async def _beforehand(self) -> AsyncGenerator[AskTool | Began | NoteAdded | ToolUsed]:
        """What a model that cannot ask by itself wants before it answers. Nothing where it was asked already."""
        if self.means is None or self.means.is_native or self.known or self.lead is not None:
            return
        call = await self.means.decide()
        if call is None:
            return
        yield Began(self.writing.message)
        async with aclosing(self._carry_out([call])) as events:
            async for event in events:
                yield event

    async def _carry_out(self, calls: Sequence[ToolCall]) -> AsyncGenerator[AskTool | NoteAdded | ToolUsed]:
        results: list[ToolResult] = []
        is_stored = False
        try:
            for call in calls:
                verdict = PermissionAnswer.ALLOW
                if (question := await self._question(call)) is not None:
                    yield question
                    verdict = await self._answered(question)
                results.append(await self._result(call, verdict))
            is_stored = True
            for noted in await self._store(results):
                yield noted
            for result in results:
                yield ToolUsed(result, self.writing.message.id)
        finally:
            if not is_stored and results:  # stopped in the middle: what was done is known all the same
                await asyncio.shield(self._store(results))

    # One call

    def _tool(self, call: ToolCall) -> Tool | None:
        return next((tool for tool in self.means.tools if tool.name == call.name), None) if self.means else None

    async def _question(self, call: ToolCall) -> AskTool | None:
        """Asked where a tool always asks, or where what was done for another wording would be done differently again."""
        tool = self._tool(call)
        if tool is None or self.means is None or self._again(call) is not None:
            return None
        was_used = tool.changes and any(one.call.name == call.name and one.outcome is CallOutcome.DONE for one in self._earlier)
        if call.key in self._refused or not (self.means.must_ask(tool) or was_used):
            return None
        try:
            about = await at_stake(tool, call, self._occasion(0))
        except (ValidationError, LetheError):  # it would fail, and the model is told why without anybody being asked
            return None
        return AskTool(call, tool.title, self.persona, about, asyncio.get_running_loop().create_future())

    async def _answered(self, question: AskTool) -> PermissionAnswer:
        means, tool = self.means, self._tool(question.call)
        assert means is not None
        assert tool is not None
        means.asking(question)
        try:
            verdict = await question.answer
        finally:
            means.asking(None)
        if verdict is PermissionAnswer.ALWAYS:
            await means.allow(tool)
        return verdict

    def _again(self, call: ToolCall) -> ToolResult | None:
        """What came of the same wish before, for this reply in any wording."""
        number = self._counts.get(call.key, 0)
        same = [one for one in self.known if one.call.key == call.key and one.outcome is CallOutcome.DONE]
        tool = self._tool(call)
        if number < len(same):
            return same[number]
        return same[-1] if same and tool is not None and not tool.every_time else None

    def _occasion(self, number: int) -> ToolContext:
        place = (self.session.persona_id, self.persona, self.user, self.session.guid)
        return ToolContext(*place, self.turn, number)

    async def _result(self, call: ToolCall, verdict: PermissionAnswer) -> ToolResult:
        number = self._counts.get(call.key, 0)
        again = self._again(call)
        self._counts[call.key] = number + 1
        if again is not None:
            return again.model_copy(update={"call": call})
        if verdict is PermissionAnswer.NOT_NOW or call.key in self._refused:
            self._refused.add(call.key)
            title = tool.title if (tool := self._tool(call)) else call.name
            told = NOT_WANTED.format(user=self.user)
            return ToolResult(call=call, text=told, shown=f"did not {title}: you said not now", outcome=CallOutcome.REFUSED)
        result = await self._used(call, number)
        self.known = [*self.known, result]
        return result

    async def _used(self, call: ToolCall, number: int) -> ToolResult:
        means, tool = self.means, self._tool(call)
        assert means is not None
        if tool is None:
            names = ", ".join(one.name for one in means.tools)
            words = UNREADABLE if call.name == MALFORMED else NO_SUCH.format(name=call.name[:60], names=names)
            return ToolResult(call=call, text=words, shown="asked for a tool that is not there", outcome=CallOutcome.FAILED)
        try:
            told = await carried_out(tool, call, self._occasion(number))
        except ValidationError as problem:
            return failed(call, tool, f"That did not fit: {faults(problem)}")
        except LetheError as problem:
            return failed(call, tool, " ".join(filter(None, (problem.message, problem.remedy))))
        except Exception as problem:  # the code of a plug-in may raise anything, and the reply comes all the same
            LOG.info("the tool %s broke", tool.name, exc_info=True)
            means.broke(tool, problem)
            return failed(call, tool, f"It broke ({type(problem).__name__}).")
        told = await self._shortened(tool, told)
        return ToolResult(call=call, text=told.text, shown=told.shown)

    async def _shortened(self, tool: Tool, told: ToolOutput) -> ToolOutput:
        means = self.means
        if means is None or told.looked_after or len(told.text) <= means.room:
            return told
        key = await means.put(f"{tool.name}-{self.turn[:4]}-{len(self.known) + 1}", told.text)
        where = f"The whole of it lies on the workbench under “{key}”" if key else "The rest is left out"
        return replace(told, text=f"{told.text[: means.room].rstrip()} …\n({where}.)")

    async def _store(self, results: Sequence[ToolResult]) -> list[NoteAdded]:
        """Right above the reply, whether it is on disk already or still to come."""
        assert self.means is not None
        chats, below = self.means.chats, self.writing.message.id
        messages = as_messages(self.session, self.persona, [one.call for one in results], results)
        if not self.writing.is_stored:
            return [NoteAdded(message, below) for message in await chats.add_messages(messages)]
        return [NoteAdded(await chats.add_above(message, below), below) for message in messages]


class TurnsOfTools(Protocol):
    """Whoever has tools for replies."""

    def give_way(self) -> None:
        """Another reply is wanted: a question that nobody answered waits no longer."""

    async def turn(
        self,
        session: ChatSession,
        cast: Participants,
        model: LoadedModel,
        above: UUID | None,
        so_far: Alternative | None,
        writing: ReplyWriter,
    ) -> ToolTurn:
        """The tools of one reply."""


class NoTools:
    """Where nobody has any."""

    def give_way(self) -> None:
        """Nothing waits."""

    async def turn(
        self,
        session: ChatSession,
        cast: Participants,
        _model: LoadedModel,
        above: UUID | None,
        so_far: Alternative | None,
        writing: ReplyWriter,
    ) -> ToolTurn:
        """It does nothing."""
        return ToolTurn(session, writing, cast.persona.name, cast.user.name, above, lead=so_far)
