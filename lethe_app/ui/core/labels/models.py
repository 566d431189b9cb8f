"""Display texts of a model: whether it fits, its download and its qualification."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.model import DownloadProgress, DownloadStage
from lethe_app.services.extraction.qualification import QualificationResult
from lethe_app.services.models.recommendation import READING_SPEED, DownloadAssessment, FitLevel, words_per_second
from lethe_app.ui.core.formatting import format_count, format_size


def _tr(text: str) -> str:
    return QCoreApplication.translate("Model", text)


def format_fit_level(level: FitLevel) -> str:
    """Return whether a model fits into memory, in one or two words for a column or a badge."""
    return {FitLevel.FITS: _tr("fits"), FitLevel.TIGHT: _tr("barely fits"), FitLevel.TOO_LARGE: _tr("too large")}[level]


def format_offer(assessment: DownloadAssessment) -> str:
    """Return size, licence, fit and expected speed of a model that can be downloaded, in one line."""
    size, *others = _offer_facts(assessment)
    return " · ".join((size, format_offer_fit(assessment.level), *others))


def format_offer_facts(assessment: DownloadAssessment) -> str:
    """Return the same without the fit, which is shown beside it."""
    return " · ".join(_offer_facts(assessment))


def _offer_facts(assessment: DownloadAssessment) -> list[str]:
    model = assessment.model
    licence = _tr("{licence} licence").format(licence=model.licence) if model.licence else ""
    size = _tr("{size} download").format(size=format_size(model.size))
    return [size, *(text for text in (format_speed(assessment.speed, uses_gpu=assessment.uses_gpu), licence) if text)]


def format_offer_fit(level: FitLevel) -> str:
    """Return whether a model that is not on this computer would fit into its memory."""
    return {
        FitLevel.FITS: _tr("fits this computer"),
        FitLevel.TIGHT: _tr("fits when other programs are closed"),
        FitLevel.TOO_LARGE: _tr("too large for this computer"),
    }[level]


def format_speed(tokens_per_second: float, *, uses_gpu: bool = False) -> str:
    """Return the estimated speed of a model in words; empty if it is not known."""
    if uses_gpu:
        return _tr("fast on your graphics card")
    if not tokens_per_second:
        return ""
    words = words_per_second(tokens_per_second)
    if words < READING_SPEED // 2:
        template = _tr("much slower than you read ({speed})")
    elif words < READING_SPEED:
        template = _tr("slower than you read ({speed})")
    elif words <= 1.5 * READING_SPEED:
        template = _tr("about as fast as you read ({speed})")
    else:
        template = _tr("faster than you read ({speed})")
    return template.format(speed=format_short_speed(tokens_per_second))


def format_short_speed(tokens_per_second: float) -> str:
    """Return the number of words per second; empty if it is not known."""
    if not tokens_per_second:
        return ""
    words = words_per_second(tokens_per_second)
    return format_count(words, _tr("{n} word/s"), _tr("{n} words/s")) if words else _tr("under 1 word/s")


def format_download(progress: DownloadProgress) -> str:
    """Return the progress of a download."""
    done, total = format_size(progress.done), format_size(progress.total) if progress.total else "?"
    match progress.stage:
        case DownloadStage.LOADING:
            speed = _tr("{speed}/s").format(speed=format_size(round(progress.speed)))
            return " · ".join([_tr("{done} of {total}").format(done=done, total=total), *([speed] if progress.speed else [])])
        case DownloadStage.CHECKING:
            return _tr("Verifying download…")
        case DownloadStage.DONE:
            return _tr("Downloaded.")
        case DownloadStage.STOPPED:
            return _tr("Stopped; the partial download is kept.")
        case DownloadStage.FAILED:
            return progress.problem
        case _:
            return _tr("Waiting for the server…")


def format_trust(verdict: QualificationResult) -> str:
    """Return whether the model writes facts and summaries according to its qualification."""
    if verdict.trusted_anyway:
        return _tr("Trusted by you: writes facts and summaries of your conversations.")
    if verdict.may_write_facts and verdict.may_write_summaries:
        return _tr("Writes facts and summaries of your conversations.")
    if verdict.may_write_summaries:
        return _tr("Writes summaries. Facts are extracted by rules, because the model invents some.")
    if verdict.may_write_facts:
        return _tr("Writes facts. Summaries are built from your own words.")
    return _tr("Does not write facts or summaries, because it invents things; they are built from your own words.")


def format_trust_briefly(verdict: QualificationResult) -> str:
    """Return the same in a few words, for a menu."""
    if verdict.trusted_anyway or (verdict.may_write_facts and verdict.may_write_summaries):
        return _tr("Writes facts and summaries")
    if verdict.may_write_summaries:
        return _tr("Writes summaries, but no facts")
    if verdict.may_write_facts:
        return _tr("Writes facts, but no summaries")
    return _tr("Writes neither facts nor summaries")
