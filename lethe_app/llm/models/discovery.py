"""Search for GGUF models on this machine: the user's folders, the folders of other programs, the bundled model."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lethe_app.domain.model import ModelFile
from lethe_app.errors import ModelError
from lethe_app.llm.models.gguf_model import clean_stem, describe, is_later_part

YOURS = "Your models"
STARTER = "Starter model"

DEEPEST = 8
"""Maximum depth of folders."""
MOST_FILES = 2000
"""Maximum number of model files described."""
MOST_FOLDERS = 20_000
"""Maximum number of folders read."""
LONGEST_SECONDS = 20.0
"""Time limit of a search in seconds."""
LONGEST_MANIFEST = 1 << 20
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


def roots(
    home_dir: Path,
    environ: Mapping[str, str],
    platform: str = sys.platform,
    own: Sequence[Path] = (),
    starter: Path | None = None,
) -> list[tuple[str, Path]]:
    """Return where models may be, as (source in words, folder or file): the user's own folders first, the bundled model
    last.

    The disk is not accessed; `find` skips folders that do not exist.
    """
    places: list[tuple[str, Path]] = [(YOURS, folder) for folder in own]
    for source, paths in _other_programs(_Places(home_dir, environ, platform)):
        places += [(source, path) for path in paths]
    if starter is not None:
        places.append((STARTER, starter))
    first_of_each = {path: source for source, path in reversed(places)}
    return [(source, path) for source, path in dict.fromkeys(places) if first_of_each[path] == source]


@dataclass(frozen=True)
class _Places:
    """Customary folders of an operating system, derived from the parameters and never from the real environment."""

    home: Path
    environ: Mapping[str, str]
    platform: str

    def from_environment(self, name: str) -> list[Path]:
        value = self.environ.get(name, "").strip()
        return [self._expand(value)] if value else []

    def _expand(self, value: str) -> Path:
        return self.home / value[2:] if value.startswith(("~/", "~\\")) else Path(value)

    def _named(self, name: str, otherwise: Path) -> Path:
        return next(iter(self.from_environment(name)), otherwise)

    @property
    def local_data(self) -> Path:
        """Folder of a program's local data."""
        if self.platform == "win32":
            return self._named("LOCALAPPDATA", self.home / "AppData" / "Local")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self._named("XDG_DATA_HOME", self.home / ".local" / "share")

    @property
    def roaming(self) -> Path:
        """Folder where Electron programs store their data."""
        if self.platform == "win32":
            return self._named("APPDATA", self.home / "AppData" / "Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self._named("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def cache(self) -> Path:
        if self.platform == "win32":
            return self.local_data
        if self.platform == "darwin":
            return self.home / "Library" / "Caches"
        return self._named("XDG_CACHE_HOME", self.home / ".cache")

    @property
    def hugging_face(self) -> Path:
        """Folder of the Hugging Face cache, which is ~/.cache on every system."""
        if self.from_environment("HF_HOME"):
            return self.from_environment("HF_HOME")[0]
        return self._named("XDG_CACHE_HOME", self.home / ".cache") / "huggingface"


def _other_programs(at: _Places) -> Iterator[tuple[str, list[Path]]]:
    home = at.home
    yield "LM Studio", [home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"]
    ollama = [*at.from_environment("OLLAMA_MODELS"), home / ".ollama" / "models"]
    if at.platform not in {"win32", "darwin"}:  # where the Linux installer's service keeps them
        ollama += [Path("/usr/share/ollama/.ollama/models"), Path("/var/lib/ollama/models")]
    yield "Ollama", ollama
    yield "GPT4All", [at.local_data / "nomic.ai" / "GPT4All", home / ".cache" / "gpt4all"]
    jan = [at.roaming / "Jan" / "data", at.local_data / "Jan" / "data"]
    yield "Jan", [path for data in jan for path in (data / "llamacpp" / "models", data / "models")] + [home / "jan" / "models"]
    yield "text-generation-webui", [home / "text-generation-webui" / folder for folder in ("user_data/models", "models")]
    yield "KoboldCpp", [home / "koboldcpp" / "models", home / "koboldcpp", home / "KoboldCpp"]
    hub = [*at.from_environment("HF_HUB_CACHE"), *at.from_environment("HUGGINGFACE_HUB_CACHE"), at.hugging_face / "hub"]
    yield "Hugging Face", hub
    yield "llama.cpp", [*at.from_environment("LLAMA_CACHE"), at.cache / "llama.cpp"]
    msty = (at.roaming / "Msty", at.roaming / "MstyStudio")
    yield "Msty", [base / folder for base in msty for folder in ("models", "models-gguf")]


def find(
    places: Sequence[tuple[str, Path]],
    *,
    deepest: int = DEEPEST,
    most_files: int = MOST_FILES,
    seconds: float = LONGEST_SECONDS,
) -> DiscoveredModels:
    """Return every usable model under `places`, each file once regardless of links. Reads headers only, and blocks."""
    search = _Search(deepest=deepest, most_files=most_files, ends=time.monotonic() + seconds)
    for source, place in places:
        for path, name in search.candidates(place):
            search.consider(path, source, name)
    return search.found


class _Search:
    """Walk over all places with shared limits and one set of files already seen."""

    def __init__(self, deepest: int, most_files: int, ends: float) -> None:
        self.found = DiscoveredModels()
        self._deepest = deepest
        self._files_left = most_files
        self._folders_left = MOST_FOLDERS
        self._ends = ends
        self._seen: set[Path] = set()
        self._folders: set[Path] = set()

    def exhausted(self) -> bool:
        if self._files_left > 0 and self._folders_left > 0 and time.monotonic() < self._ends:
            return False
        self.found.complete = False
        return True

    def candidates(self, place: Path) -> Iterator[tuple[Path, str]]:
        """Yield files that may be models, with a display name if the program that stores them has a better one than the file
        name.
        """
        try:
            if place.is_file():
                yield place, ""
                return
            if not place.is_dir():
                return
            is_store = (place / "manifests").is_dir() and (place / "blobs").is_dir()
        except OSError as error:
            self.found.problems.append(f"{place} cannot be searched: {error.strerror or error}.")
            return
        if is_store:
            yield from self._stored_by_digest(place)
        yield from ((path, "") for path in self._walk(place, self._deepest))

    def consider(self, path: Path, source: str, name: str) -> None:
        """Describe a file unless it was seen before; an unusable file is added to the problems."""
        if self.exhausted():
            return
        try:
            real = path.resolve()
            if real in self._seen:
                return
            self._seen.add(real)
            self._files_left -= 1
            # The bundled model's metadata contains the name of a training run; its file name is the familiar one.
            name = name or (clean_stem(path) if source == STARTER else "")
            self.found.models.append(describe(path, source, name))
        except ModelError as error:
            self.found.problems.append(f"{source}: {error.message}")
        except (OSError, RuntimeError) as error:  # a link that leads in a circle is a RuntimeError before Python 3.13
            self.found.problems.append(f"{source}: “{path.name}” cannot be opened: {error}.")

    def _walk(self, folder: Path, depth: int) -> Iterator[Path]:
        """Yield the GGUF files below `folder`, sorted. Links are followed, but no folder is entered twice, so cycles end."""
        if self.exhausted():
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
            self.found.problems.append(f"{folder} cannot be searched: {error}.")
            return
        folders: list[Path] = []
        for entry in entries:
            if _is_folder(entry):
                folders.append(Path(entry.path))
            elif _may_be_model(entry):
                yield Path(entry.path)
        if depth > 0:
            for inner in folders:
                yield from self._walk(inner, depth - 1)

    def _stored_by_digest(self, store: Path) -> Iterator[tuple[Path, str]]:
        """Yield the models of an Ollama-like store: manifests/<registry>/<owner>/<model>/<tag> name blobs/sha256-<digest>."""
        manifests = store / "manifests"
        for manifest in sorted(path for path in self._files_below(manifests, 5)):
            digest = self._model_digest(manifest)
            if digest:
                yield store / "blobs" / digest.replace(":", "-"), _ollama_name(manifest.relative_to(manifests))

    def _files_below(self, folder: Path, depth: int) -> Iterator[Path]:
        if depth < 0 or self.exhausted():
            return
        self._folders_left -= 1
        try:
            entries = sorted(folder.iterdir())
        except OSError as error:
            self.found.problems.append(f"{folder} cannot be searched: {error}.")
            return
        for entry in entries:
            if entry.is_symlink():
                continue
            if entry.is_dir():
                yield from self._files_below(entry, depth - 1)
            elif entry.is_file() and not entry.name.startswith("."):
                yield entry

    def _model_digest(self, manifest: Path) -> str:
        """Return the digest of the model layer; empty if the manifest is none or names no local weights."""
        try:
            if manifest.stat().st_size > LONGEST_MANIFEST:
                return ""
            content = json.loads(manifest.read_text("utf-8"))
            layers = content.get("layers", []) if isinstance(content, dict) else []
            digests = [layer["digest"] for layer in layers if layer.get("mediaType") == _OLLAMA_MODEL_LAYER]
        except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
            self.found.problems.append(f"{manifest} is not a readable manifest.")
            return ""
        # The digest becomes part of a path, so anything but hexadecimal digits is refused (path traversal).
        return next((str(digest) for digest in digests if re.fullmatch(r"sha256:[0-9a-f]{64}", str(digest))), "")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _may_be_model(entry: os.DirEntry[str]) -> bool:
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
