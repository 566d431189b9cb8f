"""Locations of files: the program's own folders (source tree, installed wheel or frozen bundle) and the user's."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property
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


def location(folder: str, *parts: str) -> cached_property[Path]:
    """Declare a path below one of the folders of `Paths`."""
    return cached_property(lambda paths: getattr(paths, folder).joinpath(*parts))


@dataclass(frozen=True)
class Paths:
    """Every folder and file that Lethe reads or writes; no other module defines a location."""

    home: Path
    cache: Path
    shipped: Path

    database = location("home", "lethe.sqlite3")
    settings = location("home", "settings.json")
    window = location("home", "window.ini")
    """Geometry of the window and its panes."""
    personas = location("home", "personas")
    worlds = location("home", "worldinfo")
    notebooks = location("home", "notebooks")
    """Readable files, one folder for each persona."""
    presets = location("home", "presets")
    """Contains `instruct/`, `samplers/` and `system/`."""
    models = location("home", "models")
    """The user's own folder of GGUF files."""
    trash = location("home", "trash")
    """Files the user deleted, and unreadable files that were overwritten."""
    inbox = location("home", "inbox")
    """Notes by which a second start hands files to the running window."""
    logs = location("home", "logs")
    index = location("cache", "index")
    """Vector index files; they are rebuilt if missing."""
    states = location("cache", "states")
    """Stored KV cache states of sessions; without one the prompt is evaluated again."""
    shipped_personas = location("shipped", "personas")
    shipped_worlds = location("shipped", "worldinfo")
    resources = location("shipped", "resources")
    shipped_presets = location("resources", "presets")
    prompts = location("resources", "prompts")
    own_prompts = location("home", "prompts")
    """The user's replacements for the shipped prompts, by the same file names."""
    translations = location("resources", "translations")
    """Translation catalogues of the user interface."""
    own_translations = location("home", "translations")
    """The user's own translation catalogues, by the same file names."""
    calibration = location("resources", "calibration", "pairs.json")
    """Sentence pairs by which an embedding model is calibrated."""
    selftest = location("resources", "selftest")
    """Texts of the model qualification."""
    icons = location("resources", "icons")

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
