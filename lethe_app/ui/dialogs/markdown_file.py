"""Dialog that asks for the Markdown file to write."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from lethe_app.ui.dialogs.dialogs import run_dialog


async def ask_for_markdown_file(parent: QWidget, title: str, stem: str) -> Path | None:
    """Ask for the file to write, suggesting a name; return None if the user cancels."""
    dialog = QFileDialog(parent, title)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter(QCoreApplication.translate("MarkdownFile", "Markdown (*.md)"))
    dialog.setDefaultSuffix("md")
    dialog.selectFile(f"{stem}.md")
    return Path(dialog.selectedFiles()[0]) if await run_dialog(dialog) else None
