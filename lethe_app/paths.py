"""Locations of files: the program's own folders (source tree, installed wheel or frozen bundle) and the user's."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

APP_NAME = "Lethe"


def shipped_root() -> Path:
    """Return the folder that contains `personas/`, `worldinfo/` and `resources/` of this installation."""
    if getattr(sys, "frozen", False):
        return Path(getattr(sys, "_MEIPASS", Path(sys.executable).parent))
    package = Path(__file__).resolve().parent
    installed = package / "shipped"
    return installed if installed.is_dir() else package.parent


def home_beside_program() -> Path | None:
    """Return the folder `lethe-home` beside the frozen program if it exists (portable mode); None otherwise."""
    if not getattr(sys, "frozen", False):
        return None
    folder = Path(sys.executable).resolve().parent
    if folder.parent.name == "Contents":  # inside a bundle of macOS, whose neighbours are what the user sees
        folder = folder.parents[2]
    return folder / "lethe-home" if (folder / "lethe-home").is_dir() else None


@dataclass(frozen=True)
class Paths:
    """Every folder and file that Lethe reads or writes; no other module defines a location."""

    home: Path
    cache: Path
    shipped: Path

    @classmethod
    def standard(cls, home: Path | None = None) -> Paths:
        """Return the paths for `home`, else LETHE_HOME, else `lethe-home` beside a portable program, else the platform's
        data folder.

        In all but the last case the cache is a subfolder.
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
        """Geometry of the window and its panes."""
        return self.home / "window.ini"

    @property
    def personas(self) -> Path:
        return self.home / "personas"

    @property
    def worlds(self) -> Path:
        return self.home / "worldinfo"

    @property
    def notebooks(self) -> Path:
        """Readable files, one folder for each persona."""
        return self.home / "notebooks"

    @property
    def presets(self) -> Path:
        """Contains `instruct/`, `samplers/` and `system/`."""
        return self.home / "presets"

    @property
    def models(self) -> Path:
        """The user's own folder of GGUF files."""
        return self.home / "models"

    @property
    def trash(self) -> Path:
        """Files the user deleted, and unreadable files that were overwritten."""
        return self.home / "trash"

    @property
    def inbox(self) -> Path:
        """Notes by which a second start hands files to the running window."""
        return self.home / "inbox"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def index(self) -> Path:
        """Vector index files; they are rebuilt if missing."""
        return self.cache / "index"

    @property
    def states(self) -> Path:
        """Stored KV cache states of sessions; without one the prompt is evaluated again."""
        return self.cache / "states"

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
        """The user's replacements for the shipped prompts, by the same file names."""
        return self.home / "prompts"

    @property
    def translations(self) -> Path:
        """Translation catalogues of the user interface."""
        return self.resources / "translations"

    @property
    def own_translations(self) -> Path:
        """The user's own translation catalogues, by the same file names."""
        return self.home / "translations"

    @property
    def calibration(self) -> Path:
        """Sentence pairs by which an embedding model is calibrated."""
        return self.resources / "calibration" / "pairs.json"

    @property
    def selftest(self) -> Path:
        """Texts of the model qualification."""
        return self.resources / "selftest"

    @property
    def icons(self) -> Path:
        return self.resources / "icons"
