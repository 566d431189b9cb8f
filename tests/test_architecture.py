"""The walls of the house: which room may import which, which door a foreign library uses, and how large a thing may grow."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "lethe_app"
MODULES = sorted(ROOT.rglob("*.py"))
GROUND = {"choices", "declaring", "errors", "paths", "settings", "settings_away"}
LOW = {"domain"}
NEIGHBOURS = {"llm", "web", "storage", "interchange", "prompt"}

# What each room may see besides itself and the ground.
MAY_SEE: dict[str, set[str]] = {
    "domain": set(),
    **{room: set(LOW) for room in NEIGHBOURS},
    "retrieval": LOW | {"storage"},
    "brain": LOW | {"retrieval", "storage", "prompt", "llm"},
    "agents": LOW | {"brain", "web", "retrieval", "storage", "prompt", "llm"},
    "services": LOW | NEIGHBOURS | {"retrieval", "brain", "agents"},
    "cli": LOW | {"services"},
    "ui": LOW | {"services"},
}

# A foreign library → the modules by which it may enter.
DOORS: dict[str, tuple[str, ...]] = {
    "PySide6": ("ui/", "app.py"),
    "qasync": ("app.py",),
    "sqlite3": ("storage/",),
    "llama_cpp": (
        "llm/llama_embedding.py",
        "llm/llama_weights.py",
        "llm/llama_cache.py",
        "llm/llama_parking.py",
        "llm/llama_rack.py",
        "llm/llama_states.py",
        "llm/llama_sampling.py",
        "llm/llama_schema.py",
    ),
    "hnswlib": ("retrieval/index.py",),
    "ahocorasick": ("brain/keywords.py",),
    "regex": ("brain/keywords.py",),
    "numpy": ("retrieval/", "llm/bert_gguf.py"),
    "gguf": ("llm/bert_gguf.py",),
    "tiktoken": ("llm/tokens.py",),
    "platformdirs": ("paths.py",),
    "jinja2": ("prompt/template.py", "prompt/sandbox.py"),
    "markdown_it": ("ui/",),
    "httpx": ("web/", "llm/remote.py", "llm/hub.py"),
    "httpcore": ("web/pinned.py",),
    "ddgs": ("web/duckduckgo.py",),
    "trafilatura": ("web/text.py",),
    "psutil": ("llm/llama_weights.py", "services/fitting.py", "services/mains.py"),
}
EVERYWHERE = set(sys.stdlib_module_names) - {"sqlite3"} | {"pydantic", "lethe_app"}


@cache
def imports(module: Path) -> list[tuple[str, bool]]:
    """Every module imported anywhere in the file, and whether only for the type checker."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    found: list[tuple[str, bool]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in for_types) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [(name if node.module == "lethe_app" else str(node.module), id(node) in for_types) for name in names]
    return found


def place(module: Path) -> str:
    return module.relative_to(ROOT).as_posix()


def room_of(module: Path) -> str:
    """The folder, or the name of a module that stands alone."""
    return module.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("module", MODULES, ids=place)
def test_imports_point_down(module: Path):
    room = room_of(module)
    if room in {"app", "furnishing", "house", "wiring", "wiring_away", "__main__", "__init__"}:
        return  # the place where everything is wired
    allowed = MAY_SEE.get(room, set()) | GROUND | {room}
    for name, _for_types in imports(module):
        if name.startswith("lethe_app."):
            target = name.split(".")[1]
            wiring = target == "house" and room in {"ui", "cli"}  # what they are handed, built by wiring.py
            assert target in allowed or wiring, f"{place(module)} imports {name}"


@pytest.mark.parametrize("module", MODULES, ids=place)
def test_foreign_libraries_use_their_doors(module: Path):
    for name, _for_types in imports(module):
        library = name.split(".")[0]
        if library in EVERYWHERE:
            continue
        doors = DOORS.get(library)
        assert doors, f"{place(module)} imports {library}, which has no door"
        assert place(module).startswith(doors), f"{place(module)} imports {library}, whose door is {doors}"


@pytest.mark.parametrize("module", MODULES, ids=place)
def test_nothing_grows_too_large(module: Path):
    text = module.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert text.count("\n") <= 450, f"{place(module)} has more than 450 lines"
    assert ast.get_docstring(tree), f"{place(module)} does not say why it exists"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 60, f"{place(module)}:{node.lineno} {node.name} has {length} lines"
