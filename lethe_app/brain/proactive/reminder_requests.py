"""Detection of requests for a reminder in the user's messages (“Remind me to call my mum on Friday”).

English only: in any other language nothing is detected, and a model with tools may set the reminder itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial

from lethe_app.brain.recall.explicit_requests import MAX_CHARACTERS, strip_opening_words
from lethe_app.dates.future import FutureDate, parse_future_date
from lethe_app.language_tables import table_pattern

_pattern = partial(table_pattern, "reminder_requests")

_NOT_MEANT = re.compile(r"\*[^*\n]*\*|“[^”\n]*”|\"[^\"\n]*\"|^>.*$", re.MULTILINE)
"""Actions of a roleplay and quoted speech: what is said in them is no request to the program."""
_SENTENCE = re.compile(r"[^\n.?!…]+(?:[.](?=\S)[^\n.?!…]*)*")
"""A sentence; a full stop within a word, as in “9.30” or “a.m”, does not end it."""
_LINK = re.compile(r"(?:to|that|about|of|for)\s+", re.IGNORECASE)
"""Words between the request, or the time, and what the reminder is about."""
_TRAILING = re.compile(r"[\s,;:!?.…–-]+$|[\s,]+(?:please|pls|ok|okay|thanks|thank you|will you|would you)$", re.IGNORECASE)


@dataclass(frozen=True)
class ReminderRequest:
    """What the user wants to be reminded of, in their own words, and when."""

    text: str
    when: datetime | date
    """Moment in the local time zone; a day if no time of day was named."""


def find_reminder_requests(message: str, now: datetime) -> list[ReminderRequest]:
    """Return the requests of a message that name a time in the future, in order; `now` carries the local time zone."""
    plain = _NOT_MEANT.sub(" ", message[:MAX_CHARACTERS]).replace("’", "'")
    requests = []
    for sentence in _SENTENCE.findall(plain):
        words = " ".join(sentence.split())
        match = _pattern("request").match(strip_opening_words(words)) or _pattern("request").match(words)
        if match is not None and (request := _parse_request(match["rest"], now)) is not None:
            requests.append(request)
    return requests


def _parse_request(rest: str, now: datetime) -> ReminderRequest | None:
    """Parse what follows “remind me”; None without a time in the future or without a text."""
    found = parse_future_date(rest, now)
    if found is None:
        return None
    when = found.to_datetime()
    is_past = when <= now if isinstance(when, datetime) else when < now.date()
    text = _strip_links(_remove_time(rest.split(" "), found, now))
    is_empty = _pattern("only_time").fullmatch(text) is not None or not any(letter.isalpha() for letter in text)
    return None if is_past or is_empty else ReminderRequest(text[0].upper() + text[1:], when)


def _remove_time(words: Sequence[str], found: FutureDate, now: datetime) -> str:
    """Return the words without the time if it stands at the beginning or at the end, else all of them."""
    for position in range(len(words) - 1, 0, -1):
        before, after = " ".join(words[:position]), " ".join(words[position:])
        text = _pattern("time_link").sub("", before)
        if text and parse_future_date(after, now) == found and parse_future_date(before, now) is None:
            return text
    for position in range(1, len(words)):
        before, after = " ".join(words[:position]), " ".join(words[position:])
        if _LINK.match(after) and parse_future_date(before, now) == found and parse_future_date(after, now) is None:
            return after
    return " ".join(words)


def _strip_links(text: str) -> str:
    """Return the text without linking words at its beginning, and without polite words and punctuation at its end."""
    shorter = _TRAILING.sub("", _LINK.sub("", text.strip(), count=1))
    while shorter != text:
        text, shorter = shorter, _TRAILING.sub("", shorter)
    return text
