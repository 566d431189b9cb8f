"""Makes any Python string storable, for neither SQLite nor a UTF-8 file can hold half a character."""

from __future__ import annotations


def storable(text: str) -> str:
    """`text` as it is, null bytes included; only surrogates change: a split pair is joined, a lone half becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
