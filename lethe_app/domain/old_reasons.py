"""Conversion of the reasons that version 0.1 stored as English sentences, in databases and bundles."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

Values = dict[str, Any]
DECIMALS = frozenset({"drawn", "chance", "share"})
NUMBERS = frozenset(
    {"before", "turn", "most", "rank", "until", "needed", "messages", "round", "rounds", "more", "fewer", "cost", "left"}
    | {"lost", "total", "no_space"}
)
_REASONS: tuple[tuple[str, str, Values], ...] = (
    ("two things the question names occur together, in these words or others", "signal", {"signal": "together"}),
    ("a line says, word for word or nearly, what the question says", "signal", {"signal": "said"}),
    ("something known is about the same", "signal", {"signal": "about"}),
    ("the summary has a sentence about the same", "signal", {"signal": "summary"}),
    ("it was at the time the question names", "signal", {"signal": "date"}),
    ("it was among the first meetings, which the question is about", "signal", {"signal": "beginning"}),
    ("it was lately, which the question is about", "signal", {"signal": "lately"}),
    ("memory of it was asked for", "asked for", {}),
    ("the conversation of that time was asked for: {words}", "asked time", {}),
    ("“{words}” is when it was", "time", {}),
    ("it shares the word: {words}", "shared words", {"count": 1}),
    ("it shares words: {words}", "shared words", {"count": 2}),
    ("a conversation begins, and it is among what matters most", "opening", {}),
    ("it is always there", "always", {}),
    ("it was brought up a few turns ago and stays", "stays", {}),
    ("its name, “{name}”, was said in the message", "name", {"before": 0}),
    ("its name, “{name}”, was said in the last message before it", "name", {"before": 1}),
    ("the keyword “{key}” was said in the message", "key", {"before": 0}),
    ("the keyword “{key}” was said in the last message before it", "key", {"before": 1}),
    ("the keyword “{key}” was said", "key", {"before": 0}),
    ("none of the words was said that keep it asleep", "no key", {}),
    ("a word it waits for was not said", "no key", {}),
    ("“{key}” was said in your message", "key", {"before": 0}),
    ("“{key}” was said in the message before", "key", {"before": 1}),
    ("“{key}” was said {before} messages before", "key", {}),
    ("it woke a few turns ago and stays until turn {turn}", "stays until", {}),
    ("“{key}” stands in “{entry}”", "entry", {}),
    ("the conversation turned to what this notebook is about", "notebook", {}),
    ("the conversation is still about this", "notebook continued", {}),
    ("hours the user was away", "away", {}),
    ("notes that waited", "notes waited", {}),
    ("memories that waited for the return", "memories waited", {}),
    ("the message is near to it", "distance", {}),
    ("its title shares the word “{word}”", "title word", {}),
    ("it waited long enough, in messages", "waited", {}),
    ("the user asked: “{words}”", "news", {}),
    ("its time has come", "due", {}),
)
"""Sentence, kind, and values besides those in braces; the more particular sentence comes first."""
_BLOCKS = (
    "only {most} come, and others go before its rank of {rank}",
    "condition “{condition}”",
    "rests until turn {until}, this is turn {turn}",
    "needs {needed} messages, there are {messages}",
    "waits for round {round} of entries waking entries",
    "drew {drawn}, below {chance} was needed",
    "no more than {rounds} rounds",
    "“{winner}” stands for the group “{group}”: {more} of its keys were said, {fewer} of this",
    "“{winner}” stands for the group “{group}”",
    "{cost} tokens, {left} left",
    "from {begins} on",
    "over since {ended}",
)
_COSTS = {
    "another conversation was read in between": "elsewhere",
    "the oldest messages have left the prompt": "messages left",
    "what is brought up stands just above the newest message and has moved on with it": "memories moved",
    "what is brought up stands in the system prompt": "memories in system",
    "what is brought up stands among the messages": "memories among messages",
    "it is somebody else's turn to speak": "speaker",
    "an entry stands in the system prompt": "world",
    "what is told of earlier talk has changed": "summaries",
    "what is known for certain has changed": "facts",
    "a message was changed": "message edited",
    "the newest message has changed": "newest message",
    "the reply stands there otherwise than the model wrote it": "reply",
    "the model's own format has changed": "template",
}
_PART = re.compile("the (?P<part>.+) has changed")
_CUTS: tuple[tuple[str, str], ...] = (
    (
        "{lost} of {total} left out: the part may have at most {share}% of the context, and for {no_space} there was no room",
        "capped",
    ),
    ("{lost} of {total} left out: the part may have at most {share}% of the context", "capped"),
    ("{lost} of {total} left out: there is no room beside the conversation", "no space"),
    ("the oldest {lost} of {total} messages left out: there is no room for all", "oldest"),
    ("the first {lost} messages of the conversation had no room any more and are told in a summary", "summarised"),
)


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
    for sentence, kind, more in _REASONS:
        if (values := _matched(sentence, str(stored["what"]))) is not None:
            return {"kind": kind, "values": {**values, **more}, "value": stored.get("value", 0.0)}
    if stored["what"] == "it stays until turn":
        return {"kind": "stays until", "values": {"turn": int(stored.get("value", 0))}, "value": 0.0}
    return None


def _block(stored: Values) -> Values:
    if "values" in stored:
        return stored
    detail = str(stored.get("detail", ""))
    found = (_matched(sentence, detail) for sentence in _BLOCKS)
    values = next((values for values in found if values is not None), {})
    return {**{key: value for key, value in stored.items() if key != "detail"}, "values": values}


def _cost(stored: Values) -> Values:
    if "because" not in stored:
        return stored
    others = {key: value for key, value in stored.items() if key != "because"}
    because = str(stored["because"])
    if not because:
        return {**others, "reason": None}
    part = _PART.fullmatch(because)
    if because not in _COSTS and part is not None:
        return {**others, "reason": "part", "part": part["part"]}
    return {**others, "reason": _COSTS.get(because)}


def _share(stored: Values) -> Values:
    if "note" not in stored:
        return stored
    others = {key: value for key, value in stored.items() if key != "note"}
    return {**others, "cuts": list(_cuts(str(stored["note"])))}


def _cuts(note: str) -> Iterable[Values]:
    for sentence in note.split("; "):
        for template, kind in _CUTS:
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
    try:
        return float(text) if name in DECIMALS else int(text) if name in NUMBERS else text
    except ValueError:
        return text
