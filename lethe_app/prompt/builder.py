"""Prompt builder: stable head, growing history, texts of this turn only, then the newest message.

That order, macros with frozen values and a history that is cut in blocks keep the start of the prompt the same from turn to
turn, so that the KV cache can be reused. In a group all personas share it, because the next speaker is named at the end. A
prompt that does not fit is never sent: the rendered text is counted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lethe_app.config.options import PromptLayout
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.domain.prompt import PartTokens, Prompt, PromptNote, PromptPart, PromptTurn, Receipt
from lethe_app.errors import PromptTooLong
from lethe_app.prompt.budget import CAPS, HISTORY_TARGET, BudgetPlan, TokenDemand, plan_budget
from lethe_app.prompt.control_tokens import ControlTokenFilter
from lethe_app.prompt.format.renderer import Renderer
from lethe_app.prompt.format.thinking import opens_thought
from lethe_app.prompt.group import SPEAKER_LINE, compile_group
from lethe_app.prompt.layout import PlacedTurn, PromptPieces, arrange_turns, is_titled
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.prompt.receipt import describe_cuts, describe_history_cuts, explain_overflow, sum_shares
from lethe_app.prompt.sections import CompiledSystemPrompt, StableAdditions, compile_system
from lethe_app.prompt.spans import label_spans, rewrite_spans
from lethe_app.prompt.speaker_labels import label_of, labels_by_name, split_names

Counter = Callable[[list[str]], Awaitable[list[int]]]
"""Function that returns the exact token count of each text. It should cache, because the same texts are counted repeatedly."""
_MAX_ATTEMPTS = 6
"""Maximum number of renderings until the prompt fits; each leaves more room, by the tokens that the one before had too many."""
_TITLE_TOKENS = 12
"""Estimated tokens of a section title; the rendered text is counted anyway."""
_PROBE = "x"
_MAX_LATER_TURNS = 3
"""Number of turns after the newest user message from which on that message counts as history and may be cut.

The turns from that message on are never cut, so their number must be limited: the personas of a group can answer each other.
"""


@dataclass(frozen=True)
class PromptRequest:
    """Input of one prompt. Moment and seed in `macro_context` are the session's, so that the head stays the same."""

    renderer: Renderer
    template_source: str
    persona: Persona
    """Next speaker."""
    user: Persona | None
    system: SystemPreset
    macro_context: MacroContext
    history: Sequence[PromptTurn]
    """Turns, oldest first. It ends with the new message, or with a reply after which the persona replies again."""
    context: int
    reply_reserve: int
    extras: StableAdditions = field(default_factory=StableAdditions)
    volatile: Sequence[PromptNote] = ()
    """Memories and notes for this turn only, the most important first."""
    layout: PromptLayout = PromptLayout.LATE
    history_target: float = HISTORY_TARGET
    """Share of the available history space that is kept when the history is cut."""
    previous_cut: int = 0
    """`dropped_messages` of the session's previous receipt."""
    left_messages: int = 0
    """Number of messages that were cut before."""
    is_summarised: bool = True
    """True if a summary covers them."""
    group: Sequence[Persona] = ()
    """All personas of a group in fixed order; the memory is the first one's."""
    thinking: bool = True
    continue_last: bool = False
    add_names: bool = False
    control_filter: ControlTokenFilter = field(default_factory=lambda: ControlTokenFilter(()))


