"""Puts a prompt together: stable head first, then the growing history, then what is only true for this turn, then the message.

That order, frozen macros and a history that is cut in blocks keep the beginning of the prompt the same from turn to turn, and
what is the same need not be read by the model again. In a group all personas share it: who speaks is named at the end. Nothing
is ever sent that does not fit: the finished text is counted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lethe_app.config.options import PromptLayout
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.domain.prompt import Note, Prompt, PromptPart, PromptTurn, Receipt, Share
from lethe_app.errors import PromptTooLong
from lethe_app.prompt.budget import CAPS, HISTORY_TARGET, BudgetPlan, Demand, plan
from lethe_app.prompt.control_tokens import Disarmer
from lethe_app.prompt.format.renderer import Renderer
from lethe_app.prompt.format.thinking import opens_thought
from lethe_app.prompt.group import SPEAKS, compile_group
from lethe_app.prompt.layout import Pieces, PlacedTurn, arrange
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.prompt.receipt import explain, history_note, left_out, write_receipt
from lethe_app.prompt.sections import Compiled, Extras, compile_system
from lethe_app.prompt.spans import label, rewritten

Counter = Callable[[list[str]], Awaitable[list[int]]]
"""Exact token counts, one for each text; it may be asked for the same text again and again, so it remembers."""
_ROUNDS = 6
_TITLE_TOKENS = 12
"""Guess for a section's title; the finished text is counted anyway."""
_PROBE = "x"
_LATELY = 3
"""Turns behind the newest user message from which on it is a message like any other."""


@dataclass(frozen=True)
class Request:
    """Everything one prompt is made of. Moment and seed inside `scene` are the session's, so that its head stays the same."""

    renderer: Renderer
    template_source: str
    persona: Persona
    """Who speaks next."""
    user: Persona | None
    system: SystemPreset
    scene: MacroContext
    history: Sequence[PromptTurn]
    """Oldest first. Ends with the new message, or with a reply after which the persona speaks again."""
    context: int
    reply_reserve: int
    extras: Extras = field(default_factory=Extras)
    volatile: Sequence[Note] = ()
    """Memories and notes for this turn only, the most important first."""
    layout: PromptLayout = PromptLayout.LATE
    history_target: float = HISTORY_TARGET
    """Fraction of the history's room that is kept when it has to be cut."""
    previous_cut: int = 0
    """`dropped_messages` of the session's last receipt."""
    earlier: int = 0
    """Messages of the conversation that left it before and are told in a summary."""
    group: Sequence[Persona] = ()
    """All personas of a group, in an order that stays; what is remembered is the first one's."""
    thinking: bool = True
    continue_last: bool = False
    add_names: bool = False
    disarm: Disarmer = field(default_factory=lambda: Disarmer(()))


@dataclass(frozen=True)
class _Draft:
    """A request taken apart, with every text disarmed."""

    request: Request
    compiled: Compiled
    volatile: tuple[Note, ...]
    title: str
    """What stands above the notes."""
    speaker: str
    """In a group, the line that says who speaks next."""
    old: tuple[PromptTurn, ...]
    """History that may be cut."""
    tail: tuple[PromptTurn, ...]
    """From the newest user message on."""

    @property
    def limit(self) -> int:
        return self.request.context - self.request.reply_reserve

    def items(self) -> dict[PromptPart, tuple[str, ...]]:
        found = {section.part: section.items for section in self.compiled.titled if section.items}
        return found | {PromptPart.MEMORIES: tuple(note.text for note in self.volatile)}

    def fixed(self) -> list[tuple[PromptPart, str]]:
        sections = (*self.compiled.running, *self.compiled.titled)
        speaker = [(PromptPart.SPEAKER, self.speaker)] if self.speaker else []
        return [*((section.part, section.text) for section in sections if section.text), *speaker]

    def placed(self, kept: BudgetPlan) -> list[PlacedTurn]:
        pieces = Pieces(
            head=rewritten(self.compiled.spans(kept.kept), self.request.disarm),
            old=self.old[kept.cut :],
            tail=self.tail,
            notes=[self.volatile[place] for place in kept.kept.get(PromptPart.MEMORIES, ())],
            title=self.title,
            continue_last=self.request.continue_last,
            speaker=self.speaker,
        )
        return arrange(self.request.layout, pieces)

    def spell(self, turns: list[PromptTurn]) -> str:
        request = self.request
        text = request.renderer.render(turns, continue_last=request.continue_last, thinking=request.thinking)
        if _names(request) and not request.continue_last and not opens_thought(text, request.renderer.thinking_start):
            return f"{text}{request.disarm(request.scene.char)}:"
        return text

    def text(self, kept: BudgetPlan) -> str:
        return self.spell([one.turn for one in self.placed(kept)])


