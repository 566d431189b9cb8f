"""What docs/formats.md says of the ways between formats is what happens."""

from __future__ import annotations

from pathlib import Path

from tests.interchange.matrix import table

FORMATS = Path(__file__).parents[2] / "docs" / "formats.md"


def test_the_table_of_the_documentation_is_what_happens():
    assert table() in FORMATS.read_text(encoding="utf-8"), "run python -m tests.interchange.matrix"
