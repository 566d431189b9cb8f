"""Notification of an error or a result, as it is shown in a toast and kept to be read again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from lethe_app.domain.clock import now


@dataclass(frozen=True)
class Notification:
    """Text of a notification, with an optional detail and button."""

    text: str
    detail: str = ""
    is_error: bool = False
    button: str = ""
    action: Callable[[], None] | None = None
    error_class: type[BaseException] = Exception
    is_lasting: bool = False
    """True if it stays for a minute."""
    traceback: str = ""
    """Details of an unexpected error, for a bug report."""
    time: datetime = field(default_factory=now)
