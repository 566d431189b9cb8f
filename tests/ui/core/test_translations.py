"""A catalogue made with the tools that come with PySide6 is spoken by real widgets; without one the window speaks English."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PySide6.QtCore import QLocale, QTranslator
from PySide6.QtWidgets import QApplication, QDialogButtonBox

from lethe_app.config.settings import Settings
from lethe_app.domain.bundle import BundleCounts
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World
from lethe_app.paths import Paths
from lethe_app.ui.chat import memory_labels
from lethe_app.ui.core import translations
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.core.translations import find_catalogues, install_translations, replace_missing_locale
from lethe_app.ui.dialogs.bundle_parts import describe_contents
from lethe_app.ui.shell.main_window import MainWindow
from lethe_app.ui.shell.sidebar import Sidebar
from lethe_app.ui.widgets.fields import build_field_spec
from tests import catalogue
from tests.conftest import Silence

pytestmark = pytest.mark.usefixtures("styled_app")

ROOT = Path(__file__).resolve().parents[3]
CATALOGUE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="{language}">
<context><name>Sidebar</name>{messages}</context>
</TS>
"""
MESSAGE = "<message><source>{}</source><translation>{}</translation></message>"
START = """
import sys
from pathlib import Path
from lethe_app import app
from lethe_app.paths import Paths
app.run = lambda application, window, _make_services: print(window.sidebar.search_field.placeholderText()) or 0
sys.exit(app.open_window(Paths.standard(Path(sys.argv[1]))))
"""
"""The start of the program, up to where the services would be built."""


