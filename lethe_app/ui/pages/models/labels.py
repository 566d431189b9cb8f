"""Display texts about models: metadata, memory estimate and download progress."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.model import DownloadProgress, DownloadStage, ModelFile
from lethe_app.services.models.memory_fit import Fit, FitLevel
from lethe_app.ui.core.formatting import rounded, size_in_words


def _tr(words: str) -> str:
    return QCoreApplication.translate("Model", words)


def verdict_in_words(verdict: FitLevel) -> str:
    """Return whether a model fits into memory, in one or two words for a column."""
    return {FitLevel.FITS: _tr("fits"), FitLevel.TIGHT: _tr("barely fits"), FitLevel.TOO_LARGE: _tr("too large")}[verdict]


def fit_in_words(fit: Fit) -> str:
    """Return the memory a model needs, what is free, and which context size would fit if the chosen one does not."""
    words = _tr(
        "Needs {needed}: {weights} for the model, {cache} for {context} tokens of context and {compute} for "
        "computation. {free} are free."
    ).format(
        needed=size_in_words(fit.needed),
        weights=size_in_words(fit.weights),
        cache=size_in_words(fit.cache) if fit.cache else _tr("0 MB"),
        context=rounded(fit.context),
        compute=size_in_words(fit.compute),
        free=size_in_words(fit.free),
    )
    if fit.verdict is FitLevel.FITS:
        return words
    if fit.longest and fit.longest < fit.context:
        return f"{words} {_tr('A context of {longest} tokens would fit.').format(longest=rounded(fit.longest))}"
    if fit.verdict is FitLevel.TIGHT:
        return f"{words} {_tr('Other programs may slow down.')}"
    return f"{words} {_tr('Even a short context does not fit; choose a smaller model.')}"


def facts_of(model: ModelFile) -> list[tuple[str, str]]:
    """Return titles and values of the metadata that the file contains."""
    size = f"{model.parameters / 1e9:.1f}".rstrip("0").rstrip(".")
    tokens = _tr("{tokens} tokens").format(tokens=rounded(model.context_length))
    form = _tr("built-in chat template") if model.has_template else _tr("no built-in template; detected when loaded")
    parts = [
        (_tr("Type"), _tr("embedding (memory search)") if model.is_embedding else _tr("chat")),
        (_tr("Architecture"), model.architecture),
        (_tr("Parameters"), _tr("{count} billion").format(count=size) if model.parameters >= 50_000_000 else ""),
        (_tr("On disk"), size_in_words(model.size)),
        (_tr("Quantisation"), model.quantization),
        (_tr("Context length"), tokens if model.context_length else ""),
        (_tr("Format"), "" if model.is_embedding else form),
        (_tr("Attention"), window_of(model)),
        (_tr("Source"), model.source),
        (_tr("File"), from_home(model.path)),
    ]
    return [(title, words) for title, words in parts if words]


def from_home(path: Path) -> str:
    """Return the path with the home folder abbreviated to ~."""
    home = Path.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def window_of(model: ModelFile) -> str:
    """Return how the model stores its context if that is unusual: recurrent state or sliding window; otherwise an empty
    string.
    """
    if model.is_recurrent:
        return _tr("recurrent: no context shift")
    if model.sliding_window:
        return _tr("sliding window, {tokens} tokens").format(tokens=rounded(model.sliding_window))
    return ""


def download_in_words(news: DownloadProgress) -> str:
    """Return the progress of a download."""
    done, total = size_in_words(news.done), size_in_words(news.total) if news.total else "?"
    match news.stage:
        case DownloadStage.LOADING:
            speed = _tr("{speed}/s").format(speed=size_in_words(round(news.speed)))
            return " · ".join([_tr("{done} of {total}").format(done=done, total=total), *([speed] if news.speed else [])])
        case DownloadStage.CHECKING:
            return _tr("Verifying download…")
        case DownloadStage.DONE:
            return _tr("Downloaded.")
        case DownloadStage.STOPPED:
            return _tr("Stopped; the partial download is kept.")
        case DownloadStage.FAILED:
            return news.problem
        case _:
            return _tr("Waiting for the server…")
