"""Tool use within one reply: detect the model's calls, ask for permission, execute them and return the results to the model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pydantic import ValidationError

from lethe_app.domain.chat import Alternative, ChatSession
from lethe_app.domain.recall import TurnMemory
from lethe_app.domain.tools import MALFORMED, CallOutcome, PermissionAnswer, Tool, ToolCall, ToolContext, ToolOutput, ToolResult
from lethe_app.errors import LetheError
from lethe_app.prompt.format.tool_calls import CallEars
from lethe_app.services.events import AskTool, Began, NoteAdded, ToolUsed
from lethe_app.services.prompting.tool_messages import as_messages
from lethe_app.services.sessions.reply_writer import ReplyWriter
from lethe_app.services.tools.invocation import NO_SUCH, NOT_WANTED, UNREADABLE, Means, at_stake, carried_out, failed, faults

Report = TypeVar("Report")
LOG = logging.getLogger(__name__)
ROUNDS = 10
"""Maximum number of generations of one reply that may end with tool calls."""
AT_ONCE = 5
"""Maximum number of calls executed per generation."""


@dataclass
class ToolTurn:
    """State of tool use within one reply. One is made for every reply; without tools it does nothing."""

    session: ChatSession
    writing: ReplyWriter
    persona: str
    user: str
    means: Means | None = None
    turn: str = ""
    known: Sequence[ToolResult] = ()
    """Results of calls made for other alternatives of the same reply."""
    unheard: Sequence[str] = ()
    """Names of tools that are not available now; a call of one is removed from the text and not executed."""
    rounds: int = 0
    lead: Alternative | None = None
    """Text and thinking of the reply before its first call."""
    _ears: CallEars | None = None
    _counts: dict[str, int] = field(default_factory=dict)
    _refused: set[str] = field(default_factory=set)
    has_stored: bool = False
    """True if calls and results were stored in the session, which belong to the history of the next prompt."""
    _is_fresh: bool = True
    _earlier: Sequence[ToolResult] = ()

    def __post_init__(self) -> None:
        self._earlier = self.known  # what this wording does itself comes on top of `known`

    @property
    def so_far(self) -> Alternative | None:
        """Return the part of the reply that ends the prompt; None if it is empty."""
        return self.lead if self.lead is not None and self.lead.content.strip() else None

    def remembered(self, memory: TurnMemory | None) -> TurnMemory | None:
        """Return the memory of the turn with the inventory of working memory added."""
        if self.means is None or not self.means.inventory:
            return memory
        return (memory or TurnMemory()).model_copy(update={"bench": self.means.inventory})

    def listen(self) -> CallEars | None:
        """Return a parser of tool calls for one generation; None if the model has no native tool calls."""
        names = [tool.name for tool in self.means.tools] if self.means is not None and self.means.is_native else self.unheard
        self._ears = CallEars(names) if names else None
        return self._ears

    async def attend(self, reports: AsyncGenerator[Report]) -> AsyncGenerator[Report]:
        """Pass on the generation up to a complete call, so that the model does not continue with an invented result."""
        async with aclosing(reports) as stream:
            async for report in stream:
                yield report
                if self._ears is not None and self._ears.has_heard:
                    return

    @property
    def is_wanted(self) -> bool:
        """Return whether the last generation contains calls and the limit of rounds is not reached."""
        return self.means is not None and self._ears is not None and bool(self._ears.calls) and self.rounds < ROUNDS

    def keep_text(self, wording: Alternative) -> None:
        """Store the text before the calls; what follows them begins a new paragraph."""
        if wording.content.strip():
            wording = wording.model_copy(update={"content": f"{wording.content.rstrip()}\n\n"})
        self.lead = wording.model_copy(update={"complete": False})

    @property
    def goes_on(self) -> bool:
        """Return whether another generation is needed; always true before the first."""
        return self._is_fresh or self.is_wanted

    async def work(self) -> AsyncGenerator[AskTool | Began | NoteAdded | ToolUsed]:
        """Execute the pending calls before the next generation."""
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
        """Let a model without native tool calls choose one before it answers. Nothing happens if results or text are present
        already.
        """
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

    # Single calls

    def _tool(self, call: ToolCall) -> Tool | None:
        return next((tool for tool in self.means.tools if tool.name == call.name), None) if self.means else None

    async def _question(self, call: ToolCall) -> AskTool | None:
        """Return a permission request; None if none is needed. It is needed if the tool always asks, or if a tool with side
        effects was used for another alternative and would be called differently now.
        """
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
        """Return the result of an equal call made before for this reply, in any alternative; None if it must be executed."""
        number = self._counts.get(call.key, 0)
        same = [one for one in self.known if one.call.key == call.key and one.outcome is CallOutcome.DONE]
        tool = self._tool(call)
        if number < len(same):
            # Equal calls get the earlier results in their order, so that all alternatives of a reply see the same ones.
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
            return ToolResult(call=call, text=told, shown=f"did not {title}: you declined", outcome=CallOutcome.REFUSED)
        result = await self._used(call, number)
        self.known = [*self.known, result]
        return result

    async def _used(self, call: ToolCall, number: int) -> ToolResult:
        means, tool = self.means, self._tool(call)
        assert means is not None
        if tool is None:
            names = ", ".join(one.name for one in means.tools)
            words = UNREADABLE if call.name == MALFORMED else NO_SUCH.format(name=call.name[:60], names=names)
            return ToolResult(call=call, text=words, shown="called an unknown tool", outcome=CallOutcome.FAILED)
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
        """Store calls and results as messages directly before the reply, whether that is stored already or not."""
        assert self.means is not None
        chats, below = self.means.chats, self.writing.message.id
        messages = as_messages(self.session, self.persona, [one.call for one in results], results)
        self.has_stored = True
        if not self.writing.is_stored:
            return [NoteAdded(message, below) for message in await chats.add_messages(messages)]
        return [NoteAdded(await chats.add_above(message, below), below) for message in messages]
