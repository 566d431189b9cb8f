"""Whatever was said and is known: no prompt is longer than its room, and the newest words of the user are in it to the letter.

`test_builder` says so of single prompts with made-up tokens. Here are whole conversations, the starter model's own template and
tokenizer, every layout, and texts that tokenizers and templates stumble over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lethe_app.config.options import PromptLayout
from lethe_app.domain.presets import InstructPreset
from lethe_app.domain.prompt import Prompt, PromptNote, PromptTurn
from lethe_app.errors import PromptTooLong
from lethe_app.llm.models.gguf_header import read_header
from lethe_app.llm.tokenizer.counter import TokenCounter
from lethe_app.prompt.builder import PromptRequest, build_prompt
from lethe_app.prompt.control_tokens import JOINER, ControlTokenFilter
from lethe_app.prompt.format.chat_template import ChatTemplate
from lethe_app.prompt.format.instruct import InstructRenderer
from lethe_app.prompt.sections import StableAdditions
from tests.prompt.requests import ADA, MOMENT, RENDERERS, Count, request
from tests.sweep import examples

PRESET = InstructPreset(name="p", user_start="U:", bot_start="B:", user_end="\n")
FORMATS = {**RENDERERS, "preset": InstructRenderer(PRESET)}
CONTROL = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
TRICKY = ("", " ", "\n\n", "🜁🜂🜃", "見る", "é́́", "{{user}}", "{{random:a,b}}", "<|im_end|>", "</think>", "{% raw %}", "a" * 99)
"""Pieces of text out of which people, cards and worlds are made."""
texts = st.lists(st.sampled_from((*TRICKY, "the harbour at night", "yes")), max_size=20).map(" ".join)
notes = st.lists(
    st.builds(
        PromptNote,
        text=texts,
        role=st.sampled_from(("system", "system", "system", "user", "assistant")),
        order=st.integers(0, 200),
        depth=st.integers(0, 12),
    ),
    max_size=6,
)
pasts = st.lists(st.tuples(st.sampled_from(("user", "assistant", "assistant", "system")), texts), max_size=16)
options = st.fixed_dictionaries({
    "layout": st.sampled_from(PromptLayout),
    "context": st.integers(60, 4000),
    "reply_reserve": st.integers(0, 700),
    "history_target": st.floats(0.1, 0.95),
    "add_names": st.booleans(),
    "thinking": st.booleans(),
    "volatile": notes,
})  # fmt: skip
extras = st.builds(StableAdditions, *(st.lists(texts, max_size=4) for _ in range(3)))


class Starter:
    """The starter model's template and tokenizer, without the model."""

    def __init__(self, path: Path) -> None:
        source = read_header(path, arrays=set(), tensors=False).text("tokenizer.chat_template")
        self.template = ChatTemplate(source, moment=MOMENT, bos="<|im_start|>", eos="<|im_end|>")
        counter = TokenCounter.for_model(path)
        self._count = cache(counter.count)

    async def __call__(self, asked: list[str]) -> list[int]:
        return [self._count(text) for text in asked]


@pytest.fixture(scope="module")
def starter(starter_model: Path) -> Starter:
    return Starter(starter_model)


def words(text: str) -> str:
    """As they stand in a prompt; some formats trim them."""
    return ControlTokenFilter(CONTROL)(text).strip()


async def holds(made: PromptRequest, prompt: Prompt, count: object, newest: str) -> None:
    """The promise."""
    (tokens,) = await count([prompt.text])  # type: ignore[operator]
    assert tokens == prompt.receipt.prompt_tokens <= made.context - made.reply_reserve
    assert words(newest) in prompt.text
    assert "Keeps a lighthouse." in prompt.text
    assert sum(share.tokens for share in prompt.receipt.shares) == tokens
    for control in CONTROL[2:]:
        assert control not in prompt.text


async def least(made: PromptRequest, count: object) -> int:
    """Tokens of the same prompt with nothing in it that may be left out."""
    bare = replace(made, history=made.history[-1:], volatile=(), extras=StableAdditions(), context=200_000, reply_reserve=0)
    persona = ADA.model_copy(update={"example_dialogs": []})
    return (await build_prompt(replace(bare, persona=persona), count)).receipt.prompt_tokens  # type: ignore[arg-type]


@given(past=pasts, newest=texts.filter(str.strip), wanted=options, extra=extras)
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_counted_by_the_models_own_tokenizer_in_every_layout_it_fits_and_the_message_is_there(
    starter: Starter, past: list[tuple[str, str]], newest: str, wanted: dict[str, object], extra: StableAdditions
):
    history = [*(PromptTurn(role, text) for role, text in past), PromptTurn("user", newest)]
    made = request(history, renderer=starter.template, extras=extra, control_filter=ControlTokenFilter(CONTROL), **wanted)

    try:
        prompt = await build_prompt(made, starter)
    except PromptTooLong:
        assert await least(made, starter) + 40 > made.context - made.reply_reserve
        return

    await holds(made, prompt, starter, newest)


@given(
    name=st.sampled_from(sorted(FORMATS)),
    said=st.lists(st.tuples(texts.filter(str.strip), texts.filter(str.strip), notes), min_size=1, max_size=14),
    wanted=options,
    more=st.sampled_from(("", "again", "continued")),
)
@settings(max_examples=examples(40))
async def test_through_a_whole_conversation_with_its_cuts_no_turn_breaks_the_promise(
    name: str, said: list[tuple[str, str, list[PromptNote]]], wanted: dict[str, object], more: str
):
    history: list[PromptTurn] = []
    cut, count = 0, Count()
    for asked, reply, brought in said:
        history.append(PromptTurn("user", asked))
        tail = [] if not more else [PromptTurn("assistant", reply)]
        made = request([*history, *tail], renderer=FORMATS[name], control_filter=ControlTokenFilter(CONTROL),
                       previous_cut=cut, **(wanted | {"volatile": brought, "continue_last": more == "continued"}))  # fmt: skip
        try:
            prompt = await build_prompt(made, count)
        except PromptTooLong:
            assert await fixed(made, count, tail) + 40 > made.context - made.reply_reserve
            return
        await holds(made, prompt, count, asked)
        assert not tail or "</think>" in reply or words(reply) in prompt.text  # some formats cut what was thought
        cut = prompt.receipt.dropped_messages
        assert cut <= len(history) - 1
        history.append(PromptTurn("assistant", reply))


async def fixed(made: PromptRequest, count: Count, tail: Sequence[PromptTurn]) -> int:
    newest = [turn for turn in made.history if turn.role == "user"][-1:]
    bare = replace(made, history=[*newest, *tail], volatile=(), extras=StableAdditions(), previous_cut=0, context=200_000)
    persona = ADA.model_copy(update={"example_dialogs": []})
    return (await build_prompt(replace(bare, persona=persona), count)).receipt.prompt_tokens


@given(text=texts.filter(str.strip))
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_what_people_write_is_never_taken_for_the_end_of_what_they_write(starter: Starter, text: str):
    made = request(
        [PromptTurn("user", text)], renderer=starter.template, control_filter=ControlTokenFilter(CONTROL), context=60_000
    )

    prompt = await build_prompt(made, starter)

    assert prompt.text.count("<|im_end|>") == 2
    assert prompt.text.count(JOINER) == text.count("<|im_end|>")
