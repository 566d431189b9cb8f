"""Makes a catalogue for translators, or brings one up to date: `python -m tests.catalogue de`.

The code calls Qt's `translate` by short names of its own, which pyside6-lupdate takes for something else. So the words are
gathered here, each with the context in which it is asked for, and lupdate is given a list of them.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from lethe_app.config.options import ModelChoices
from lethe_app.config.settings import Settings
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.memory.reason_words import templates_of
from lethe_app.ui.core.actions import ACTION_SPECS
from lethe_app.ui.core.reason_labels import BLOCK_CONTEXT, REASON_CONTEXT
from lethe_app.ui.core.routes import PAGES, ActionGroup, TabGroup
from lethe_app.ui.core.search_terms import load_terms
from lethe_app.ui.transcript.message_actions import MESSAGE_ACTIONS

ROOT = Path(__file__).resolve().parents[1]
WINDOW = ROOT / "lethe_app" / "ui"
ANYWHERE = "QObject"
"""Where a word is asked for through another object: whatever that is, it looks here at last."""
FORM_MODELS: tuple[type[BaseModel], ...] = (
    *(Settings, ModelChoices, Persona, MemoryUnit, World, WorldEntry),
    *(SamplerPreset, InstructPreset, SystemPreset),
)
"""Records whose fields are edited in forms."""
WITH_CONTEXT = {"translate", "tr", "QT_TRANSLATE_NOOP"}


@dataclass
class Reader(ast.NodeVisitor):
    """Gathers the words of one module."""

    context: str
    """Of the module's own `tr`, or that which it imports."""
    found: set[tuple[str, str]] = field(default_factory=set)
    classes: list[str] = field(default_factory=list)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.classes.append(node.name)
        self.generic_visit(node)
        self.classes.pop()

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name, texts = called(node), [part.value for part in node.args if isinstance(part, ast.Constant)]
        words = [text for text in texts if isinstance(text, str)]
        if len(words) != len(node.args):
            return
        if len(words) == 2 and name in WITH_CONTEXT:
            self.found.add((words[0], words[1]))
        elif len(words) == 1 and name in {"tr", "_tr"}:
            self.found.add((self._asked_in(node.func), words[0]))

    def _asked_in(self, function: ast.expr) -> str:
        if isinstance(function, ast.Name):
            return self.context or ANYWHERE
        is_own = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self"
        return self.classes[-1] if is_own and self.classes else ANYWHERE


def called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def context_of(module: ast.Module) -> str:
    """In which context the module's `tr` asks; nothing where it has none."""
    for function in module.body:
        if isinstance(function, ast.FunctionDef) and function.name in {"tr", "_tr"}:
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and called(node) == "translate" and isinstance(node.args[0], ast.Constant):
                    return str(node.args[0].value)
    for line in module.body:
        if isinstance(line, ast.ImportFrom) and line.module and any(one.name in {"tr", "_tr"} for one in line.names):
            return context_of(parsed(ROOT / f"{line.module.replace('.', '/')}.py"))
    return ""


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def words() -> set[tuple[str, str]]:
    """Every context and text of the window."""
    found: set[tuple[str, str]] = set()
    for file in sorted(WINDOW.rglob("*.py")):
        module = parsed(file)
        reader = Reader(context_of(module), found)
        reader.visit(module)
    return found | set(declared())


def declared() -> Iterator[tuple[str, str]]:
    """What stands in tables: reasons, actions and pages, actions on a message, and the fields of settings and records."""
    for context, templates in ((REASON_CONTEXT, templates_of("reasons", "signals")), (BLOCK_CONTEXT, templates_of("blocks"))):
        yield from ((context, template) for template in templates)
    yield from (("Action", text) for text in (*(group.value for group in ActionGroup), *(spec.title for spec in ACTION_SPECS)))
    yield from (("GearMenu", tabs.value[0]) for tabs in TabGroup)
    yield from (("PageTabs", spec.tab_title) for spec in PAGES.values() if spec.tab_title)
    for action in MESSAGE_ACTIONS:
        yield "MessageAction", action.title
    for kind in ("actions", "settings"):
        yield from (("SearchTerms", terms) for terms in load_terms(kind).values())
    for model in FORM_MODELS:
        for declared_field in model.model_fields.values():
            extra = declared_field.json_schema_extra if isinstance(declared_field.json_schema_extra, dict) else {}
            options = [extra.get(option) for option in ("unit", "minimum_label", "placeholder")]
            for text in (declared_field.title, declared_field.description, *options):
                if text:
                    yield "Field", str(text)


def tool(name: str) -> str:
    """One of the tools that came with PySide6."""
    found = shutil.which(f"pyside6-{name}", path=str(Path(sys.executable).parent))
    assert found is not None, f"pyside6-{name} is not in the virtual environment"
    return found


def gather(catalogue: Path) -> None:
    """Put what is new into the catalogue; what was translated stays, what nobody says any more is marked."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "words.py"
        lines = [f"translate({json.dumps(one)}, {json.dumps(text, ensure_ascii=False)})\n" for one, text in sorted(words())]
        listed.write_text("".join(lines), encoding="utf-8")
        catalogue.parent.mkdir(parents=True, exist_ok=True)
        command = [tool("lupdate"), str(listed), "-locations", "none", "-ts", str(catalogue)]
        subprocess.run(command, check=True, timeout=300, capture_output=True)


if __name__ == "__main__":
    target = ROOT / "resources" / "translations" / f"lethe_{sys.argv[1]}.ts"
    gather(target)
    sys.stdout.write(f"{target.relative_to(ROOT)} is to be translated with pyside6-linguist.\n")
