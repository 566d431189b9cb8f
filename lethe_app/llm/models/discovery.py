"""Search for GGUF models on this machine: the user's folders, the folders of other programs, the bundled model."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lethe_app.domain.model import ModelFile
from lethe_app.errors import ModelError
from lethe_app.llm.models.gguf_model import clean_stem, describe_model, is_later_part

USER_SOURCE = "Your models"
STARTER_SOURCE = "Starter model"

MAX_DEPTH = 8
"""Maximum depth of folders."""
MAX_FILES = 2000
"""Maximum number of model files described."""
MAX_FOLDERS = 20_000
"""Maximum number of folders read."""
MAX_SECONDS = 20.0
"""Time limit of a search in seconds."""
MAX_MANIFEST_BYTES = 1 << 20
"""Maximum size in bytes of an Ollama manifest."""

# Vision projectors are GGUF files too, but no language models.
_PROJECTOR = re.compile(r"mmproj|mm-proj|clip-vit|vision[-_]projector", re.IGNORECASE)
_OLLAMA_MODEL_LAYER = "application/vnd.ollama.image.model"


@dataclass
class DiscoveredModels:
    """Result of a search: the models in the order of their roots, and a sentence for every file that is no usable model."""

    models: list[ModelFile] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    complete: bool = True
    """False if a limit of time or number ended the search."""


def model_roots(
    home_dir: Path,
    environ: Mapping[str, str],
    platform: str = sys.platform,
    user_folders: Sequence[Path] = (),
    starter_model: Path | None = None,
) -> list[tuple[str, Path]]:
    """Return where models may be, as (source in words, folder or file): the user's own folders first, the bundled model
    last.

    The disk is not accessed; `find_models` skips folders that do not exist.
    """
    roots: list[tuple[str, Path]] = [(USER_SOURCE, folder) for folder in user_folders]
    for source, paths in _program_folders(_StandardFolders(home_dir, environ, platform)):
        roots += [(source, path) for path in paths]
    if starter_model is not None:
        roots.append((STARTER_SOURCE, starter_model))
    source_by_path = {path: source for source, path in reversed(roots)}
    return [(source, path) for source, path in dict.fromkeys(roots) if source_by_path[path] == source]


_XDG = {
    "local_data": ("XDG_DATA_HOME", ".local/share"),
    "roaming": ("XDG_CONFIG_HOME", ".config"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
}
_CUSTOMARY = {
    "win32": {
        "local_data": ("LOCALAPPDATA", "AppData/Local"),
        "roaming": ("APPDATA", "AppData/Roaming"),
        "cache": ("LOCALAPPDATA", "AppData/Local"),
    },
    "darwin": {
        "local_data": ("", "Library/Application Support"),
        "roaming": ("", "Library/Application Support"),
        "cache": ("", "Library/Caches"),
    },
}
"""Variables and folders below the home folder by operating system (`_XDG` for all others): of a program's local data, of what
Electron programs store, and of caches.
"""


@dataclass(frozen=True)
class _StandardFolders:
    """Customary folders of an operating system, derived from the parameters and never from the real environment."""

    home: Path
    environ: Mapping[str, str]
    platform: str

    def from_environment(self, name: str) -> list[Path]:
        value = self.environ.get(name, "").strip()
        expanded = self.home / value[2:] if value.startswith(("~/", "~\\")) else Path(value)
        return [expanded] if value else []

    def folder(self, variable: str, default: str) -> Path:
        return next(iter(self.from_environment(variable)), self.home / default)


def _program_folders(folders: _StandardFolders) -> Iterator[tuple[str, list[Path]]]:
    home, customary = folders.home, _CUSTOMARY.get(folders.platform, _XDG)
    local_data, roaming, cache = (folders.folder(*customary[kind]) for kind in ("local_data", "roaming", "cache"))
    yield "LM Studio", [home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"]
    ollama = [*folders.from_environment("OLLAMA_MODELS"), home / ".ollama" / "models"]
    if folders.platform not in {"win32", "darwin"}:  # where the Linux installer's service keeps them
        ollama += [Path("/usr/share/ollama/.ollama/models"), Path("/var/lib/ollama/models")]
    yield "Ollama", ollama
    yield "GPT4All", [local_data / "nomic.ai" / "GPT4All", home / ".cache" / "gpt4all"]
    jan = [roaming / "Jan" / "data", local_data / "Jan" / "data"]
    yield "Jan", [path for data in jan for path in (data / "llamacpp" / "models", data / "models")] + [home / "jan" / "models"]
    yield "text-generation-webui", [home / "text-generation-webui" / folder for folder in ("user_data/models", "models")]
    yield "KoboldCpp", [home / "koboldcpp" / "models", home / "koboldcpp", home / "KoboldCpp"]
    hubs = [path for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE") for path in folders.from_environment(name)]
    hugging_face = folders.from_environment("HF_HOME") or [folders.folder(*_XDG["cache"]) / "huggingface"]
    yield "Hugging Face", [*hubs, hugging_face[0] / "hub"]
    yield "llama.cpp", [*folders.from_environment("LLAMA_CACHE"), cache / "llama.cpp"]
    msty = (roaming / "Msty", roaming / "MstyStudio")
    yield "Msty", [base / folder for base in msty for folder in ("models", "models-gguf")]


def find_models(
    roots: Sequence[tuple[str, Path]],
    *,
    max_depth: int = MAX_DEPTH,
    max_files: int = MAX_FILES,
    seconds: float = MAX_SECONDS,
) -> DiscoveredModels:
    """Return every usable model under `roots`, each file once regardless of links. Reads headers only, and blocks."""
    search = _Search(max_depth=max_depth, max_files=max_files, deadline=time.monotonic() + seconds)
    for source, root in roots:
        for path, name in search.candidates(root):
            search.add_file(path, source, name)
    return search.result


class _Search:
    """Walk over all roots with shared limits and one set of files already seen."""

    def __init__(self, max_depth: int, max_files: int, deadline: float) -> None:
        self.result = DiscoveredModels()
        self._max_depth = max_depth
        self._files_left = max_files
        self._folders_left = MAX_FOLDERS
        self._deadline = deadline
        self._seen: set[Path] = set()
        self._folders: set[Path] = set()

    def is_exhausted(self) -> bool:
        if self._files_left > 0 and self._folders_left > 0 and time.monotonic() < self._deadline:
            return False
        self.result.complete = False
        return True

    def candidates(self, root: Path) -> Iterator[tuple[Path, str]]:
        """Yield files that may be models, with a display name if the program that stores them has a better one than the file
        name.
        """
        try:
            if root.is_file():
                yield root, ""
                return
            if not root.is_dir():
                return
            is_store = (root / "manifests").is_dir() and (root / "blobs").is_dir()
        except OSError as error:
            self.result.problems.append(f"{root} cannot be searched: {error.strerror or error}.")
            return
        if is_store:
            yield from self._walk_ollama_store(root)
        yield from ((path, "") for path in self._walk(root, self._max_depth))

    def add_file(self, path: Path, source: str, name: str) -> None:
        """Describe a file unless it was seen before; an unusable file is added to the problems."""
        if self.is_exhausted():
            return
        try:
            real = path.resolve()
            if real in self._seen:
                return
            self._seen.add(real)
            self._files_left -= 1
            # The bundled model's metadata contains the name of a training run; its file name is the familiar one.
            name = name or (clean_stem(path) if source == STARTER_SOURCE else "")
            self.result.models.append(describe_model(path, source, name))
        except ModelError as error:
            self.result.problems.append(f"{source}: {error.message}")
        except (OSError, RuntimeError) as error:  # a link that leads in a circle is a RuntimeError before Python 3.13
            self.result.problems.append(f"{source}: “{path.name}” cannot be opened: {error}.")

    def _walk(self, folder: Path, depth: int) -> Iterator[Path]:
        """Yield the GGUF files below `folder`, sorted. Links are followed, but no folder is entered twice, so cycles end."""
        if self.is_exhausted():
            return
        try:
            real = folder.resolve()
            if real in self._folders:
                return
            self._folders.add(real)
            self._folders_left -= 1
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name.casefold())
        except (OSError, RuntimeError) as error:
            self.result.problems.append(f"{folder} cannot be searched: {error}.")
            return
        folders: list[Path] = []
        for entry in entries:
            is_folder = False
            with suppress(OSError):
                is_folder = entry.is_dir()
            if is_folder:
                folders.append(Path(entry.path))
            elif _is_model_file(entry):
                yield Path(entry.path)
        if depth > 0:
            for inner in folders:
                yield from self._walk(inner, depth - 1)

    def _walk_ollama_store(self, store: Path) -> Iterator[tuple[Path, str]]:
        """Yield the models of an Ollama-like store: manifests/<registry>/<owner>/<model>/<tag> name blobs/sha256-<digest>."""
        manifests = store / "manifests"
        for manifest in sorted(manifests.glob("*/*/*/[!.]*")):
            if self.is_exhausted():
                return
            digest = "" if manifest.is_symlink() or not manifest.is_file() else self._model_digest(manifest)
            if digest:
                yield store / "blobs" / digest.replace(":", "-"), _ollama_name(manifest.relative_to(manifests))

    def _model_digest(self, manifest: Path) -> str:
        """Return the digest of the model layer; empty if the manifest is none or names no local weights."""
        try:
            if manifest.stat().st_size > MAX_MANIFEST_BYTES:
                return ""
            content = json.loads(manifest.read_text("utf-8"))
            layers = content.get("layers", []) if isinstance(content, dict) else []
            digests = [layer["digest"] for layer in layers if layer.get("mediaType") == _OLLAMA_MODEL_LAYER]
        except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
            self.result.problems.append(f"{manifest} is not a readable manifest.")
            return ""
        # The digest becomes part of a path, so anything but hexadecimal digits is refused (path traversal).
        return next((str(digest) for digest in digests if re.fullmatch(r"sha256:[0-9a-f]{64}", str(digest))), "")


def _is_model_file(entry: os.DirEntry[str]) -> bool:
    """Return whether a file name is that of a GGUF model: no projector, no hidden file, not a later part of a split model."""
    name = entry.name
    if not name.casefold().endswith(".gguf") or name.startswith(".") or _PROJECTOR.search(name):
        return False
    return not is_later_part(Path(name))


def _ollama_name(relative: Path) -> str:
    """Return “llama3.2:3b” for models of Ollama's own library, “owner/model:tag” for others."""
    *_, owner, model, tag = ("", "", *relative.parts)
    name = model if owner in {"library", ""} else f"{owner}/{model}"
    return name if tag == "latest" else f"{name}:{tag}"
