"""Conversion of the reasons that version 0.1 stored as English sentences, in databases and bundles (`old_reasons.toml`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from lethe_app.language_tables import load_table

Values = dict[str, Any]
_TABLE = "old_reasons"
_PART = re.compile("the (?P<part>.+) has changed")


def convert_memory(memory: Values) -> Values:
    """Convert a stored `TurnMemory` to one with its reasons as data."""
    recalled = [convert_recollection(one) for one in memory.get("recalled", ())]
    return {**memory, "recalled": recalled, "blocked": [_block(one) for one in memory.get("blocked", ())]}


def convert_recollection(recollection: Values) -> Values:
    """Convert a stored `RecalledMemory` to one with its reasons as data."""
    reasons = (_reason(one) for one in recollection.get("because", ()))
    return {**recollection, "because": [one for one in reasons if one is not None]}


def convert_receipt(entry: Values) -> Values:
    """Convert a stored `ReceiptEntry` to one with its reasons as data."""
    receipt, cost = entry.get("receipt", {}), entry.get("cost")
    shares = [_share(one) for one in receipt.get("shares", ())]
    return {**entry, "receipt": {**receipt, "shares": shares}, "cost": _cost(cost) if cost else cost}


def _reason(stored: Values) -> Values | None:
    """Return a reason, or None for a sentence that no version wrote; a reason that is data already stays as it is."""
    if "what" not in stored:
        return stored
    for sentence, kind, *more in load_table(_TABLE)["reasons"]:
        if (values := _matched(sentence, str(stored["what"]))) is not None:
            return {"kind": kind, "values": {**values, **dict(*more)}, "value": stored.get("value", 0.0)}
    if stored["what"] == "it stays until turn":
        return {"kind": "stays until", "values": {"turn": int(stored.get("value", 0))}, "value": 0.0}
    return None


def _block(stored: Values) -> Values:
    if "values" in stored:
        return stored
    detail = str(stored.get("detail", ""))
    found = (_matched(sentence, detail) for sentence in load_table(_TABLE)["blocks"])
    values = next((values for values in found if values is not None), {})
    return {**{key: value for key, value in stored.items() if key != "detail"}, "values": values}


def _cost(stored: Values) -> Values:
    if "because" not in stored:
        return stored
    others = {key: value for key, value in stored.items() if key != "because"}
    because = str(stored["because"])
    reason = load_table(_TABLE)["costs"].get(because)
    if reason is None and (part := _PART.fullmatch(because)):
        return {**others, "reason": "part", "part": part["part"]}
    return {**others, "reason": reason}


def _share(stored: Values) -> Values:
    if "note" not in stored:
        return stored
    others = {key: value for key, value in stored.items() if key != "note"}
    return {**others, "cuts": list(_cuts(str(stored["note"])))}


def _cuts(note: str) -> Iterable[Values]:
    for sentence in note.split("; "):
        for template, kind in load_table(_TABLE)["cuts"]:
            if (values := _matched(template, sentence)) is not None:
                share = float(values.pop("share", 0)) / 100
                yield {"kind": kind, "share": share, **values}
                break


def _matched(template: str, text: str) -> Values | None:
    """Return the values that a sentence has for the names in a template, numbers as numbers; None if it does not match."""
    found = _pattern(template).fullmatch(text)
    return {name: _typed(name, value) for name, value in found.groupdict().items()} if found else None


@cache
def _pattern(template: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)\}", template)
    made = (f"(?P<{piece}>.+?)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
    return re.compile("".join(made), re.DOTALL)


def _typed(name: str, text: str) -> str | int | float:
    """Return a value as text, unless its name says that it is a number."""
    table = load_table(_TABLE)
    try:
        return float(text) if name in table["decimals"] else int(text) if name in table["whole_numbers"] else text
    except ValueError:
        return text
