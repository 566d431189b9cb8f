"""Keeps what memory puts into a prompt to a length at which something else still has room."""

from __future__ import annotations

LONGEST_MEMORY = 4000
"""Characters of one memory in a prompt; someone may have saved a whole book as one."""
_ENDS = ("\n", ". ", "! ", "? ", "。")


def shortened(text: str, longest: int) -> str:
    """As many whole lines and sentences of it as fit into so many characters; it says so where something is missing."""
    if len(text) <= longest:
        return text
    end = max(text.rfind(mark, longest // 2, longest) for mark in _ENDS)
    return f"{text[: end + 1 if end > 0 else longest].rstrip()} …"