@dataclass(frozen=True)
class _Draft:
    """Request split into its pieces, with all texts disarmed."""

    request: PromptRequest
    compiled: CompiledSystemPrompt
    volatile: tuple[PromptNote, ...]
    title: str
    """Heading of the notes."""
    speaker: str
    """In a group, the line that names the next speaker."""
    cuttable_history: tuple[PromptTurn, ...]
    """History that may be cut."""
    tail: tuple[PromptTurn, ...]
    """Turns from the newest user message on."""
    has_names: bool
    """True if each turn begins with the name of its speaker."""
    names: tuple[Sequence[str], Sequence[str]]
    """Names of the next speaker, and of the others."""

    def place_turns(self, budget_plan: BudgetPlan) -> list[PlacedTurn]:
        pieces = PromptPieces(
            head=rewrite_spans(self.compiled.spans(budget_plan.kept), self.request.control_filter),
            history=self.cuttable_history[budget_plan.cut :],
            tail=self.tail,
            notes=[self.volatile[index] for index in budget_plan.kept.get(PromptPart.MEMORIES, ())],
            title=self.title,
            continue_last=self.request.continue_last,
            speaker=self.speaker,
        )
        return arrange_turns(self.request.layout, pieces)

    def render(self, turns: list[PromptTurn]) -> str:
        request = self.request
        text = request.renderer.render(turns, continue_last=request.continue_last, thinking=request.thinking)
        if self.has_names and not request.continue_last and not opens_thought(text, request.renderer.thinking_start):
            return f"{text}{request.control_filter(request.macro_context.char)}:"
        return text


async def build_prompt(request: PromptRequest, count: Counter) -> Prompt:
    """Build the prompt for the next reply.

    Raise PromptTooLong if the parts that are never shortened do not fit, and TemplateUnusable if the model's template
    refuses the conversation.
    """
    draft = _build_draft(request)
    counts, limit = await _count_tokens(draft, count), request.context - request.reply_reserve
    # Tokens by which earlier attempts exceeded the limit; the plan leaves that much room.
    excess_tokens = 0
    for attempt in range(_MAX_ATTEMPTS):
        # The last attempt drops everything optional, so that the loop ends with a prompt or with PromptTooLong.
        budget_plan = (
            plan_budget(_build_demand(draft, counts, limit, excess_tokens))
            if attempt < _MAX_ATTEMPTS - 1
            else BudgetPlan(cut=len(draft.cuttable_history))
        )
        text = draft.render([turn.to_turn for turn in draft.place_turns(budget_plan)])
        tokens = (await count([text]))[0]
        if tokens <= limit:
            break
        if budget_plan.cut == len(draft.cuttable_history) and not any(budget_plan.kept.values()):
            fixed_sizes = [*counts.fixed, (PromptPart.MESSAGE, sum(counts.tail))]
            raise PromptTooLong(*explain_overflow(fixed_sizes, tokens, request.context, request.reply_reserve))
        # The budget is an estimate (titles, tokens of the format, texts tokenised one by one): the next attempt plans with
        # the excess.
        excess_tokens += tokens - limit + 8
    return _assemble_prompt(draft, counts, budget_plan, text, tokens)


def _build_draft(request: PromptRequest) -> _Draft:
    has_names = request.add_names or request.renderer.add_names or bool(request.group)
    user = (request.user,) if request.user else ()
    others = (*user, *(member for member in request.group if member != request.persona))
    everyone = (request.persona, *others)
    request = replace(request, macro_context=replace(request.macro_context, char=label_of(request.persona, everyone)))
    has_speakers = has_names or request.renderer.uses_names or any(turn.role == "calls" for turn in request.history)
    if request.renderer.uses_names:
        context, disarm = request.macro_context, request.control_filter
        speakers = MacroContext(disarm(context.user), disarm(context.char), context.moment, context.seed)
        request = replace(request, renderer=request.renderer.for_names(speakers))
    labels = labels_by_name(everyone) if has_speakers else {}
    turns = [_format_turn(turn, request, labels, has_names=has_names) for turn in request.history]
    if turns and turns[-1].role == "user" and not request.history[-1].content.strip():
        turns.pop()
    tail_start = _newest_user_index(turns)
    # What sets a variable in the system prompt counts in the notes below it.
    compiled = (
        compile_group(request.system, request.group, request.user, request.macro_context, request.extras)
        if request.group
        else compile_system(request.system, request.persona, request.user, request.macro_context, request.extras)
    )
    # The notes of a group come from the first persona's memory, whoever speaks next.
    memory_context = (
        replace(request.macro_context, char=label_of(request.group[0], everyone)) if request.group else request.macro_context
    )
    notes = [
        replace(note, text=request.control_filter(expand(note.text, context)).strip())
        for note in request.volatile
        for context in (request.macro_context if note.is_speakers else memory_context,)
    ]
    volatile = tuple(note for note in notes if note.text)
    title = request.control_filter(expand(request.system.memories_title, memory_context)).strip()
    heading = f"{request.system.category_separator} {title}".strip() if title else ""
    speaker = request.control_filter(expand(SPEAKER_LINE, request.macro_context)) if request.group else ""
    history, tail = tuple(turns[:tail_start]), tuple(turns[tail_start:])
    own, names = split_names(request.persona, *others)
    names = [name for name in (request.macro_context.user.strip(), *names) if name]
    return _Draft(request, compiled, volatile, heading, speaker, history, tail, has_names, (own, names))


