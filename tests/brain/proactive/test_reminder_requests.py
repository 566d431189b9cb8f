"""Requests for a reminder: what is to be said, and when."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from lethe_app.brain.proactive.reminder_requests import find_reminder_requests

FRIDAY = datetime(2026, 11, 27, 19, tzinfo=UTC)


@pytest.mark.parametrize(
    ("message", "text", "when"),
    [
        ("Remind me to call my mum on Friday", "Call my mum", date(2026, 12, 4)),
        ("Can you remind me tomorrow to water the plants?", "Water the plants", date(2026, 11, 28)),
        ("please remind me in two hours to take the pills", "Take the pills", datetime(2026, 11, 27, 21, tzinfo=UTC)),
        ("Aiko, could you remind me to feed Luna in half an hour?", "Feed Luna", datetime(2026, 11, 27, 19, 30, tzinfo=UTC)),
        ("remind me about the dentist on 4 December 2026", "The dentist", date(2026, 12, 4)),
        ("Don’t let me forget Anna's birthday on 12 December!", "Anna's birthday", date(2026, 12, 12)),
        ("Set a reminder for tomorrow to pay the rent", "Pay the rent", date(2026, 11, 28)),
        ("Remind me to check the oven in 20 minutes, thanks", "Check the oven", datetime(2026, 11, 27, 19, 20, tzinfo=UTC)),
        ("A long day. Also, remind me to bring the cello on Sunday.", "Bring the cello", date(2026, 11, 29)),
        ("Remind me to call mum tomorrow because she has her birthday", "Call mum", date(2026, 11, 28)),
    ],
)
def test_a_request_with_a_time_is_found(message: str, text: str, when: date):
    (request,) = find_reminder_requests(message, FRIDAY)

    moment = request.when.astimezone(UTC) if isinstance(request.when, datetime) else request.when
    assert (request.text, moment) == (text, when)


@pytest.mark.parametrize(
    "message",
    [
        "Remind me to water the plants.",
        "Remind me tomorrow.",
        "Remind me what we said about tomorrow.",
        "Remind me again of the plan for Friday.",
        "That reminds me, tomorrow is Saturday.",
        "You remind me of my aunt.",
        "Remind me to be happy yesterday.",
        "*“Remind me to oil the hinges tomorrow,” she says.*",
        "The note reads: “Remind me to sail on Monday.”",
        "I will call my mum on Friday.",
        "",
    ],
)
def test_without_a_request_or_a_time_to_come_there_is_none(message: str):
    assert find_reminder_requests(message, FRIDAY) == []


def test_each_sentence_may_ask_for_one():
    found = find_reminder_requests("Remind me to shop tomorrow. And remind me to rest on Sunday!", FRIDAY)

    assert [(request.text, request.when) for request in found] == [("Shop", date(2026, 11, 28)), ("Rest", date(2026, 11, 29))]
