"""What the rooms below tell in English can be told in any language: they give no reason that the window does not know."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

import lethe_app
from lethe_app.domain.prompt import PromptPart
from lethe_app.prompt import cache_cost
from lethe_app.prompt.budget import BudgetPlan
from lethe_app.prompt.receipt import history_note, left_out
from lethe_app.retrieval.signals import SIGNALS
from lethe_app.services.memory.lore import before
from lethe_app.ui.core.phrases import COSTS, CUTS, OBSTACLES, REASONS, TranslatablePhrases

ROOT = Path(lethe_app.__file__).parent
NO_REASONS_OF_A_TURN = {"duplicates.py"}
"""What `memorize` answers is told nowhere in the window."""


def sentences(node: ast.expr) -> Iterator[str]:
    """What a literal may come to say, with “x” for whatever varies."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        made = [""]
        for piece in node.values:
            inner = piece.value if isinstance(piece, ast.FormattedValue) else piece
            ways = list(sentences(inner.body)) + list(sentences(inner.orelse)) if isinstance(inner, ast.IfExp) else []
            ways = ways or ([str(inner.value)] if isinstance(inner, ast.Constant) else ["x"])
            made = [before + way for before in made for way in ways]
        yield from made


def given(name: str, field: str) -> Iterator[tuple[str, str]]:
    for path in [*(ROOT / "brain").rglob("*.py"), *(ROOT / "services").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if path.name not in NO_REASONS_OF_A_TURN and isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                for keyword in node.keywords:
                    if keyword.arg == field:
                        yield from ((path.name, words) for words in sentences(keyword.value))


def returned(module: str, functions: set[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / module).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name in functions:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    yield from sentences(inner.value)


def test_every_reason_that_is_written_anywhere_is_known():
    written = list(given("Because", "what"))
    places = ("the message", "the last message before it")
    told = [words.replace("said in x", f"said in {place}") for _file, words in written for place in places]

    assert len(written) > 10
    assert [words for words in told if not REASONS.knows(words)] == []
    source = (ROOT / "brain/recall/keyword_recall.py").read_text("utf-8")
    assert {f'"{place}"' for place in places} <= set(re.findall(r'"[^"]*"', source))


def test_every_sign_of_a_search_is_known():
    assert [signal.meaning for signal in SIGNALS.values() if not REASONS.knows(signal.meaning)] == []


def test_every_reason_of_lore_is_known():
    told = list(returned("services/memory/lore.py", {"reason_of"}))

    assert len(told) == 5
    assert [words for words in told if not words.endswith("said x") and not REASONS.knows(words)] == []
    assert [count for count in range(4) if not REASONS.knows(f"“x” was said {before(count)}")] == []


def test_every_obstacle_is_known():
    told = [words for _file, words in given("NotRecalled", "detail")]
    for module in ("brain/lore/engine.py", "brain/lore/groups_and_budget.py"):
        for node in ast.walk(ast.parse((ROOT / module).read_text("utf-8"))):
            if isinstance(node, ast.Tuple | ast.Call):
                parts = node.elts if isinstance(node, ast.Tuple) else node.args
                if len(parts) == 2 and isinstance(parts[0], ast.Attribute) and getattr(parts[0].value, "id", "") == "Why":
                    told += sentences(parts[1])

    assert len(told) >= 10
    assert [words for words in told if not OBSTACLES.knows(words)] == []


def test_every_cost_and_every_cut_is_known():
    costs = [
        cache_cost.ELSEWHERE,
        cache_cost.LEFT,
        *cache_cost._STANDS.values(),
        *cache_cost._CHANGED.values(),
        *returned("prompt/cache_cost.py", {"why"}),
    ]
    kept = [BudgetPlan(cut=0, kept={PromptPart.FACTS: (0,)}, capped={PromptPart.FACTS: capped}) for capped in (0, 1, 2)]
    cuts = [left_out(PromptPart.FACTS, 3, plan) for plan in kept]
    cuts += [history_note(3, 9, 0), history_note(0, 9, 4)]

    assert [words for words in costs if not COSTS.knows(words)] == []
    assert [words for words in cuts if not CUTS.knows(words)] == []


class Loud(QTranslator):
    def translate(self, context: str, source: str, _disambiguation: str | None = None, _n: int = -1) -> str:
        return source.replace("was said in your message", "WURDE GESAGT") if context == "Reason" else ""


@pytest.mark.usefixtures("qapp")
def test_a_phrase_is_translated_around_what_varies():
    loud = Loud()
    QCoreApplication.installTranslator(loud)
    try:
        told = REASONS.in_words("“the {lamp}” was said in your message")
    finally:
        QCoreApplication.removeTranslator(loud)

    assert told == "“the {lamp}” WURDE GESAGT"


def test_what_nobody_foresaw_is_told_as_it_is():
    assert TranslatablePhrases("x", ["a {b}"]).in_words("something else") == "something else"
