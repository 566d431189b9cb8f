"""The words of the window are those of the field: phrases that were replaced do not come back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import lethe_app

ROOT = Path(lethe_app.__file__).parent
RETIRED = tuple((Path(__file__).parent / "data" / "retired_phrases.txt").read_text(encoding="utf-8").splitlines())
KEEPS_OLD_SENTENCES = {ROOT / "domain" / "old_reasons.py"}
"""Modules that read what older versions wrote."""


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every string literal that is no docstring, with its line."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


PACKAGES = sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_retired_phrase_is_shown(package: str):
    found = [
        f"{path.relative_to(ROOT)}:{line}: {phrase}"
        for path in sorted((ROOT / package).rglob("*.py"))
        if path not in KEEPS_OLD_SENTENCES
        for line, text in strings(ast.parse(path.read_text(encoding="utf-8")))
        for phrase in RETIRED
        if phrase in text.casefold()
    ]

    assert found == []


def test_the_list_is_in_order_and_in_lower_case():
    assert list(RETIRED) == sorted({phrase.strip().casefold() for phrase in RETIRED})
