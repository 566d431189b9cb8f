"""Tokenising only what is new gives exactly what tokenising everything gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.domain.model import LoadOptions
from lethe_app.llm.kv_cache.diff import common_prefix_length
from lethe_app.llm.native.model import NativeFlag, NativeModel
from lethe_app.llm.tokenizer.incremental import Retokenizer, match_any
from tests.sweep import examples

PIECES = st.sampled_from(
    [
        "<|im_start|>",
        "<|im_end|>",
        "\n",
        "user\n",
        "assistant\n",
        "Hello",
        " there",
        "  ",
        "日本",
        "👩‍👧",
        "<|im_",
        "end|>",
        "1 2",
        "'s",
        "",
    ]
)


@pytest.fixture(scope="module")
def weights(starter_model: Path) -> Iterator[NativeModel]:
    weights = NativeModel(starter_model, LoadOptions(context=256), lambda _fraction: None, NativeFlag())
    yield weights
    weights.free()


@settings(max_examples=examples(300))
@given(st.lists(st.lists(PIECES, max_size=12), min_size=2, max_size=5))
def test_any_sequence_of_prompts_is_tokenised_as_if_each_were_the_first(weights: NativeModel, prompts: list[list[str]]):
    remembering = Retokenizer(weights.tokenize, weights.splitting_tokens())

    for pieces in prompts:
        text = "".join(pieces)
        assert remembering.tokenize(text) == weights.tokenize(text)


def test_a_growing_conversation_asks_only_for_its_end(weights: NativeModel):
    asked: list[str] = []

    def tokenize(text: str, begins: bool) -> list[int]:
        asked.append(text)
        return weights.tokenize(text, begins)

    remembering = Retokenizer(tokenize, weights.splitting_tokens())
    start = "<|im_start|>user\nHello<|im_end|>\n"
    remembering.tokenize(start)

    remembering.tokenize(start + "<|im_start|>assistant\nHi<|im_end|>")

    assert asked == [start, "\n<|im_start|>assistant\nHi<|im_end|>"]


def test_without_control_tokens_everything_is_asked_for(weights: NativeModel):
    remembering = Retokenizer(weights.tokenize, {})

    remembering.tokenize("Hello there")

    assert remembering.tokenize("Hello there, you") == weights.tokenize("Hello there, you")


BLANKS = {" " * length: -length for length in (2, 4, 8)}
"""Tokens for several spaces, of which longer ones begin with shorter ones, as in the vocabularies of some families."""


def blanks_apart(text: str, _begins: bool) -> list[int]:
    """A tokenizer that knows these and single letters."""
    spellings, tokens, place = match_any(BLANKS), list[int](), 0
    assert spellings is not None
    for match in spellings.finditer(text):
        tokens += [*map(ord, text[place : match.start()]), BLANKS[match[0]]]
        place = match.end()
    return [*tokens, *map(ord, text[place:])]


@given(st.lists(st.text("a ", max_size=30), min_size=2, max_size=5))
def test_a_token_that_goes_on_where_the_texts_part_is_another_token(texts: list[str]):
    remembering = Retokenizer(blanks_apart, BLANKS)

    for text in texts:
        assert remembering.tokenize(text) == blanks_apart(text, True)


@given(st.text("ab", max_size=30), st.text("ab", max_size=30))
def test_the_shared_beginning_is_found(one: str, other: str):
    length = common_prefix_length(one, other)

    assert one[:length] == other[:length]
    assert length == min(len(one), len(other)) or one[length] != other[length]
