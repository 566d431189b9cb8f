"""Generation of a reply: the model's output is parsed, stored as it arrives, and committed with its receipt."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from lethe_app.domain.chat import Alternative, DegradationKind, Message
from lethe_app.domain.model import LoadedModel, StopReason, Usage
from lethe_app.domain.prompt import CacheMiss, PrefillCost, Prompt, PromptPart, PromptSpan, ReceiptEntry
from lethe_app.domain.recall import BlockReason, TurnMemory
from lethe_app.errors import LetheError, ModelError
from lethe_app.llm.client import ModelClient
from lethe_app.llm.kv_cache.reuse import ReuseOptions
from lethe_app.llm.protocol import Done, PrefillProgress
from lethe_app.prompt.echo import EchoFilter
from lethe_app.prompt.format.thinking import ThinkingSplitter
from lethe_app.prompt.format.tool_calls import ToolCallDetector
from lethe_app.prompt.receipt import compute_cost, find_new_spans
from lethe_app.prompt.speaker_labels import LabelFilter
from lethe_app.services.events import (
    Emit,
    NoteAdded,
    PrefillStep,
    PromptBuilt,
    ReplyFinished,
    ReplyStarted,
    ReplyText,
    ThinkingText,
)
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import PromptAssembler, ToolPrompt
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.prompting.turn_context import TurnContext, TurnLoader, stored_prefix
from lethe_app.services.scheduling.offload import run_to_completion
from lethe_app.services.sessions.reply_writer import ReplyWriter
from lethe_app.services.token_counts import TokenCountService
from lethe_app.services.tools.turn import ToolTurn
from lethe_app.services.tools.turn_factory import ToolTurnFactory
from lethe_app.storage.chats.receipts import Receipts, ReplyReceipt

log = logging.getLogger(__name__)


class ReplyParser:
    """Parse the pieces of one generation in order; it continues `before`, which is empty for a new reply."""

    def __init__(
        self, prompt: Prompt, speaker: str, before: Alternative, call_detector: ToolCallDetector | None = None
    ) -> None:
        self._before = before
        names = (speaker, "{{char}}", *prompt.names[0]), ("{{user}}", *prompt.names[1])
        self._create_label_filter = partial(LabelFilter, *names, before.content)
        at_line_start = not before.content or before.content.endswith("\n")
        self._create_echo_filter = partial(EchoFilter, prompt.background, at_line_start=at_line_start)
        self.labels, self.echo = self._create_label_filter(), self._create_echo_filter()
        self._splitter = ThinkingSplitter(
            prompt.starts_in_thought, prompt.thinking_start, prompt.thinking_end, labels=self._create_label_filter()
        )
        self.call_detector = call_detector
        self._thinking, self._answer = before.thinking, before.content
        self.usage: Usage | None = None
        """Usage as the engine reported it; None until generation has ended."""

    @property
    def is_empty(self) -> bool:
        """True if neither speech nor thinking was added to the continued alternative."""
        return self._answer.rstrip() == self._before.content.rstrip() and self._thinking == self._before.thinking

    @property
    def is_without_words(self) -> bool:
        """True if no speech was added, because the model only copied the memory block or spoke for others."""
        return self._answer.strip() == self._before.content.strip()

    def feed(self, piece: str) -> list[ReplyText | ThinkingText]:
        """Parse a piece and return the events for the text that is certain, in the order in which it was written."""
        if self.labels.has_ended:
            return []
        split = self._splitter.feed(piece)
        if split.is_correction:  # what was taken for the answer was thinking
            self._answer, self.labels, self.echo = (
                self._before.content,
                self._create_label_filter(),
                self._create_echo_filter(),
            )
        answer_text = self.call_detector.feed(split.answer) if self.call_detector else split.answer
        return self._add_text(split.thought, self.echo.feed(self.labels.feed(answer_text)))

    def finish(self, *, stopped: bool = False) -> list[ReplyText | ThinkingText]:
        """Emit the text that was held back. A reply of nothing but thinking becomes the answer, unless it was stopped while
        thinking.
        """
        split = self._splitter.finish()
        answer = self.call_detector.feed(split.answer) + self.call_detector.finish() if self.call_detector else split.answer
        answer_text = self.echo.feed(self.labels.feed(answer, is_end=True)) + self.echo.finish()
        events = self._add_text(split.thought, answer_text)
        has_calls = self.call_detector is not None and self.call_detector.calls
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
        answer_text = answer_text.lstrip() if self.echo.dropped and not self._answer else answer_text
        self._thinking += thought
        self._answer += answer_text
        events: list[ReplyText | ThinkingText] = [ThinkingText(thought)] if thought else []
        return [*events, ReplyText(answer_text)] if answer_text else events


MAX_COMPARED_SESSIONS = 6
"""Number of sessions whose last prompt is remembered; for the others the cost cannot be compared."""


@dataclass(frozen=True)
class EvaluatedTurn:
    """Prompt and reply that the model last processed in a session."""

    model: LoadedModel
    spans: Sequence[PromptSpan]
    reply: str = ""


class ReceiptService:
    """Make receipts of replies: the composition of the prompt, and its cost compared with the prompt before it."""

    def __init__(self, receipts: Receipts, token_counts: TokenCountService, preferences: Preferences) -> None:
        self._preferences = preferences
        self._receipts = receipts
        self._token_counts = token_counts
        self._last_turns: OrderedDict[UUID, EvaluatedTurn] = OrderedDict()
        """By session, the most recently used last."""

    async def receipt_of(
        self, turn: TurnContext, model: LoadedModel, prompt: Prompt, text: str, usage: Usage | None
    ) -> ReplyReceipt | None:
        """Return the receipt to store with a reply of this text; None if it cannot be computed, which does not affect the
        reply.

        `usage` is None if the reply was stopped before the model reported it.
        """
        session_id, cost = turn.session.guid, None
        try:
            cost = await self._compute_cost(session_id, model, prompt, usage) if usage is not None else None
        except LetheError as error:
            log.warning("What a reply cost could not be worked out: %s", error)
            return None
        # Remembered even if the cost is unknown, because the next prompt is compared with this one.
        finally:
            self._last_turns[session_id] = EvaluatedTurn(model, prompt.spans, text)
            self._last_turns.move_to_end(session_id)
            while len(self._last_turns) > MAX_COMPARED_SESSIONS:
                self._last_turns.popitem(last=False)
        is_wanted = self._preferences.current.keep_retrieved_context
        entry = ReceiptEntry(prompt.receipt, cost, is_text_stored=is_wanted)
        spans = prompt.spans if is_wanted and not turn.session.is_incognito else ()
        return ReplyReceipt(entry, turn.session.persona_id, spans, turn.rows.deletions)

    async def _compute_cost(self, session_id: UUID, model: LoadedModel, prompt: Prompt, usage: Usage) -> PrefillCost:
        previous = self._last_turns.get(session_id)
        if previous is None or previous.model is not model:
            return PrefillCost(usage.evaluated_tokens, usage.reused_tokens, usage.drift, compared=False)
        new_spans = find_new_spans(previous.spans, previous.reply, prompt.spans)
        tokens = sum(await self._token_counts.count([span.text for span in new_spans]))
        cost = compute_cost(
            previous.spans,
            prompt.spans,
            tokens,
            usage.evaluated_tokens,
            usage.prompt_tokens,
            usage.drift,
            prompt.receipt.layout,
        )
        is_other_session = next(reversed(self._last_turns)) != session_id
        return replace(cost, reason=CacheMiss.ELSEWHERE, part="") if cost.again and is_other_session else cost


MIN_REUSED_RUN = 256
"""Minimum number of tokens behind a cut of the KV cache that are reused without reading them again. A note above the last
exchange is shorter than that, and the first word of a reply is worse if the tokens before it were computed with a note that
is gone.
"""


@dataclass
class TurnRun:
    """One reply while it is made; what a step finds out is kept for the next one."""

    emit: Emit
    turn: TurnContext
    model: LoadedModel
    writer: ReplyWriter
    before: Message | None = None
    """Reply that is regenerated or continued."""
    continued: Alternative | None = None
    """Alternative that is continued."""
    memory: TurnMemory | None = None

    async def add_note(self, note: Message, above: UUID) -> None:
        """Add a hidden message that was just stored directly above another one."""
        self.turn = self.turn.with_hidden_message(note, above)
        await self.emit(NoteAdded(note, above))


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
        preferences: Preferences,
    ) -> None:
        self._turn_loader = turn_loader
        self._stable_prefixes = stable_prefixes
        self._prompt_assembler = prompt_assembler
        self._client = client
        self._tool_turns, self.permissions = tool_turns, tool_turns.permissions
        self._receipts = receipts
        self._cache_state = cache_state
        self._preferences = preferences

    async def load_prefix(self, run: TurnRun, above: Message | None = None) -> None:
        """Give the turn the stable prefix of its prompt; `above` is the reply above which the history ends, if any.

        If the prefix had to be made, the turn is loaded again, because the prefix decides which messages belong to the
        history.
        """
        above = above or run.before
        prefix = await self._stable_prefixes.prefix_of(run.turn, run.model)
        if prefix != stored_prefix(run.turn.rows.states):
            await self._reload(run, above)
        run.turn = replace(run.turn, prefix=prefix)

    async def _reload(self, run: TurnRun, above: Message | None) -> None:
        speaker = run.turn.participants.speaker.unique_name
        run.turn = await self._turn_loader.load(run.turn.session.guid, run.model, above, speaker)

    async def generate(self, run: TurnRun) -> None:
        """Generate the reply to a turn that has its prefix, in as many rounds as the model calls tools.

        Raise ModelError, PromptTooLong and the errors of storing.
        """
        tools = await self._tool_turns.start_turn(run.turn, run.model, run.continued, run.writer)
        if tools is None:
            await self._generate_round(run, run.memory, run.continued)
            return
        while tools.needs_generation:
            await tools.execute_pending_calls(run.emit)
            if tools.has_stored:  # calls and results are part of the history now
                above = run.writer.message if run.turn.before is not None or run.writer.is_stored else None
                await self._reload(run, above)
                await self.load_prefix(run, above)
            await self._generate_round(run, tools.add_inventory(run.memory), tools.partial_reply, tools)

    async def _generate_round(
        self, run: TurnRun, memory: TurnMemory | None, partial_reply: Alternative | None, tools: ToolTurn | None = None
    ) -> None:
        """Generate one round, which continues `partial_reply`. If the model only repeats the memories of its prompt, generate
        once more without them; if it only speaks for others, once more behind the persona's name.
        """
        turn, model, writer = run.turn, run.model, run.writer
        recalled, lead = memory or TurnMemory(), partial_reply or Alternative(model=model.file.name)
        reply_start = lead if lead.content.strip() else None
        tool_prompt = ToolPrompt()
        if tools is not None:
            tool_prompt = await self._tool_turns.build_tool_prompt(turn.participants.persona, model)
        background, opening = recalled, ""
        for is_second in (False, True):
            prompt = await self._prompt_assembler.build(turn, model, background, reply_start, tool_prompt)
            if opening and not prompt.starts_in_thought and not prompt.text.endswith(opening):
                spans = (*prompt.spans, PromptSpan(PromptPart.TEMPLATE, opening))
                prompt = replace(prompt, text=prompt.text + opening, label=partial(tuple, spans))
            await run.emit(PromptBuilt(prompt.receipt))
            if not is_second and not (tools is not None and tools.rounds):
                await run.emit(ReplyStarted(writer.message))
            note_omissions(writer, prompt, background)
            call_detector = tools.create_call_detector() if tools is not None else None
            reply = ReplyParser(prompt, turn.participants.speaker.name, lead, call_detector)
            await self._stream_reply(run, prompt, reply)
            if tools is not None and tools.has_pending_calls:
                tools.set_partial_reply(reply.alternative(complete=False))
                return
            if (
                reply.echo.dropped and reply.is_without_words
            ):  # the memories of the system prompt are left to the second attempt
                writer.note_degradation(DegradationKind.MEMORIES_REPEATED)
                background = recalled.without_background()
            elif reply.labels.has_ended and reply.is_without_words and reply_start is None and not is_second:
                opening = f"{prompt.names[0][0]}:"
            else:
                if reply.is_empty or (reply.labels.has_ended and reply.is_without_words):
                    raise _explain_empty_reply(run, reply)
                await run.emit(ReplyFinished(writer.message, reply.usage or Usage(reason=StopReason.STOPPED)))
                return

    async def _stream_reply(self, run: TurnRun, prompt: Prompt, reply: ReplyParser) -> None:
        """Generate up to the end of the reply, or to a complete tool call, and store it as it arrives."""
        turn, settings = run.turn, self._preferences.current
        # Names are left to the parser, because a thought may hold them.
        stops = [one for one in prompt.stop_strings if one not in {f"\n{name}:" for name in prompt.names[1]}]
        reports = self._client.generate(
            prompt.text,
            turn.files.sampler,
            settings.max_reply,
            stops,
            reuse=ReuseOptions(settings.cache_surgery, MIN_REUSED_RUN),
            state_location=self._cache_state.location_of(turn.session, turn.cache_revision),
            is_complete=lambda: reply.labels.has_ended,
        )
        try:
            async with aclosing(reports) as stream:
                async for report in stream:
                    if isinstance(report, PrefillProgress):
                        await run.emit(PrefillStep(report.done, report.total))
                    elif isinstance(report, Done):
                        is_complete = reply.labels.has_ended and report.usage.reason is StopReason.STOPPED
                        reply.usage = replace(report.usage, reason=StopReason.END) if is_complete else report.usage
                    else:
                        for event in reply.feed(report.text):
                            await run.emit(event)
                        if not reply.is_empty:
                            await run.writer.checkpoint(reply.alternative(complete=False))
                    if reply.call_detector is not None and reply.call_detector.can_stop:
                        break
            for event in reply.finish():
                await run.emit(event)
        finally:
            # Closing the stream of events cancels this; `run_to_completion` stores the partial reply first.
            await run_to_completion(self._commit(run, prompt, reply))

    async def _commit(self, run: TurnRun, prompt: Prompt, reply: ReplyParser) -> None:
        """Store what was generated, however generation ended, with the receipt of its prompt."""
        reply.finish(stopped=True)  # a reply that ran to its end has emitted what it held back already
        if reply.is_empty:
            return
        text = reply.alternative(complete=True).content
        receipt = await self._receipts.receipt_of(run.turn, run.model, prompt, text, reply.usage)
        reason = reply.usage.reason if reply.usage is not None else StopReason.STOPPED
        stored = reply.alternative(complete=reason is not StopReason.STOPPED, is_cut=reason is StopReason.LENGTH)
        await run.writer.store_generated(stored, receipt)


def _explain_empty_reply(run: TurnRun, reply: ReplyParser) -> LetheError:
    if run.continued is not None:
        return LetheError("This reply is finished: the model has nothing to add.")
    what = "spoke only for others" if reply.labels.has_ended else "returned an empty reply"
    return ModelError(f"{run.model.file.name} {what}.", "Regenerate the reply, or write another message.")


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
