"""Buttons beside settings that are files or folders, so that nobody has to type a path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QSize
from PySide6.QtWidgets import QFileDialog, QToolButton

from lethe_app.ui.dialogs import answered
from lethe_app.ui.icons import icon
from lethe_app.ui.palette import ICON, SPACE_1
from lethe_app.ui.workshop.persona_pictures import ENDINGS
from lethe_app.ui.workshop.place import Place


@dataclass(frozen=True)
class Wanted:
    """What kind of thing a setting names."""

    kind: str = ""
    """Words for files of that kind; none for a folder."""
    endings: tuple[str, ...] = ()
    is_several: bool = False
    """Is it one more, beside those there are?"""


MODEL = Wanted(str(QT_TRANSLATE_NOOP("Setting", "Models")), ("gguf",))
WANTED = {
    "background": Wanted(str(QT_TRANSLATE_NOOP("Setting", "Pictures")), tuple(ENDINGS)),
    "model_path": MODEL,
    "embedder_path": MODEL,
    "model_folders": Wanted(is_several=True),
}
"""Setting → what may be chosen for it."""


class PathButton(QToolButton):
    """`take` is called with the setting's new value."""

    def __init__(
        self, place: Place, name: str, title: str, present: Callable[[], object], take: Callable[[object], None]
    ) -> None:
        super().__init__()
        self._place, self._wanted, self._title = place, WANTED[name], title
        self._present, self._take = present, take
        words = self.tr("{title}: choose a file…") if self._wanted.endings else self.tr("{title}: choose a folder…")
        self.setToolTip(words.format(title=title))
        self.setAccessibleName(words.format(title=title))
        self.setIconSize(QSize(ICON - SPACE_1, ICON - SPACE_1))
        self.dress()
        self.clicked.connect(lambda: place.bridge.spawn(self.pick(), lane="settings path"))

    def dress(self) -> None:
        self.setIcon(icon("folder", self._place.theme.palette.muted))

    async def pick(self) -> None:
        """Let the user choose; nothing changes where they think better of it."""
        kinds = ""
        if self._wanted.endings:
            kind = QCoreApplication.translate("Setting", self._wanted.kind)
            kinds = f"{kind} ({' '.join(f'*.{ending}' for ending in self._wanted.endings)})"
        dialog = QFileDialog(self._place.window, self._title, str(Path.home()), kinds)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile if kinds else QFileDialog.FileMode.Directory)
        if not await answered(dialog):
            return
        chosen, present = dialog.selectedFiles()[0], self._present()
        if not self._wanted.is_several:
            self._take(chosen)
        elif isinstance(present, list) and chosen not in present:
            self._take([*present, chosen])
