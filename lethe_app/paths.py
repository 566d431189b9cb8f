"""Where things are: the program's own folders (source tree, installed wheel or frozen bundle) and the user's."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

APP_NAME = "Lethe"


def shipped_root() -> Path:
    """The folder that holds `personas/`, `worldinfo/` and `resources/` of this installation."""
    if getattr(sys, "frozen", False):
        return Path(getattr(sys, "_MEIPASS", Path(sys.executable).parent))
    package = Path(__file__).resolve().parent
    installed = package / "shipped"
    return installed if installed.is_dir() else package.parent


def home_beside_program() -> Path | None:
    """A folder `lethe-home` beside the frozen program, if somebody made one there: then all data stays with the program."""
    if not getattr(sys, "frozen", False):
        return None
    folder = Path(sys.executable).resolve().parent
    if folder.parent.name == "Contents":  # inside a bundle of macOS, whose neighbours are what the user sees
        folder = folder.parents[2]
    return folder / "lethe-home" if (folder / "lethe-home").is_dir() else None


@dataclass(frozen=True)
class Paths:
    """Every folder and file that Lethe reads or writes; nothing else in the program spells a location."""

    home: Path
    cache: Path
    shipped: Path

    @classmethod
    def standard(cls, home: Path | None = None) -> Paths:
        """`home`, else LETHE_HOME, else `lethe-home` beside a portable program, else the platform's data folder.

        With any but the last the cache lies inside it.
        """
        named = Path(os.environ["LETHE_HOME"]) if os.environ.get("LETHE_HOME") else None
        chosen = home or named or home_beside_program()
        if chosen is not None:
            chosen = chosen.expanduser().resolve()
            return cls(home=chosen, cache=chosen / "cache", shipped=shipped_root())
        from platformdirs import PlatformDirs  # noqa: PLC0415 - not needed where the home is named

        folders = PlatformDirs(APP_NAME, appauthor=False)
        return cls(home=folders.user_data_path, cache=folders.user_cache_path, shipped=shipped_root())

    @property
    def database(self) -> Path:
        return self.home / "lethe.sqlite3"

    @property
    def settings(self) -> Path:
        return self.home / "settings.json"

    @property
    def window(self) -> Path:
        """Size and place of the window and its panes."""
        return self.home / "window.ini"

    @property
    def personas(self) -> Path:
        return self.home / "personas"

    @property
    def worlds(self) -> Path:
        return self.home / "worldinfo"

    @property
    def notebooks(self) -> Path:
        """A folder of readable files for each persona."""
        return self.home / "notebooks"

    @property
    def presets(self) -> Path:
        """Holds `instruct/`, `samplers/` and `system/`."""
        return self.home / "presets"

    @property
    def models(self) -> Path:
        """The user's own folder of GGUF files."""
        return self.home / "models"

    @property
    def trash(self) -> Path:
        """Files the user deleted, or that were broken when they were overwritten."""
        return self.home / "trash"

    @property
    def inbox(self) -> Path:
        """Notes of files that the open window is to look at, laid there by a second start."""
        return self.home / "inbox"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def index(self) -> Path:
        """Files that make finding memories quick; they are made again when they are gone."""
        return self.cache / "index"

    @property
    def states(self) -> Path:
        """What the model has read of conversations; it is read again when it is gone."""
        return self.cache / "states"

    @property
    def starter_models(self) -> Path:
        """Where the embedder converted from the starter package lies."""
        return self.cache / "models"

    @property
    def shipped_personas(self) -> Path:
        return self.shipped / "personas"

    @property
    def shipped_worlds(self) -> Path:
        return self.shipped / "worldinfo"

    @property
    def resources(self) -> Path:
        return self.shipped / "resources"

    @property
    def shipped_presets(self) -> Path:
        return self.resources / "presets"

    @property
    def prompts(self) -> Path:
        return self.resources / "prompts"

    @property
    def own_prompts(self) -> Path:
        """What the user would have a model told instead of ours, each file under the name of ours."""
        return self.home / "prompts"

    @property
    def translations(self) -> Path:
        """Catalogues of the window's words in other languages."""
        return self.resources / "translations"

    @property
    def own_translations(self) -> Path:
        """What the user would have the window say, in files called as ours."""
        return self.home / "translations"

    @property
    def calibration(self) -> Path:
        """Pairs of sentences by which an embedding model is measured."""
        return self.resources / "calibration" / "pairs.json"

    @property
    def selftest(self) -> Path:
        """Snippets by which a model's notes are tried."""
        return self.resources / "selftest"

    @property
    def icons(self) -> Path:
        return self.resources / "icons"
