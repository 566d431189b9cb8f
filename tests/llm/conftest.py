"""A client of a worker process, closed after the test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from lethe_app.llm.client import ModelClient


@pytest.fixture
async def client() -> AsyncIterator[ModelClient]:
    client = ModelClient()
    yield client
    await client.close()
