"""File dialogs: files and folders to open, and the file to write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from lethe_app.ui.dialogs.dialogs import run_dialog

Location = QStandardPaths.StandardLocation
FileMode = QFileDialog.FileMode


def usual_folder(location: Location) -> Path:
    """Return a folder of the user, such as that of downloads; the home folder if there is none."""
    folder = QStandardPaths.writableLocation(location)
    return Path(folder) if folder and Path(folder).is_dir() else Path.home()


def build_name_filter(kind: str, endings: Iterable[str]) -> str:
    """Return the filter of files with one of these endings, such as “Images (*.png *.jpg)”."""
    patterns = " ".join(f"*.{ending.lstrip('.')}" for ending in endings)
    return f"{kind} ({patterns})"


async def ask_for_files(parent: QWidget, title: str, *filters: str) -> list[Path]:
    """Let the user choose files to open; empty if cancelled."""
    return await _ask_for_paths(parent, title, FileMode.ExistingFiles, filters)


async def ask_for_file(parent: QWidget, title: str, *filters: str, folder: Path | None = None) -> Path | None:
    """Let the user choose one file to open, beginning in `folder`; None if cancelled."""
    return next(iter(await _ask_for_paths(parent, title, FileMode.ExistingFile, filters, folder)), None)


async def ask_for_folder(parent: QWidget, title: str) -> Path | None:
    """Let the user choose a folder; None if cancelled."""
    return next(iter(await _ask_for_paths(parent, title, FileMode.Directory)), None)


async def _ask_for_paths(
    parent: QWidget, title: str, mode: FileMode, filters: Sequence[str] = (), folder: Path | None = None
) -> list[Path]:
    """Open a dialog in a folder, by default that of downloads, where most of what is opened here comes from."""
    dialog = QFileDialog(parent, title, str(folder or usual_folder(Location.DownloadLocation)), ";;".join(filters))
    dialog.setFileMode(mode)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, mode is FileMode.Directory)
    return [Path(name) for name in dialog.selectedFiles()] if await run_dialog(dialog) else []


async def ask_where_to_save(parent: QWidget, title: str, file_name: str, *filters: str) -> tuple[Path, str] | None:
    """Ask for the file to write, suggesting a name in the documents folder, and return it with the filter that the user
    selected; None if cancelled. The suffix follows that filter, such as “Markdown (*.md)”.
    """
    dialog = QFileDialog(parent, title, str(usual_folder(Location.DocumentsLocation) / file_name), ";;".join(filters))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(_suffix(filters[0]))
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(_suffix(chosen)))
    dialog.selectFile(file_name)
    return (Path(dialog.selectedFiles()[0]), dialog.selectedNameFilter()) if await run_dialog(dialog) else None


def _suffix(name_filter: str) -> str:
    return name_filter.rpartition("*.")[2].rstrip(")")


async def ask_for_markdown_file(parent: QWidget, title: str, stem: str) -> Path | None:
    """Ask for the Markdown file to write, suggesting a name; None if cancelled."""
    markdown = QCoreApplication.translate("MarkdownFile", "Markdown (*.md)")
    chosen = await ask_where_to_save(parent, title, f"{stem}.md", markdown)
    return chosen[0] if chosen is not None else None


async def ask_for_model_folder(parent: QWidget) -> Path | None:
    """Let the user choose a folder with models; None if cancelled."""
    return await ask_for_folder(parent, QCoreApplication.translate("GearMenu", "Choose model folder"))


async def ask_for_model_file(parent: QWidget) -> Path | None:
    """Let the user choose a GGUF file; None if cancelled."""
    tr = QCoreApplication.translate
    return await ask_for_file(parent, tr("GearMenu", "Choose model"), tr("GearMenu", "Models (*.gguf)"))
