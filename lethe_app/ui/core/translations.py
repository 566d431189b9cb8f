"""Lets the window speak the user's language, where somebody has made a catalogue of its words for it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

SOURCE = "en"
"""The language in which the words stand in the code; it needs no catalogue."""
QTS_OWN = "qtbase"
"""What Qt says by itself: buttons of file dialogs, the menu of a text field, names of keys."""

log = logging.getLogger(__name__)


def speak(application: QCoreApplication, folders: Sequence[Path], languages: Sequence[str] | None = None) -> list[QTranslator]:
    """Install the catalogues for the first of the user's languages that has any in `folders`, the later folder's words first,
    and Qt's own words in that language under them. Where there is none, nothing is loaded, not even Qt's: half a window in
    another language is worse than none. Widgets must be built afterwards.
    """
    language, files = chosen(folders, QLocale.system().uiLanguages() if languages is None else languages)
    if not files:
        return []
    translators = [one for one in map(_read, files) if one is not None]
    qts_own = QTranslator(application)
    shipped = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translators and qts_own.load(QLocale(language), QTS_OWN, "_", shipped):
        translators.insert(0, qts_own)
    for translator in translators:  # the one that is installed last is asked first
        translator.setParent(application)
        application.installTranslator(translator)
    return translators


def chosen(folders: Sequence[Path], languages: Sequence[str]) -> tuple[str, list[Path]]:
    """The language and its files, the most particular last. Whoever understands English before any of them gets English."""
    for language in languages:
        for name in names(language):
            files = [file for folder in folders if (file := folder / f"lethe_{name}.qm").is_file()]
            if files:
                return name, files
        if language.replace("_", "-").split("-")[0] in {SOURCE, "C"}:
            break
    return "", []


def names(language: str) -> list[str]:
    """As files are called for it: “zh-Hans-CN” is zh_Hans_CN, zh_CN, zh_Hans and zh, in this order."""
    parts = language.replace("-", "_").split("_")
    tried = ["_".join(parts), "_".join([parts[0], parts[-1]]), *("_".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))]
    return list(dict.fromkeys(tried if len(parts) > 1 else parts))


def _read(file: Path) -> QTranslator | None:
    translator = QTranslator()
    if translator.load(str(file)):
        return translator
    log.warning("%s holds no translation and is left alone", file)
    return None