def _newest_user_index(turns: Sequence[PromptTurn]) -> int:
    """Return the index of the newest user message unless `_MAX_LATER_TURNS` turns followed it, else of the last turn. Tool
    turns do not count.
    """
    later_turns = 0
    for index in range(len(turns) - 1, -1, -1):
        if turns[index].role == "user":
            return index
        later_turns += turns[index].role not in {"calls", "tool"}
        if later_turns == _MAX_LATER_TURNS:
            break
    return max(len(turns) - 1, 0)


def _format_turn(turn: PromptTurn, request: PromptRequest, labels: Mapping[str, str], *, has_names: bool) -> PromptTurn:
    """Return the turn disarmed, and with the one name under which the model knows its speaker."""
    content, name = request.control_filter(turn.content), labels.get(turn.name.strip().casefold(), turn.name)
    if has_names and turn.role in {"user", "assistant"}:
        name = name or (request.macro_context.user if turn.role == "user" else request.macro_context.char)
        content = f"{request.control_filter(name)}: {content}"
    return replace(turn, content=content, name=request.control_filter(name))


@dataclass(frozen=True)
class TextTokenCounts:
    """Token counts of all texts of a draft."""

    fixed: Sequence[tuple[PromptPart, int]]
    items: Mapping[PromptPart, Sequence[int]]
    title: int
    """Tokens of the heading of the notes."""
    history: Sequence[int]
    tail: Sequence[int]
    per_turn: int
    """Tokens that the format adds to each turn."""
    base: int
    """Tokens that the format adds once."""


