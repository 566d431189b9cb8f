"""Display texts about models: qualification, metadata and memory estimate."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.model import ModelFile
from lethe_app.services.extraction.qualification import QualificationResult
from lethe_app.services.models.recommendation import FitLevel, MemoryEstimate
from lethe_app.ui.core.formatting import abbreviate_tokens, format_size
from lethe_app.ui.core.labels.models import format_speed, format_trust


def _tr(text: str) -> str:
    return QCoreApplication.translate("Model", text)


def format_qualification(verdict: QualificationResult | None) -> str:
    """Return what a chat model may write into memory, with its score in the quality test; None means not tested yet."""
    if verdict is None:
        return _tr(
            "Not tested yet. When Lethe is idle, a quality test decides whether the model may write memories and run "
            "background tasks."
        )
    percent = QLocale().toString(round(verdict.facts * 100))
    score_text = _tr("In the quality test, {percent} % of its facts were correct.").format(percent=percent)
    return f"{format_trust(verdict)} {score_text}"


def format_fit(fit: MemoryEstimate, speed: float = 0.0, *, is_detailed: bool = False) -> str:
    """Return the estimated speed if it is known, the memory a model needs, if `is_detailed` for what, what is free, and which
    context size would fit if the chosen one does not.
    """
    speed_text = format_speed(speed)
    estimate = _tr("Writes {speed}.").format(speed=speed_text) if speed_text else ""
    return f"{estimate} {_format_memory(fit, is_detailed=is_detailed)}".strip()


def format_prompt_format(source: str) -> str:
    """Return where the format of a model's prompts comes from; `source` is `RendererChoice.template_source`."""
    origin, _, name = source.partition(": ")
    templates = {
        "chosen": _tr("Prompt format: {name}, chosen by you."),
        "recognised": _tr("Prompt format: {name}, recognised by the model's special tokens."),
        "guessed": _tr("Prompt format: {name}, a guess, because the model has no chat template."),
    }
    return templates.get(origin, _tr("Prompt format: the model's own chat template.")).format(name=name)


def _format_memory(fit: MemoryEstimate, *, is_detailed: bool) -> str:
    template = _tr("Needs {needed} of memory; {free} is free.")
    if is_detailed:
        template = _tr(
            "Needs {needed}: {weights} for the model, {cache} for {context} tokens of context and {compute} for "
            "computation. {free} is free."
        )
    text = template.format(
        needed=format_size(fit.needed),
        weights=format_size(fit.weights),
        cache=format_size(fit.cache) if fit.cache else _tr("0 MB"),
        context=abbreviate_tokens(fit.context),
        compute=format_size(fit.compute),
        free=format_size(fit.free),
    )
    if fit.level is FitLevel.FITS:
        return text
    if fit.max_context and fit.max_context < fit.context:
        return f"{text} {_tr('A context of {longest} tokens would fit.').format(longest=abbreviate_tokens(fit.max_context))}"
    if fit.level is FitLevel.TIGHT:
        return f"{text} {_tr('Other programs may slow down.')}"
    return f"{text} {_tr('Even a short context does not fit; choose a smaller model.')}"


def list_metadata(model: ModelFile) -> list[tuple[str, str, bool]]:
    """Return titles and values of what is known of a model, and whether only experts may want to know it."""
    size = f"{model.parameters / 1e9:.1f}".rstrip("0").rstrip(".")
    tokens = _tr("{tokens} tokens").format(tokens=abbreviate_tokens(model.context_length))
    format_text = _tr("built-in chat template") if model.has_template else _tr("no built-in template; detected when loaded")
    rows = [
        (_tr("Type"), _tr("embedding (memory search)") if model.is_embedding else "", False),
        (_tr("Parameters"), _tr("{count} billion").format(count=size) if model.parameters >= 50_000_000 else "", False),
        (_tr("On disk"), format_size(model.size), False),
        (_tr("Source"), model.source, False),
        (_tr("File"), _breakable(abbreviate_home(model.path)), False),
        (_tr("Architecture"), model.architecture, True),
        (_tr("Quantisation"), model.quantization, True),
        (_tr("Context length"), tokens if model.context_length else "", True),
        (_tr("Format"), "" if model.is_embedding else format_text, True),
        (_tr("Attention"), format_attention(model), True),
    ]
    return [row for row in rows if row[1]]


def abbreviate_home(path: Path) -> str:
    """Return the path with the home folder abbreviated to ~."""
    home = Path.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def _breakable(path: str) -> str:
    """Return the path with a zero-width space after each separator, where its line may be broken."""
    return path.replace("/", "/\u200b").replace("\\", "\\\u200b")


def format_attention(model: ModelFile) -> str:
    """Return how the model stores its context if that is unusual: recurrent state or sliding window; otherwise an empty
    string.
    """
    if model.is_recurrent:
        return _tr("recurrent: no context shift")
    if model.sliding_window:
        return _tr("sliding window, {tokens} tokens").format(tokens=abbreviate_tokens(model.sliding_window))
    return ""
