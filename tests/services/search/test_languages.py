"""Every word of the world's languages is found where it stands, through the index, also in a home of an older version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.retrieval.query_terms import parse_query
from tests.bench.search_languages import FILE, is_found, spellings
from tests.services.past_sessions import hold
from tests.services.turns import MIRA

LINES: dict[str, tuple[str, str]] = json.loads(Path(FILE).read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", LINES)
async def test_the_words_of_a_language_are_found_and_recalled(services: AppServices, language: str):
    line, words = LINES[language]
    session = await hold(services, "Hello.", line)
    await hold(services, "Hello.", "Something else entirely.")
    await services.indexing.catch_up(limits=False)

    for word in spellings(words):
        assert await is_found(services, word, line), word
        if parse_query(word).words:
            recalled = await services.memory_lookup.search(MIRA, word, 10)
            assert session.guid in {memory.memory for memory in recalled}, word


async def test_an_emoji_alone_finds_the_lines_that_have_it(services: AppServices):
    await hold(services, "What a day 😀", "Good for you.")
    await services.indexing.catch_up(limits=False)

    assert await is_found(services, "😀", "What a day 😀")
    assert not await is_found(services, "😡", "What a day 😀")
