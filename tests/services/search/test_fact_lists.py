"""Whom a fact is about, as the list of facts says it."""

from __future__ import annotations

import pytest

from lethe_app.domain.facts import ExtractedFact
from lethe_app.services.search.fact_lists import name_subject


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (ExtractedFact(fact="Tomas is allergic to shellfish."), "Tomas"),
        (ExtractedFact(fact="Tomas's sister Ines sailed a boat called the Heron."), "Tomas's sister"),
        (ExtractedFact(fact="Tomas's dog is called Rufus.", subject="Tomas", key="dog name"), "Tomas's dog"),
        (ExtractedFact(fact="Sam's sister works in a shop.", subject="Sam", key="sister job"), "Sam's sister"),
        (ExtractedFact(fact="Ines lives in Porto.", subject="Ines"), "Ines"),
        (ExtractedFact(fact="Tomas' boat is old."), "Tomas"),
        (ExtractedFact(fact="O'Brien plays darts."), "O'Brien"),
        (ExtractedFact(fact="The Heron, a boat, sank."), "The Heron"),
        (ExtractedFact(fact="Zoë Ångström plays the harp.", subject="Zoë Ångström"), "Zoë Ångström"),
    ],
)
def test_the_subject_is_named_as_it_is_spelled(fact: ExtractedFact, expected: str):
    assert name_subject(fact) == expected
