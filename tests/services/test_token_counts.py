"""Tokens are counted by the loaded model, once, and never by the model before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.llm.tokenizer.counter import TokenCounter, estimate_tokens
from lethe_app.services.token_counts import TokenCountService

Says = Callable[..., object]
WORDS = "It was a dark and stormy night."


class Asked:
    """A tokenizer of one token per character that remembers what it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def count(self, text: str) -> int:
        self.texts.append(text)
        return len(text)


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def here(services: AppServices, asked: Asked) -> TokenCountService:
    """Counts with a tokenizer in this process."""
    services.token_counts.set_tokenizer(asked, "letters")  # type: ignore[arg-type]
    return services.token_counts


async def test_without_a_model_the_count_is_an_estimate(services: AppServices):
    assert await services.token_counts.count_one(WORDS) == estimate_tokens(WORDS) > 0


async def test_with_a_model_its_own_count_is_taken_and_without_it_the_estimate_again(services: AppServices, says: Says):
    before = await services.token_counts.count_one(WORDS)
    await says("Yes.")
    exact = await services.token_counts.count_one(WORDS)
    await services.models.unload()

    assert exact == 7  # the scripted model counts words
    assert await services.token_counts.count_one(WORDS) == before != exact


async def test_a_text_is_counted_once(here: TokenCountService, asked: Asked):
    first = await here.count(["one", "three", "one"])
    second = await here.count(["three", "one", "seven"])

    assert (first, second) == ([3, 5, 3], [5, 3, 5])
    assert asked.texts == ["one", "three", "seven"]


async def test_a_count_under_way_while_the_model_changes_is_not_taken_for_the_new_models(
    services: AppServices, here: TokenCountService
):
    text = "word " * 5000
    under_way = asyncio.ensure_future(here.count([text]))
    await asyncio.sleep(0)  # it is with a thread now
    other = Asked()
    other.count = lambda _text: 1  # type: ignore[method-assign]
    here.set_tokenizer(other, "single")  # type: ignore[arg-type]

    await under_way

    assert await here.count([text]) == [1]


async def test_the_starter_model_is_counted_in_this_process_as_it_counts_itself(starter_model: Path):
    counter = TokenCounter.for_model(starter_model)

    assert counter.count(WORDS) == len(WORDS.split()) + 1