async def build(request: Request, count: Counter) -> Prompt:
    """The prompt for the next reply.

    Raises PromptTooLong when the parts that are never shortened do not fit, and TemplateUnusable when the model's template
    refuses the conversation.
    """
    draft = _draft(request)
    counts = await _count(draft, count)
    slack = 0
    for attempt in range(_ROUNDS):
        chosen = plan(_demand(draft, counts, slack)) if attempt < _ROUNDS - 1 else BudgetPlan(cut=len(draft.old))
        text = draft.text(chosen)
        tokens = (await count([text]))[0]
        if tokens <= draft.limit:
            break
        if chosen.cut == len(draft.old) and not any(chosen.kept.values()):
            raise PromptTooLong(*explain(_fixed_sizes(draft, counts), tokens, draft.limit, request))
        slack += tokens - draft.limit + 8
    return _prompt(draft, counts, chosen, text, tokens)


def stop_strings(request: Request) -> tuple[str, ...]:
    """The format's own, and a new line with somebody else's name, which thinking models may rightly write."""
    others = [member.name.strip() for member in request.group if member.name != request.persona.name]
    names = [name for name in (request.scene.user.strip(), *others) if name and not request.renderer.thinking_end]
    return tuple(dict.fromkeys((*request.renderer.stop_strings, *(f"\n{name}:" for name in names))))


def _names(request: Request) -> bool:
    return request.add_names or request.renderer.add_names or bool(request.group)


def _draft(request: Request) -> _Draft:
    turns = [_spoken(turn, request) for turn in request.history]
    if turns and turns[-1].role == "user" and not request.history[-1].content.strip():
        turns.pop()
    start = _newest_question(turns)
    hers = replace(request.scene, char=request.group[0].name) if request.group else request.scene  # whose memory it is
    notes = (replace(note, text=request.disarm(expand(note.text, hers)).strip()) for note in request.volatile)
    volatile = tuple(note for note in notes if note.text)
    title = request.disarm(expand(request.system.memories_title, hers)).strip()
    heading = f"{request.system.category_separator} {title}".strip() if title else ""
    speaker = request.disarm(expand(SPEAKS, request.scene)) if request.group else ""
    return _Draft(request, _compiled(request), volatile, heading, speaker, tuple(turns[:start]), tuple(turns[start:]))


def _newest_question(turns: Sequence[PromptTurn]) -> int:
    """The place of the newest user message, if nobody said much since; else of the last turn. Tools say nothing."""
    said = 0
    for place in range(len(turns) - 1, -1, -1):
        if turns[place].role == "user":
            return place
        said += turns[place].role not in {"calls", "tool"}
        if said == _LATELY:
            break
    return max(len(turns) - 1, 0)


def _compiled(request: Request) -> Compiled:
    if request.group:
        return compile_group(request.system, request.group, request.user, request.scene, request.extras)
    return compile_system(request.system, request.persona, request.user, request.scene, request.extras)


def _spoken(turn: PromptTurn, request: Request) -> PromptTurn:
    content = request.disarm(turn.content)
    if _names(request) and turn.role in {"user", "assistant"}:
        name = turn.name or (request.scene.user if turn.role == "user" else request.scene.char)
        content = f"{request.disarm(name)}: {content}"
    return replace(turn, content=content)


@dataclass(frozen=True)
class Counts:
    """Tokens of every text of a draft."""

    fixed: Sequence[tuple[PromptPart, int]]
    items: Mapping[PromptPart, Sequence[int]]
    title: int
    """What stands above the notes."""
    history: Sequence[int]
    tail: Sequence[int]
    per_turn: int
    """What the format adds to each turn."""
    base: int
    """What it adds once."""


