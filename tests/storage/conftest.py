"""Fixtures: an open database in a temporary home, and messages to store in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "lethe.sqlite3"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(path)
    yield opened
    await opened.close()


@pytest.fixture
async def chats(database: Database) -> SessionStore:
    return SessionStore(database)


@pytest.fixture
async def session(chats: SessionStore) -> ChatSession:
    return await chats.add_session(ChatSession(persona_id="mara", name="The lighthouse"))


@pytest.fixture
def say(session: ChatSession) -> Callable[..., Message]:
    """Return a function that builds a message of the session, which is not stored yet."""

    def message(content: str = "Hello.", role: Role = Role.USER, **fields: object) -> Message:
        return Message(session_id=session.guid, role=role, alternatives=[Alternative(content=content)], **fields)

    return message
