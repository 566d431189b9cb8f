"""The attribute of a fact is put into words."""

from __future__ import annotations

import pytest

from lethe_app.domain.facts import ExtractedFact
from lethe_app.ui.core.labels.facts import format_attribute


@pytest.mark.parametrize(
    ("key", "fact", "words"),
    [
        ("job", "Tomas is a nurse.", "job"),
        ("ines job", "Tomas's sister Ines works as a vet.", "job of Ines"),
        ("sister job", "Tomas's sister works as a vet.", "job of the sister"),
        ("cat name", "Tomas's cat is called Biscuit.", "name of the cat"),
        ("mother in law age", "Tomas's mother-in-law is 70.", "age of the mother in law"),
        ("dream job", "Tomas's dream job is baker.", "dream job"),
        ("favourite colour", "Tomas's favourite colour is green.", "favourite colour"),
        ("plan dentist appointment", "Tomas has a dentist appointment on Friday.", "plan: dentist appointment"),
        ("plan lisbon", "Tomas will fly to Lisbon in May.", "plan: Lisbon"),
    ],
)
def test_an_attribute_reads_as_words(key: str, fact: str, words: str):
    assert format_attribute(ExtractedFact(fact=fact, key=key)) == words