async def _count(draft: _Draft, count: Counter) -> Counts:
    """All counts in one question."""
    renderer, thinking = draft.request.renderer, draft.request.thinking
    user, reply = PromptTurn("user", _PROBE), PromptTurn("assistant", _PROBE)
    probes = [_PROBE, renderer.render([user], thinking=thinking), renderer.render([user, reply, user], thinking=thinking)]
    fixed, items = draft.fixed(), draft.items()
    texts = [text for _, text in fixed]
    texts += [text for part in items for text in items[part]]
    texts += [draft.title, *(turn.content for turn in (*draft.old, *draft.tail))]
    answers = iter(await count([*probes, *texts]))
    one, short, long = next(answers), next(answers), next(answers)
    return Counts(
        fixed=[(part, next(answers)) for part, _ in fixed],
        items={part: [next(answers) for _ in texts] for part, texts in items.items()},
        title=next(answers),
        history=[next(answers) for _ in draft.old],
        tail=[next(answers) for _ in draft.tail],
        per_turn=max((long - short - 2 * one + 1) // 2, 0),
        base=max(short - one, 0),
    )


def _demand(draft: _Draft, counts: Counts, slack: int) -> Demand:
    """What an attempt before had too many is made up for by what is of this turn alone, as long as that may grow."""
    own = sum(counts.tail) + counts.per_turn * len(draft.tail) + (counts.title + counts.per_turn) * bool(draft.volatile)
    titles = _TITLE_TOKENS * len(draft.compiled.titled)
    return Demand(
        limit=draft.limit,
        context=draft.request.context,
        fixed=sum(tokens for _, tokens in counts.fixed) + titles + counts.base + 2 * counts.per_turn,
        items={part: [tokens + 2 for tokens in counts.items.get(part, ())] for part in CAPS},
        history=[tokens + counts.per_turn for tokens in counts.history],
        previous_cut=draft.request.previous_cut,
        history_target=draft.request.history_target,
        message=own + slack,
    )


def _fixed_sizes(draft: _Draft, counts: Counts) -> list[tuple[PromptPart, int]]:
    return [*counts.fixed, (PromptPart.MESSAGE, sum(counts.tail))]


def _prompt(draft: _Draft, counts: Counts, chosen: BudgetPlan, text: str, tokens: int) -> Prompt:
    request = draft.request
    receipt: Receipt = write_receipt(_shares(draft, counts, chosen), tokens, chosen.cut, request)
    return Prompt(
        text=text,
        receipt=receipt,
        label=lambda: label(text, draft.placed(chosen), draft.spell),
        stop_strings=stop_strings(request),
        background=_background(draft, chosen),
        thinking_start=request.renderer.thinking_start.strip(),
        thinking_end=request.renderer.thinking_end.strip(),
        starts_in_thought=not request.continue_last and opens_thought(text, request.renderer.thinking_start),
    )


def _background(draft: _Draft, chosen: BudgetPlan) -> tuple[str, ...]:
    notes = [draft.volatile[place] for place in chosen.kept.get(PromptPart.MEMORIES, ())]
    told = [note.text for note in notes if note.role == "system"]
    return (draft.title, *told) if told else ()


def _shares(draft: _Draft, counts: Counts, chosen: BudgetPlan) -> list[Share]:
    """What each part has and what was cut of it, in no order and not yet summed up."""
    shares = [Share(part, tokens) for part, tokens in counts.fixed]
    for part, sizes in counts.items.items():
        kept = sum(sizes[place] for place in chosen.kept.get(part, ()))
        shares.append(Share(part, kept, sum(sizes) - kept, left_out(part, len(sizes), chosen)))
    cut = chosen.cut
    note = history_note(cut, len(draft.old), draft.request.earlier)
    shares.append(Share(PromptPart.HISTORY, sum(counts.history[cut:]), sum(counts.history[:cut]), note))
    shares.append(Share(PromptPart.MESSAGE, sum(counts.tail)))
    return shares
