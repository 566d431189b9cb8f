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


class Location:
    """Path below one of the folders of `Paths`; read from an instance, it is the path itself."""

    def __init__(self, folder: str, *parts: str) -> None:
        self._folder, self._parts = folder, parts

    def __get__(self, paths: Paths, _owner: type[Paths]) -> Path:
        folder: Path = getattr(paths, self._folder)
        return folder.joinpath(*self._parts)


@dataclass(frozen=True)
class Paths:
    """Every folder and file that Lethe reads or writes; no other module defines a location."""

    home: Path
    cache: Path
    shipped: Path

    database = Location("home", "lethe.sqlite3")
    settings = Location("home", "settings.json")
    window = Location("home", "window.ini")
    """Geometry of the window and its panes."""
    personas = Location("home", "personas")
    worlds = Location("home", "worldinfo")
    notebooks = Location("home", "notebooks")
    """Readable files, one folder for each persona."""
    presets = Location("home", "presets")
    """Contains `instruct/`, `samplers/` and `system/`."""
    models = Location("home", "models")
    """The user's own folder of GGUF files."""
    trash = Location("home", "trash")
    """Files the user deleted, and unreadable files that were overwritten."""
    inbox = Location("home", "inbox")
    """Notes by which a second start hands files to the running window."""
    logs = Location("home", "logs")
    index = Location("cache", "index")
    """Vector index files; they are rebuilt if missing."""
    states = Location("cache", "states")
    """Stored KV cache states of sessions; without one the prompt is evaluated again."""
    shipped_personas = Location("shipped", "personas")
    shipped_worlds = Location("shipped", "worldinfo")
    resources = Location("shipped", "resources")
    shipped_presets = Location("resources", "presets")
    prompts = Location("resources", "prompts")
    own_prompts = Location("home", "prompts")
    """The user's replacements for the shipped prompts, by the same file names."""
    translations = Location("resources", "translations")
    """Translation catalogues of the user interface."""
    own_translations = Location("home", "translations")
    """The user's own translation catalogues, by the same file names."""
    calibration = Location("resources", "calibration", "pairs.json")
    """Sentence pairs by which an embedding model is calibrated."""
    selftest = Location("resources", "selftest")
    """Texts of the model qualification."""
    icons = Location("resources", "icons")

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
