"""State of sessions and cached token counts are read as they were stored."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.storage import key_value
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.key_value import SessionState, TokenCounts
from tests.storage.scenes import purge_trash


@pytest.mark.parametrize("value", [{"first": 3, "text": "é"}, [1, 2.5, None], "text 🌊", 0, False, "", None])
async def test_any_json_value_is_read_as_it_was_stored_and_none_deletes_it(
    database: Database, session: ChatSession, value: object
):
    states = SessionState(database)

    await states.set(session.guid, "cut", "old")
    await states.set(session.guid, "cut", value)

    assert await states.get(session.guid, "cut") == value
    assert await states.get(session.guid, "other") is None
    assert await states.get(uuid4(), "cut") is None


async def test_state_is_deleted_with_its_session(database: Database, chats: SessionStore, session: ChatSession):
    states = SessionState(database)
    await states.set(session.guid, "cut", 1)
    await chats.delete_session(session.guid)

    await purge_trash(database, 30, now() + timedelta(days=31))

    assert await states.get(session.guid, "cut") is None


async def test_counts_are_cached_by_tokenizer_and_text(database: Database):
    counts = TokenCounts(database)

    await counts.cache_counts("a", {"one": 1, "two \ud800": 2})
    await counts.cache_counts("b", {"one": 9})
    await counts.cache_counts("a", {"one": 3})

    assert await counts.cached_counts("a", ["two \ud800", "one", "never"]) == [2, 3, None]
    assert await counts.cached_counts("b", ["one"]) == [9]
    assert await counts.cached_counts("b", []) == []


async def test_the_cache_of_counts_does_not_grow_for_ever(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(key_value, "MAX_COUNTS", 3)
    counts = TokenCounts(database)
    await counts.cache_counts("a", {"1": 1, "2": 2, "3": 3})

    await counts.cache_counts("a", {"4": 4})

    assert await counts.cached_counts("a", ["1", "4"]) == [None, 4]
