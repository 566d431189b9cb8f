"""Generation of a reply: the model's output is parsed, stored as it arrives, and committed with its receipt."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from lethe_app.domain.chat import Alternative, DegradationKind, Message, Role
from lethe_app.domain.model import LoadedModel, StopReason, Usage
from lethe_app.domain.prompt import Prompt, PromptPart
from lethe_app.domain.recall import BlockReason, TurnMemory
from lethe_app.errors import ModelError
from lethe_app.llm.client import ModelClient
from lethe_app.llm.protocol import Chunk, Done, PrefillProgress
from lethe_app.prompt.echo import EchoFilter
from lethe_app.prompt.format.thinking import ThinkingSplitter
from lethe_app.prompt.format.tool_calls import ToolCallDetector
from lethe_app.services.chat.receipts import ReceiptService
from lethe_app.services.events import PrefillStep, PromptBuilt, ReplyFinished, ReplyStarted, ReplyText, ThinkingText, TurnEvent
from lethe_app.services.prompting.assembler import PromptAssembler, ToolPrompt
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.prompting.turn_context import TurnContext, TurnLoader, stored_prefix
from lethe_app.services.scheduling.offload import run_to_completion
from lethe_app.services.sessions.reply_writer import ReplyWriter
from lethe_app.services.tools.turn import ToolTurn
from lethe_app.services.tools.turn_factory import ToolTurnFactory


class ReplyParser:
    """Parse the pieces of one generation in order; it continues `before`, which is empty for a new reply."""

    def __init__(
        self, prompt: Prompt, speaker: str, before: Alternative, call_detector: ToolCallDetector | None = None
    ) -> None:
        self._splitter = ThinkingSplitter(
            starts_in_thought=prompt.starts_in_thought, start=prompt.thinking_start, end=prompt.thinking_end
        )
        self._echo = EchoFilter(prompt.background, at_line_start=not before.content or before.content.endswith("\n"))
        self._before = before
        self._call_detector = call_detector
        self._continues = bool(before.content)
        self._opening: str | None = None if self._continues else ""
        self._name = f"{speaker}:"
        self._thinking = before.thinking
        self._answer = before.content
        self.usage: Usage | None = None
        """Usage as the engine reported it; None until generation has ended."""

    @property
    def can_stop(self) -> bool:
        """True if a tool call is complete, so that the model must not go on with an invented result."""
        return self._call_detector is not None and self._call_detector.can_stop

    @property
    def is_complete(self) -> bool:
        """True if the model ended the reply, at its limit of tokens or before."""
        return self.usage is not None and self.usage.reason is not StopReason.STOPPED

    @property
    def is_empty(self) -> bool:
        """True if neither speech nor thinking was added to the continued alternative."""
        return self._answer == self._before.content and self._thinking == self._before.thinking

    @property
    def is_only_echo(self) -> bool:
        """True if the model wrote nothing but a copy of the memory block."""
        return bool(self._echo.dropped) and self._answer.strip() == self._before.content.strip()

    def read_report(self, report: PrefillProgress | Chunk | Done) -> list[PrefillStep | ReplyText | ThinkingText]:
        """Return the events for listeners that a report of the engine means."""
        if isinstance(report, PrefillProgress):
            return [PrefillStep(report.done, report.total)]
        if isinstance(report, Done):
            self.usage = report.usage
            return []
        return [*self.feed(report.text)]

    def feed(self, piece: str) -> list[ReplyText | ThinkingText]:
        """Parse a piece and return the events for the text that is certain, in the order in which it was written."""
        split = self._splitter.feed(piece)
        answer_text = self._strip_name(self._call_detector.feed(split.answer) if self._call_detector else split.answer)
        return self._add_text(split.thought, self._echo.feed(answer_text))

    def finish(self, *, stopped: bool = False) -> list[ReplyText | ThinkingText]:
        """Emit the text that was held back. A reply of nothing but thinking becomes the answer, unless it was stopped while
        thinking.
        """
        split = self._splitter.finish()
        answer = self._call_detector.feed(split.answer) + self._call_detector.finish() if self._call_detector else split.answer
        answer_text = (
            self._echo.feed(self._strip_name(answer) + (self._opening or "").removeprefix(self._name)) + self._echo.finish()
        )
        self._opening = None
        events = self._add_text(split.thought, answer_text)
        has_calls = self._call_detector is not None and self._call_detector.calls
        if not stopped and not has_calls and not self._answer.strip() and (answer := self._splitter.only_thought):
            self._answer, self._thinking = answer, ""
            return [*events, ReplyText(answer)]
        return events

    def alternative(self, *, complete: bool, is_cut: bool = False) -> Alternative:
        """Return the alternative with the text so far; trailing whitespace is removed once it is complete."""
        answer_text = self._answer.rstrip() if complete else self._answer
        changes = {"content": answer_text, "thinking": self._thinking, "complete": complete, "is_cut": is_cut}
        return self._before.model_copy(update=changes)

    def _add_text(self, thought: str, answer_text: str) -> list[ReplyText | ThinkingText]:
        answer_text = answer_text.lstrip() if self._echo.dropped and not self._answer else answer_text
        self._thinking += thought
        self._answer += answer_text
        events: list[ReplyText | ThinkingText] = [ThinkingText(thought)] if thought else []
        return [*events, ReplyText(answer_text)] if answer_text else events

    def _strip_name(self, answer_text: str) -> str:
        """Remove leading whitespace and `Name:`; hold text back while it may still become that."""
        if self._opening is None:
            return answer_text
        text = (self._opening + answer_text).lstrip()
        if text == self._name or self._name.startswith(text):
            self._opening = text
            return ""
        self._opening = None
        return text.removeprefix(self._name).lstrip() if text.startswith(self._name) else text


MIN_REUSED_RUN = 256
"""Minimum number of tokens behind a cut of the KV cache that are reused without reading them again. A note above the last
exchange is shorter than that, and the first word of a reply is worse if the tokens before it were computed with a note that
is gone.
"""


class ReplyGenerator:
    """Generate replies, one at a time."""

    def __init__(
        self,
        turn_loader: TurnLoader,
        stable_prefixes: StablePrefixes,
        prompt_assembler: PromptAssembler,
        client: ModelClient,
        tool_turns: ToolTurnFactory,
        receipts: ReceiptService,
        cache_state: CacheState,
    ) -> None:
        self._turn_loader = turn_loader
        self._stable_prefixes = stable_prefixes
        self._prompt_assembler = prompt_assembler
        self._client = client
        self._tool_turns = tool_turns
        self._receipts = receipts
        self._cache_state = cache_state

    def decline_pending_permissions(self) -> None:
        """Stop waiting for the user's answer to a permission question about a tool call, because another reply is requested."""
        self._tool_turns.permissions.decline_pending()

    async def with_prefix(self, turn: TurnContext, model: LoadedModel, before: Message | None = None) -> TurnContext:
        """Return the turn with the stable prefix of its prompt; `before` is the reply that is regenerated.

        If the prefix had to be made, the turn is loaded again, because the prefix decides which messages belong to the
        history.
        """
        prefix = await self._stable_prefixes.prefix_of(turn, model)
        if prefix != stored_prefix(turn.states):
            turn = await self._turn_loader.load(turn.session.guid, model, before, turn.participants.speaker.unique_name)
        return replace(turn, prefix=prefix)

    async def generate(
        self,
        turn: TurnContext,
        model: LoadedModel,
        memory: TurnMemory | None,
        writer: ReplyWriter,
        continued: Alternative | None = None,
    ) -> AsyncGenerator[TurnEvent]:
        """Generate the reply to a turn that has its prefix, in as many rounds as the model calls tools.

        `continued` is the alternative to continue. Raise ModelError, PromptTooLong and the errors of storing.
        """
        tools = await self._tool_turns.start_turn(turn, model, continued, writer)
        if tools is None:
            async with aclosing(self._generate_round(turn, model, memory, writer, continued)) as events:
                async for event in events:
                    yield event
            return
        while tools.needs_generation:
            async with aclosing(tools.execute_pending_calls()) as tool_events:
                async for tool_event in tool_events:
                    yield tool_event
            if tools.has_stored:  # calls and results are part of the history now
                above = writer.message if turn.before is not None or writer.is_stored else None
                reloaded = await self._turn_loader.load(turn.session.guid, model, above, turn.participants.speaker.unique_name)
                turn = await self.with_prefix(reloaded, model, above)
            recalled, partial_reply = tools.add_inventory(memory), tools.partial_reply
            async with aclosing(self._generate_round(turn, model, recalled, writer, partial_reply, tools)) as events:
                async for event in events:
                    yield event

    async def _generate_round(
        self,
        turn: TurnContext,
        model: LoadedModel,
        memory: TurnMemory | None,
        writer: ReplyWriter,
        partial_reply: Alternative | None,
        tools: ToolTurn | None = None,
    ) -> AsyncGenerator[TurnEvent]:
        """Generate one round, which continues `partial_reply`. If the model only repeats the memories of its prompt, generate
        once more without them.
        """
        recalled, lead = memory or TurnMemory(), partial_reply or Alternative(model=model.file.name)
        reply_start = lead if lead.content.strip() else None
        tool_prompt = ToolPrompt()
        if tools is not None:
            tool_prompt = await self._tool_turns.build_tool_prompt(turn.participants.persona, model)
        # If the model only repeats the memory block, it gets a second attempt with only the memories of the system prompt.
        for background in (recalled, recalled.without_background()):
            prompt = await self._prompt_assembler.build(turn, model, background, reply_start, tool_prompt)
            yield PromptBuilt(prompt.receipt)
            if background is recalled and not (tools is not None and tools.rounds):
                yield ReplyStarted(writer.message)
            note_omissions(writer, prompt, background)
            call_detector = tools.create_call_detector() if tools is not None else None
            reply = ReplyParser(prompt, turn.participants.speaker.name, lead, call_detector)
            async with aclosing(self._stream_reply(turn, model, prompt, reply, writer)) as events:
                async for event in events:
                    yield event
            if tools is not None and tools.has_pending_calls:
                tools.set_partial_reply(reply.alternative(complete=False))
                return
            if reply.is_only_echo:
                writer.note_degradation(DegradationKind.MEMORIES_REPEATED)
            else:
                if reply.is_empty:
                    message = f"{model.file.name} returned an empty reply."
                    raise ModelError(message, "Regenerate the reply, or write another message.")
                yield ReplyFinished(writer.message, reply.usage or Usage(reason=StopReason.STOPPED))
                return

    async def _stream_reply(
        self, turn: TurnContext, model: LoadedModel, prompt: Prompt, reply: ReplyParser, writer: ReplyWriter
    ) -> AsyncGenerator[TurnEvent]:
        """Generate up to the end of the reply, or to a complete tool call, and store it as it arrives."""
        reports = self._client.generate(
            prompt.text,
            turn.files.sampler,
            self._prompt_assembler.max_reply_tokens,
            prompt.stop_strings,
            surgery=self._prompt_assembler.uses_cache_surgery,
            min_run_length=MIN_REUSED_RUN,
            state_location=self._cache_state.location_of(turn.session, turn.cache_revision),
        )
        try:
            async with aclosing(reports) as stream:
                async for report in stream:
                    for event in reply.read_report(report):
                        yield event
                    if isinstance(report, Chunk) and not reply.is_empty:
                        await writer.checkpoint(reply.alternative(complete=False))
                    if reply.can_stop:
                        break
            for event in reply.finish():
                yield event
        finally:
            # Closing the event stream cancels this generator; `run_to_completion` stores the partial reply first.
            await run_to_completion(self._commit(turn, model, prompt, reply, writer))

    async def _commit(
        self, turn: TurnContext, model: LoadedModel, prompt: Prompt, reply: ReplyParser, writer: ReplyWriter
    ) -> None:
        """Store what was generated, however generation ended, with the receipt of its prompt."""
        reply.finish(stopped=True)  # a reply that ran to its end has emitted what it held back already
        if reply.is_empty:
            return
        text = reply.alternative(complete=True).content
        receipt = await self._receipts.receipt_of(turn, model, prompt, text, reply.usage)
        is_cut = reply.usage is not None and reply.usage.reason is StopReason.LENGTH
        await writer.store_generated(reply.alternative(complete=reply.is_complete, is_cut=is_cut), receipt)


def note_omissions(writer: ReplyWriter, prompt: Prompt, memory: TurnMemory) -> None:
    """Record in the writer of a reply what its prompt and its recall had to leave out."""
    lost = {share.part: sum(cut.lost for cut in share.cuts) for share in prompt.receipt.shares}
    over_budget = sum(blocked.why is BlockReason.BUDGET for blocked in memory.blocked)
    for degradation in memory.degradations:
        writer.note_degradation(degradation.kind, **degradation.values)
    if omitted := lost.get(PromptPart.MEMORIES, 0) + lost.get(PromptPart.WORLD, 0) + over_budget:
        writer.note_degradation(DegradationKind.MEMORIES_OMITTED, count=omitted)
    if cut := lost.get(PromptPart.HISTORY, 0):
        writer.note_degradation(DegradationKind.HISTORY_CUT, count=cut)


def create_reply(turn: TurnContext) -> Message:
    """Return an empty reply of the turn's speaker, not stored yet."""
    speaker = turn.participants.speaker
    return Message(session_id=turn.session.guid, role=Role.ASSISTANT, speaker=speaker.unique_name, speaker_name=speaker.name)
