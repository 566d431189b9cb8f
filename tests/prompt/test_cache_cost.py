"""What was read again, and why: worked out from where a prompt first differs from the one before it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lethe_app.config.options import PromptLayout
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.domain.prompt import CacheMiss, NotePlacement, PrefillCost, Prompt, PromptNote, PromptPart, PromptTurn
from lethe_app.prompt import receipt
from lethe_app.prompt.builder import build_prompt
from lethe_app.prompt.sections import StableAdditions
from tests.prompt.requests import PRESET, RENDERERS, TALK, request
from tests.prompt.test_spans import ADA

LATE, SYSTEM, DEPTH = PromptLayout.LATE, PromptLayout.SYSTEM, PromptLayout.DEPTH
FIRST = TALK
SECOND = [*FIRST, PromptTurn("assistant", "You are late."), PromptTurn("user", "I know.")]
SAID = "You are late."


async def letters(texts: list[str]) -> list[int]:
    return [len(text) for text in texts]


async def made(
    history: Sequence[PromptTurn],
    notes: Sequence[str] = (),
    layout: PromptLayout = LATE,
    extras: StableAdditions | None = None,
    persona: Persona = ADA,
    system: SystemPreset = PRESET,
    renderer: str = "chatml",
    instruction: str = "",
) -> Prompt:
    style = PromptNote(instruction, placement=NotePlacement.LAST, part=PromptPart.STYLE)
    wanted = request(
        history,
        renderer=RENDERERS[renderer],
        persona=persona,
        system=system,
        context=50_000,
        extras=extras or StableAdditions(),
        volatile=[*(PromptNote(text, depth=2) for text in notes), *([style] if instruction else [])],
        layout=layout,
    )
    return await build_prompt(wanted, letters)


def read_again(before: Prompt, after: Prompt, said: str = SAID) -> PrefillCost:
    """As a cache that keeps only the common beginning has it, a token being a letter."""
    known = 0
    story = before.text + said
    while known < min(len(story), len(after.text)) and story[known] == after.text[known]:
        known += 1
    fresh = sum(len(span.text) for span in receipt.find_new_spans(before.spans, said, after.spans))
    layout = after.receipt.layout
    return receipt.compute_cost(before.spans, after.spans, fresh, len(after.text) - known, len(after.text), 0, layout)


async def test_a_plain_turn_has_nothing_read_again():
    reported = read_again(await made(FIRST), await made(SECOND))

    assert reported.again == 0
    assert reported.reason is None


async def test_a_message_written_anew_costs_nothing():
    before = await made(FIRST, ["Ben likes tea."])

    assert read_again(before, await made(FIRST, ["Ben likes tea."]), "Other words.").again == 0


@pytest.mark.parametrize(
    ("layout", "why"),
    [
        (LATE, CacheMiss.MEMORIES_MOVED),
        (SYSTEM, CacheMiss.MEMORIES_IN_SYSTEM),
        (DEPTH, CacheMiss.MEMORIES_AMONG_MESSAGES),
    ],
)
async def test_the_layout_has_its_price_told(layout: PromptLayout, why: CacheMiss):
    before, after = await made(FIRST, ["Ben likes tea."], layout), await made(SECOND, ["Ben has a boat."], layout)

    reported = read_again(before, after)

    assert reported.reason is why


async def test_an_instruction_that_stands_last_has_only_the_reply_behind_it_read_again():
    before, after = await made(FIRST, instruction="Speak plainly."), await made(SECOND, instruction="Speak plainly.")

    reported = read_again(before, after)

    assert (reported.reason, reported.part) == (CacheMiss.PART, PromptPart.STYLE.value)
    assert reported.again < len(SAID) + len("Speak plainly.") + 60  # and the marks of their turns
    assert read_again(await made(FIRST), after).again == 0


async def test_late_is_cheaper_than_the_system_prompt():
    costs = [
        read_again(await made(FIRST, ["Ben likes tea."], layout), await made(SECOND, ["Ben has a boat."], layout)).again
        for layout in (LATE, SYSTEM)
    ]

    assert 0 < costs[0] < costs[1]


async def test_a_cut_is_told_as_a_cut_also_where_a_summary_takes_over():
    before = await made(SECOND)
    after = await made(
        [*SECOND[2:], PromptTurn("assistant", "Why?"), PromptTurn("user", "Wind.")],
        extras=StableAdditions(summaries=["They met."]),
    )

    assert read_again(before, after, "Why?").reason is CacheMiss.MESSAGES_LEFT


async def test_other_changes_are_named():
    before = await made(FIRST, extras=StableAdditions(summaries=["They met."], facts=["Ben sails."]))

    async def why(*history: PromptTurn, **values: object) -> tuple[CacheMiss | None, str]:
        extras = values.pop("extras", StableAdditions(summaries=["They met."], facts=["Ben sails."]))
        after = await made(history or SECOND, extras=extras, **values)  # type: ignore[arg-type]
        cost = read_again(before, after)
        return cost.reason, cost.part

    assert await why(persona=ADA.model_copy(update={"bio": "Burnt the lighthouse."})) == (CacheMiss.PART, "persona")
    fell_out = StableAdditions(summaries=["They fell out."], facts=["Ben sails."])
    assert await why(extras=fell_out) == (CacheMiss.SUMMARIES, "")
    assert await why(extras=StableAdditions(summaries=["They met."], facts=["Ben drowned."])) == (CacheMiss.FACTS, "")
    assert await why(SECOND[0], PromptTurn("user", "Good evening."), *SECOND[2:]) == (CacheMiss.MESSAGE_EDITED, "")


async def test_a_reply_whose_thoughts_are_not_sent_again_is_told():
    before, after = await made(FIRST), await made(SECOND)
    fresh = sum(len(span.text) for span in receipt.find_new_spans(before.spans, SAID, after.spans))

    reported = receipt.compute_cost(before.spans, after.spans, fresh, fresh + 40, len(after.text), 0, LATE)

    assert reported.reason is CacheMiss.REPLY
