"""Numbers and addresses that identify somebody are taken out of a text; other numbers stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.text.identifiers import redact_identifiers


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Write to tomas.holm+petrel@mail.example.org, please.", "Write to [e-mail address], please."),
        ("My number is +49 (30) 1234-5678.", "My number is [phone number]."),
        ("Call 030 12345678 or 0171/9876543!", "Call [phone number] or [phone number]!"),
        ("555-867-5309", "[phone number]"),
        ("It is 4111 1111 1111 1111, valid until 12/29.", "It is [card number], valid until 12/29."),
        ("DE89 3704 0044 0532 0130 00 is the account.", "[account number] is the account."),
        ("My SSN is 078-05-1120.", "My SSN is [social security number]."),
        ("The printer is at 192.168.1.20.", "The printer is at [network address]."),
    ],
)
def test_identifiers_are_replaced_by_their_kind(text: str, redacted: str):
    assert redact_identifiers(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "I was born on 12.03.1987 in room 1021.",
        "On 2024-09-28 at 21:45 it was 1,234,567.89 crowns.",
        "The ship weighs 12345678 tons.",
        "@Mira, meet me at 7.",
        "4111 1111 1111 1112 is no card.",
        "Version 3.11.7 of 1.2.3",
        "It is 7 to 3, then 8 to 3, then 9 to 4.",
    ],
)
def test_other_numbers_stay(text: str):
    assert redact_identifiers(text) == text


@given(st.text(max_size=300))
def test_any_text_is_read(text: str):
    assert redact_identifiers(redact_identifiers(text)) == redact_identifiers(text)
