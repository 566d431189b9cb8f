"""Says what there is to know about a model, so that somebody who never loaded one can choose."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.model import DownloadProgress, DownloadStage, ModelFile
from lethe_app.services.models.memory_fit import Fit, FitLevel
from lethe_app.ui.core.formatting import rounded, size_in_words


def _tr(words: str) -> str:
    return QCoreApplication.translate("Model", words)


def verdict_in_words(verdict: FitLevel) -> str:
    """One or two words for a column."""
    return {FitLevel.FITS: _tr("fits"), FitLevel.TIGHT: _tr("barely fits"), FitLevel.TOO_LARGE: _tr("too large")}[verdict]


def fit_in_words(fit: Fit) -> str:
    """What it takes, what there is, and what would help."""
    words = _tr(
        "Takes {needed}: {weights} for the model, {cache} for {context} tokens of context and {compute} to work with."
        " {free} are free."
    ).format(
        needed=size_in_words(fit.needed),
        weights=size_in_words(fit.weights),
        cache=size_in_words(fit.cache) if fit.cache else _tr("nothing"),
        context=rounded(fit.context),
        compute=size_in_words(fit.compute),
        free=size_in_words(fit.free),
    )
    if fit.verdict is FitLevel.FITS:
        return words
    if fit.longest and fit.longest < fit.context:
        return f"{words} {_tr('With {longest} tokens it would fit.').format(longest=rounded(fit.longest))}"
    if fit.verdict is FitLevel.TIGHT:
        return f"{words} {_tr('Other programs may become slow.')}"
    return f"{words} {_tr('Not even a short context would fit; a smaller model would.')}"


def facts_of(model: ModelFile) -> list[tuple[str, str]]:
    """Titles and values, those that the file tells."""
    size = f"{model.parameters / 1e9:.1f}".rstrip("0").rstrip(".")
    tokens = _tr("{tokens} tokens").format(tokens=rounded(model.context_length))
    form = _tr("its own template") if model.has_template else _tr("none of its own: recognised when it is loaded")
    parts = [
        (_tr("Kind"), _tr("finds memories (embedding)") if model.is_embedding else _tr("for conversations")),
        (_tr("Architecture"), model.architecture),
        (_tr("Weights"), _tr("{count} billion").format(count=size) if model.parameters >= 50_000_000 else ""),
        (_tr("On disk"), size_in_words(model.size)),
        (_tr("Precision"), model.quantization),
        (_tr("Trained for"), tokens if model.context_length else ""),
        (_tr("Format"), "" if model.is_embedding else form),
        (_tr("Window"), window_of(model)),
        (_tr("Found in"), model.source),
        (_tr("File"), from_home(model.path)),
    ]
    return [(title, words) for title, words in parts if words]


def from_home(path: Path) -> str:
    """The path as people write it, with ~ for their own folder."""
    home = Path.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def window_of(model: ModelFile) -> str:
    """How it keeps what it has read, where that is out of the ordinary."""
    if model.is_recurrent:
        return _tr("recurrent: cannot take back what it has read")
    if model.sliding_window:
        return _tr("sliding, {tokens} tokens").format(tokens=rounded(model.sliding_window))
    return ""


def download_in_words(news: DownloadProgress) -> str:
    """How far it has come."""
    done, total = size_in_words(news.done), size_in_words(news.total) if news.total else "?"
    match news.stage:
        case DownloadStage.LOADING:
            speed = _tr("{speed} a second").format(speed=size_in_words(round(news.speed)))
            return " · ".join([_tr("{done} of {total}").format(done=done, total=total), *([speed] if news.speed else [])])
        case DownloadStage.CHECKING:
            return _tr("Checking that every byte is right…")
        case DownloadStage.DONE:
            return _tr("It is here.")
        case DownloadStage.STOPPED:
            return _tr("Stopped; what came so far is kept.")
        case DownloadStage.FAILED:
            return news.problem
        case _:
            return _tr("Waiting for the server…")
