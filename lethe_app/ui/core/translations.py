"""Translation of the window: installs the catalogues for the user's language, if there are any."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

QT_CATALOGUE = "qtbase"
"""Catalogue of Qt's own strings: buttons of file dialogs, the context menu of text fields, names of keys."""

log = logging.getLogger(__name__)


def install_translations(
    application: QCoreApplication, folders: Sequence[Path], languages: Sequence[str] | None = None
) -> list[QTranslator]:
    """Install the catalogues in `folders` for the first of the user's languages that has any, and return them.

    Catalogues of later folders take precedence; Qt's own come last. Without a catalogue of the program Qt's own are not
    loaded either: a half translated window is worse than an untranslated one. Widgets must be built afterwards.
    """
    language, files = find_catalogues(folders, QLocale.system().uiLanguages() if languages is None else languages)
    if not files:
        return []
    translators = [translator_or_none for translator_or_none in map(_load_translator, files) if translator_or_none is not None]
    qt_translator = QTranslator(application)
    qt_folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translators and qt_translator.load(QLocale(language), QT_CATALOGUE, "_", qt_folder):
        translators.insert(0, qt_translator)
    for translator in translators:  # the one that is installed last is asked first
        translator.setParent(application)
        application.installTranslator(translator)
    return translators


def replace_missing_locale(system: QLocale | None = None) -> None:
    """Format numbers and dates as in British English if the system has no locale: Qt would write 100000 without separators."""
    if (system or QLocale.system()).language() is QLocale.Language.C:
        QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))


def find_catalogues(folders: Sequence[Path], languages: Sequence[str]) -> tuple[str, list[Path]]:
    """Return the language and its catalogue files, in the order in which to install them.

    If English precedes every language with a catalogue, nothing is returned.
    """
    for language in languages:
        plain, *_parts = language.replace("_", "-").split("-")
        # Most specific first. Before version 6.9, Qt leaves the plain language out, and it does not know every language.
        for name in (*QLocale(language).uiLanguages(QLocale.TagSeparator.Underscore), language.replace("-", "_"), plain):
            # `Path.is_file` would raise in a folder that cannot be read, which is told once the window is shown.
            files = [file for folder in folders if os.path.isfile(file := folder / f"lethe_{name}.qm")]  # noqa: PTH113
            if files:
                return name, files
        if plain in {"en", "C"}:  # of the source, which needs no catalogue
            break
    return "", []


def _load_translator(file: Path) -> QTranslator | None:
    translator = QTranslator()
    if translator.load(str(file)):
        return translator
    log.warning("%s holds no translation and is left alone", file)
    return None
