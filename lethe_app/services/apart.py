"""Work over thousands of records is done in a thread, so that the window answers meanwhile; over a few it is done at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

MANY = 500
"""Records; going through more of them would be felt in the window."""


async def apart(records: int, work: Callable[[], T]) -> T:
    """What `work` returns, which goes through so many records and changes nothing that anybody else holds."""
    return work() if records < MANY else await asyncio.to_thread(work)
