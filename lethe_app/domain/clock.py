"""The time of day as every record carries it: with a zone, so that a memory survives a journey."""

from __future__ import annotations

from datetime import datetime


def now() -> datetime:
    """This moment in the local zone."""
    return datetime.now().astimezone()
