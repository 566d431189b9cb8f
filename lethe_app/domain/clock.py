"""The time of day as every record carries it: with a zone, so that a memory survives a journey."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

Clock = Callable[[], datetime]


def by_the_system() -> datetime:
    """This moment in the local zone."""
    return datetime.now().astimezone()


_reading: list[Clock] = [by_the_system]
"""The clocks on the wall; the last one is read."""


def now() -> datetime:
    """This moment, with its zone."""
    return _reading[-1]()


@contextmanager
def told_by(clock: Clock) -> Iterator[None]:
    """While this lasts, every moment is the one `clock` tells: for simulations of days, and for tests."""
    _reading.append(clock)
    try:
        yield
    finally:
        _reading.remove(clock)
