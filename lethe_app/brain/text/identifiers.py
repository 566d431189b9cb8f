"""Redaction of texts that identify a person: e-mail addresses, phone, card and account numbers, and network addresses.

What is found is told by its form, with the check digits where a number has some; a number in a story may still be taken for a
phone number if it looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_IBAN_MODULUS, _IBAN_REMAINDER = 97, 1

_EMAIL = re.compile(r"[\w.+%-]{1,64}@(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\b", re.IGNORECASE)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_SOCIAL_SECURITY = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_NETWORK_ADDRESS = re.compile(r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?!\d|\.\d)")
_CARD = re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])")
_PHONE = re.compile(r"(?<![\w.,:/-])(?<!\d )(?:\+|00)?\(?\d(?:[ ()/.-]{0,2}\d){6,14}(?![\w-]|[ /.-]\d)")
_PLAIN_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
"""A number without a sign of a phone number, such as a year, a sum or a date."""
_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")


def redact_identifiers(text: str) -> str:
    """Return a text with each identifier replaced by its kind in brackets, such as “[e-mail address]”."""
    for pattern, replace in _RULES:
        text = pattern.sub(replace, text)
    return text


def _replace_iban(match: re.Match[str]) -> str:
    compact = match[0].replace(" ", "")
    digits = "".join(str(int(character, 36)) for character in compact[4:] + compact[:4])
    return "[account number]" if int(digits) % _IBAN_MODULUS == _IBAN_REMAINDER else match[0]


def _replace_card(match: re.Match[str]) -> str:
    digits = [int(character) for character in match[0] if character.isdigit()]
    doubled = [digit if index % 2 == 0 else sum(divmod(2 * digit, 10)) for index, digit in enumerate(reversed(digits))]
    return "[card number]" if sum(doubled) % 10 == 0 else match[0]


def _replace_phone(match: re.Match[str]) -> str:
    written = match[0]
    is_plain = _PLAIN_NUMBER.fullmatch(written) is not None or _DATE.fullmatch(written) is not None
    # A row of digits alone is a phone number only with a leading zero or plus.
    return written if is_plain and not written.startswith("0") else "[phone number]"


_RULES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_EMAIL, "[e-mail address]"),
    (_IBAN, _replace_iban),
    (_SOCIAL_SECURITY, "[social security number]"),
    (_NETWORK_ADDRESS, "[network address]"),
    (_CARD, _replace_card),
    (_PHONE, _replace_phone),
)