async def _count_tokens(draft: _Draft, count: Counter) -> TextTokenCounts:
    """Count all texts in one call."""
    renderer, thinking = draft.request.renderer, draft.request.thinking
    user, reply = PromptTurn("user", _PROBE), PromptTurn("assistant", _PROBE)
    probes = [_PROBE, renderer.render([user], thinking=thinking), renderer.render([user, reply, user], thinking=thinking)]
    sections = (*draft.compiled.running, *draft.compiled.titled)
    fixed = [(section.part, section.text) for section in sections if section.text]
    fixed += [(PromptPart.SPEAKER, draft.speaker)] if draft.speaker else []
    items = {section.part: section.items for section in draft.compiled.titled if section.items}
    items[PromptPart.MEMORIES] = tuple(note.text for note in draft.volatile)
    texts = [text for _, text in fixed]
    texts += [text for part in items for text in items[part]]
    texts += [draft.title, *(turn.content for turn in (*draft.cuttable_history, *draft.tail))]
    answers = iter(await count([*probes, *texts]))
    probe_tokens, short_tokens, long_tokens = next(answers), next(answers), next(answers)
    return TextTokenCounts(
        fixed=[(part, next(answers)) for part, _ in fixed],
        items={part: [next(answers) for _ in texts] for part, texts in items.items()},
        title=next(answers),
        history=[next(answers) for _ in draft.cuttable_history],
        tail=[next(answers) for _ in draft.tail],
        # Rounded up, so that the estimate does not fall short; the rendered text is counted anyway.
        per_turn=max((long_tokens - short_tokens - 2 * probe_tokens + 1) // 2, 0),
        base=max(short_tokens - probe_tokens, 0),
    )


def _build_demand(draft: _Draft, counts: TextTokenCounts, limit: int, excess_tokens: int) -> TokenDemand:
    """Return the budget's input for a prompt of at most `limit` tokens. The excess of an earlier attempt is added to this
    turn's own tokens, which may vary without changing the head.
    """
    turns = len(draft.tail) + sum(not is_titled(note) for note in draft.volatile)
    turn_tokens = sum(counts.tail) + counts.per_turn * turns + (counts.title + counts.per_turn) * bool(draft.volatile)
    titles = _TITLE_TOKENS * len(draft.compiled.titled)
    return TokenDemand(
        limit=limit,
        context=draft.request.context,
        fixed=sum(tokens for _, tokens in counts.fixed) + titles + counts.base + 2 * counts.per_turn,
        items={part: [tokens + 2 for tokens in counts.items.get(part, ())] for part in CAPS},
        history=[tokens + counts.per_turn for tokens in counts.history],
        previous_cut=draft.request.previous_cut,
        history_target=draft.request.history_target,
        message=turn_tokens + excess_tokens,
        uncapped={
            **{section.part: section.uncapped for section in draft.compiled.titled},
            PromptPart.MEMORIES: {index for index, note in enumerate(draft.volatile) if note.ignores_cap},
        },
    )


def _assemble_prompt(draft: _Draft, counts: TextTokenCounts, budget_plan: BudgetPlan, text: str, tokens: int) -> Prompt:
    request = draft.request
    # Thinking models may write names in a thought; `LabelFilter` finds them in the reply, and other spellings of all models.
    stopping_names = [] if request.renderer.thinking_end else draft.names[1]
    notes = [draft.volatile[index] for index in budget_plan.kept.get(PromptPart.MEMORIES, ())]
    heading = (draft.title,) if any(map(is_titled, notes)) else ()
    receipt = Receipt(
        shares=sum_shares(_compute_shares(draft, counts, budget_plan), tokens),
        prompt_tokens=tokens,
        context=request.context,
        reply_reserve=request.reply_reserve,
        template_source=request.template_source,
        dropped_messages=budget_plan.cut,
        layout=request.layout,
    )
    return Prompt(
        text=text,
        receipt=receipt,
        label=lambda: label_spans(text, draft.place_turns(budget_plan), draft.render),
        stop_strings=tuple(dict.fromkeys((*request.renderer.stop_strings, *(f"\n{name}:" for name in stopping_names)))),
        names=draft.names,
        background=(*heading, *(note.text for note in notes if note.role == "system")),
        thinking_start=request.renderer.thinking_start.strip(),
        thinking_end=request.renderer.thinking_end.strip(),
        starts_in_thought=not request.continue_last and opens_thought(text, request.renderer.thinking_start),
    )


def _compute_shares(draft: _Draft, counts: TextTokenCounts, budget_plan: BudgetPlan) -> list[PartTokens]:
    """Return what each part has and what was cut of it, unordered and not summed."""
    shares = [PartTokens(part, tokens) for part, tokens in counts.fixed]
    for part, sizes in counts.items.items():
        indices = budget_plan.kept.get(part, ())
        kept = sum(sizes[index] for index in indices)
        shares.append(PartTokens(part, kept, sum(sizes) - kept, describe_cuts(part, len(sizes), budget_plan)))
        if part is PromptPart.MEMORIES:  # among them are instructions that are no memories
            others = [(draft.volatile[index].part, sizes[index]) for index in indices]
            for other, tokens in others:
                if other is not part:
                    shares += [PartTokens(other, tokens), PartTokens(part, -tokens)]
    cut = budget_plan.cut
    request = draft.request
    note = describe_history_cuts(cut, len(draft.cuttable_history), request.left_messages, summarised=request.is_summarised)
    shares.append(PartTokens(PromptPart.HISTORY, 0, sum(counts.history[:cut]), note))
    for turns, sizes, part in (
        (draft.cuttable_history[cut:], counts.history[cut:], PromptPart.HISTORY),
        (draft.tail, counts.tail, PromptPart.MESSAGE),
    ):
        # Those of earlier sessions belong to these.
        shares += [
            PartTokens(PromptPart.EARLIER if turn.session else part, tokens, session=turn.session)
            for turn, tokens in zip(turns, sizes, strict=True)
        ]
    return shares
