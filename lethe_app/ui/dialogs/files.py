"""File dialogs: files and folders to open, and the file to write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from lethe_app.ui.dialogs.dialogs import run_dialog

OPENED_FROM = QStandardPaths.StandardLocation.DownloadLocation
SAVED_TO = QStandardPaths.StandardLocation.DocumentsLocation


def usual_folder(location: QStandardPaths.StandardLocation) -> Path:
    """Return a folder of the user, such as that of downloads; the home folder if there is none."""
    folder = QStandardPaths.writableLocation(location)
    return Path(folder) if folder and Path(folder).is_dir() else Path.home()


async def ask_for_files(parent: QWidget, title: str, filters: Sequence[str], folder: Path | None = None) -> list[Path]:
    """Let the user choose files to open, first in the home folder if none is given; empty if cancelled."""
    dialog = QFileDialog(parent, title, str(folder or Path.home()), ";;".join(filters))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    return [Path(name) for name in dialog.selectedFiles()] if await run_dialog(dialog) else []


async def ask_for_file(parent: QWidget, title: str, name_filter: str) -> Path | None:
    """Let the user choose one file to open, first in the home folder; None if cancelled."""
    dialog = QFileDialog(parent, title, str(Path.home()), name_filter)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return Path(dialog.selectedFiles()[0]) if await run_dialog(dialog) else None


async def ask_for_folder(parent: QWidget, title: str, folder: Path | None = None) -> Path | None:
    """Let the user choose a folder, first in the home folder if none is given; None if cancelled."""
    dialog = QFileDialog(parent, title, str(folder or Path.home()))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return Path(dialog.selectedFiles()[0]) if await run_dialog(dialog) else None


async def ask_where_to_save(parent: QWidget, title: str, file_name: str, filters: Sequence[str]) -> Path | None:
    """Ask for the file to write, suggesting a name in the documents folder; None if cancelled. The suffix follows the filter
    that the user selects, such as “Markdown (*.md)”.
    """
    dialog = QFileDialog(parent, title, str(usual_folder(SAVED_TO) / file_name), ";;".join(filters))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(_suffix(filters[0]))
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(_suffix(chosen)))
    dialog.selectFile(file_name)
    return Path(dialog.selectedFiles()[0]) if await run_dialog(dialog) else None


def _suffix(name_filter: str) -> str:
    return name_filter.rpartition("*.")[2].rstrip(")")


async def ask_for_markdown_file(parent: QWidget, title: str, stem: str) -> Path | None:
    """Ask for the Markdown file to write, suggesting a name; None if cancelled."""
    return await ask_where_to_save(parent, title, f"{stem}.md", [QCoreApplication.translate("MarkdownFile", "Markdown (*.md)")])


async def ask_for_model_folder(parent: QWidget) -> Path | None:
    """Let the user choose a folder with models; None if cancelled."""
    return await ask_for_folder(parent, QCoreApplication.translate("GearMenu", "Choose model folder"))


async def ask_for_model_file(parent: QWidget) -> Path | None:
    """Let the user choose a GGUF file; None if cancelled."""
    tr = QCoreApplication.translate
    return await ask_for_file(parent, tr("GearMenu", "Choose model"), tr("GearMenu", "Models (*.gguf)"))


async def ask_for_speech_model(parent: QWidget) -> Path | None:
    """Let the user choose a Whisper model in the ggml format; None if cancelled."""
    tr = QCoreApplication.translate
    return await ask_for_file(
        parent, tr("GearMenu", "Choose speech recognition model"), tr("GearMenu", "Whisper models (*.bin)")
    )
