"""File dialogs for a model file, a speech recognition model and a folder with models."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from lethe_app.ui.dialogs.dialogs import run_dialog


async def ask_for_model_folder(parent: QWidget) -> Path | None:
    """Let the user choose a folder with models; None if cancelled."""
    dialog = QFileDialog(parent, QCoreApplication.translate("GearMenu", "Choose model folder"), str(Path.home()))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return Path(dialog.selectedFiles()[0]) if await run_dialog(dialog) else None


async def ask_for_model_file(parent: QWidget) -> Path | None:
    """Let the user choose a GGUF file; None if cancelled."""
    title = QCoreApplication.translate("GearMenu", "Choose model")
    return await _ask_for_file(parent, title, QCoreApplication.translate("GearMenu", "Models (*.gguf)"))


async def ask_for_speech_model(parent: QWidget) -> Path | None:
    """Let the user choose a Whisper model in the ggml format; None if cancelled."""
    title = QCoreApplication.translate("GearMenu", "Choose speech recognition model")
    return await _ask_for_file(parent, title, QCoreApplication.translate("GearMenu", "Whisper models (*.bin)"))


async def _ask_for_file(parent: QWidget, title: str, kinds: str) -> Path | None:
    dialog = QFileDialog(parent, title, str(Path.home()), kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return Path(dialog.selectedFiles()[0]) if await run_dialog(dialog) else None