def released(folder: Path, name: str, **words: str) -> Path:
    """A catalogue of words of the sidebar, made as CONTRIBUTING.md says."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"lethe_{name}.ts"
    messages = "".join(MESSAGE.format(word, translation) for word, translation in words.items())
    source.write_text(CATALOGUE.format(language=name, messages=messages), encoding="utf-8")
    return released_as_is(source)


def released_as_is(source: Path) -> Path:
    made = source.with_suffix(".qm")
    subprocess.run([catalogue.tool("lrelease"), str(source), "-qm", str(made)], check=True, capture_output=True, timeout=300)
    return made


@pytest.fixture
def spoken(qapp: QApplication) -> Iterator[list[QTranslator]]:
    """Put here what was installed; it is silent again after the test."""
    installed: list[QTranslator] = []
    yield installed
    for translator in installed:
        qapp.removeTranslator(translator)


def test_a_text_of_the_catalogue_is_shown_in_the_window(tmp_path: Path, qapp: QApplication, spoken: list[QTranslator]):
    released(tmp_path / "ours", "de", Search="Suchen")

    spoken += install_translations(qapp, [tmp_path / "ours", tmp_path / "own"], ["de-AT", "de", "en"])
    window = MainWindow(Paths.standard(tmp_path / "home"))

    assert window.sidebar.search_field.placeholderText() == "Suchen"
    assert window.sidebar.gear_button.accessibleName() == "Settings"  # nobody has found a word for it
    window.deleteLater()


def test_the_catalogue_of_qt_is_loaded_for_the_same_language(tmp_path: Path, qapp: QApplication, spoken: list[QTranslator]):
    spoken += install_translations(qapp, [released(tmp_path, "de", Search="Suchen").parent], ["de-DE"])

    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)

    assert [button.text().replace("&", "") for button in box.buttons()] == ["Abbrechen"]


def test_a_catalogue_of_the_user_takes_precedence(tmp_path: Path, qapp: QApplication, spoken: list[QTranslator]):
    released(tmp_path / "ours", "de", Search="Suchen", Settings="Einstellungen")
    released(tmp_path / "own", "de", Search="Stöbern")

    spoken += install_translations(qapp, [tmp_path / "ours", tmp_path / "own"], ["de"])
    window = MainWindow(Paths.standard(tmp_path / "home"))

    assert window.sidebar.search_field.placeholderText() == "Stöbern"
    assert window.sidebar.gear_button.accessibleName() == "Einstellungen"
    window.deleteLater()


def test_without_a_catalogue_nothing_is_loaded(tmp_path: Path, qapp: QApplication):
    assert install_translations(qapp, [tmp_path, tmp_path / "missing"], ["de-DE", "de"]) == []


def test_a_file_that_is_no_catalogue_is_logged_and_skipped(tmp_path: Path, qapp: QApplication, quiet_log: Silence):
    (tmp_path / "lethe_de.qm").write_bytes(b"hello")

    assert install_translations(qapp, [tmp_path], ["de"]) == []
    assert [record.name for record in quiet_log.records] == [translations.__name__]
    quiet_log.records.clear()


@pytest.mark.parametrize(
    ("languages", "found"),
    [
        (["pt-Latn-BR", "pt-BR", "pt-Latn", "pt"], "pt_BR"),
        (["pt-PT"], "pt"),
        (["zh-Hans-CN"], "zh_CN"),
        (["fr-FR", "fr", "pt-PT", "pt"], "pt"),
        (["en-GB", "en", "pt"], ""),
        (["C"], ""),
        (["fr"], ""),
        (["bar", "pt"], "pt_BR"),
        (["tlh"], "tlh"),
    ],
)
def test_the_first_language_with_a_catalogue_is_chosen(tmp_path: Path, languages: list[str], found: str):
    for name in ("pt", "pt_BR", "zh_CN", "tlh"):
        (tmp_path / f"lethe_{name}.qm").touch()

    name, files = find_catalogues([tmp_path], languages)

    assert (name, [file.name for file in files]) == (found, [f"lethe_{found}.qm"] if found else [])


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="the language is not told by the environment there")
@pytest.mark.parametrize(("language", "word"), [("de_DE.UTF-8", "Suchen"), ("en_GB.UTF-8", "Search")])
def test_the_program_starts_in_the_language_of_the_system(tmp_path: Path, language: str, word: str):
    released(tmp_path / "translations", "de", Search="Suchen")
    environment = {**os.environ, "LANG": language, "LC_ALL": language, "LANGUAGE": "", "QT_QPA_PLATFORM": "offscreen"}

    started = subprocess.run(
        [sys.executable, "-c", START, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert started.stdout.strip() == word, started.stderr


def test_the_gathered_catalogue_covers_every_way_of_translating(tmp_path: Path, qapp: QApplication, spoken: list[QTranslator]):
    released_as_is(in_brackets(tmp_path))

    spoken += install_translations(qapp, [tmp_path], ["eo"])
    window = MainWindow(Paths.standard(tmp_path / "home"))
    heir = type("Heir", (Sidebar,), {})(window.theme, window.clock)

    assert window.sidebar.search_field.placeholderText() == "⟦Search⟧"  # self.tr
    assert heir.search_field.placeholderText() == "⟦Search⟧"  # asked by one that is made after its like
    assert window.window_actions["find_conversation"].text() == "⟦Find persona or conversation⟧"  # a name that is declared
    assert describe_contents(BundleCounts(worlds=2)) == ["⟦2 worlds⟧"]  # translate by a short name
    assert memory_labels.tr("Journal") == "⟦Journal⟧"  # a module's own
    assert window.tr("Copy details") == "⟦Copy details⟧"  # asked through another object
    assert field_title(Settings, "theme") == "⟦Theme⟧"  # a setting
    budget = build_field_spec(World, "token_budget")  # a record
    assert (budget.title, budget.unit, budget.minimum_label) == ("⟦Token budget⟧", "⟦tokens⟧", "⟦no limit⟧")
    assert build_field_spec(Persona, "bio").placeholder == "⟦{{char}} is the navigator of the Petrel. She …⟧"
    heir.deleteLater()
    window.deleteLater()


def test_updating_a_catalogue_keeps_translations(tmp_path: Path):
    source = in_brackets(tmp_path)

    catalogue.gather(source)

    texts = {(one.findtext("source"), one.findtext("translation")) for one in ET.parse(source).iter("message")}
    assert ("Search", "⟦Search⟧") in texts
    assert all(translation for _source, translation in texts)


def in_brackets(folder: Path) -> Path:
    """A catalogue of all words there are, each translated into itself in brackets."""
    source = folder / "lethe_eo.ts"
    catalogue.gather(source)
    tree = ET.parse(source)
    for message in tree.iter("message"):
        translation = message.find("translation")
        translation.text = f"⟦{message.findtext('source')}⟧"
        translation.attrib.clear()
    tree.write(source, encoding="utf-8", xml_declaration=True)
    return source


@pytest.mark.parametrize(("system", "written"), [("C", "100,000"), ("de_DE", "100000")])
def test_numbers_have_separators_where_the_system_has_no_locale(system: str, written: str):
    before = QLocale()
    QLocale.setDefault(QLocale.c())
    try:
        replace_missing_locale(QLocale(system))
        assert QLocale().toString(100_000) == written
    finally:
        QLocale.setDefault(before)
